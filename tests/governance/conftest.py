"""An identity with a constitution."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.commands.ratification import found
from amos_graph.domain.scope import Identity, Scope
from tests.clock import Clock
from tests.conftest import ContextOf
from tests.samples import belief, source_event

Json = dict[str, Any]
AGENT: Final = "planner"
GROUNDS: Final[Json] = {"evidence_refs": ["evd_turn1"], "confidence": {"level": "high", "score": 0.9}}


@pytest.fixture
def planner(context_of: ContextOf, caller: Identity, clock: Clock) -> Context:
    """The identity, with every capability and some evidence."""
    scope = Scope.model_validate({**caller.scope.record(), "agent_id": AGENT})
    made = context_of(replace(caller, client_id="cli_planner", scope=scope))
    commit(made, {"events": [source_event(f"evd_turn{n}") for n in range(1, 6)]})
    return made


def covenant(ref: str = "covenant:1", **payload: Any) -> Json:
    """A rule that an identity proposes to itself."""
    said: Json = {
        "name": "plain_reports",
        "rule": "What failed is reported as failed.",
        "constitutional_tier": "founding",
        "precedence": 10,
        "interpretive_rules": ["Every incident is disclosed."],
        "amendability": "amendable",
        "amendment_requirements": {},
        "protected_fields": ["name"],
        "effective_from": "2026-01-01T00:00:00Z",
        **payload,
    }
    return {"id": ref, "type": "covenant", "payload": said, **GROUNDS}


def adjudication(ref: str, subject: str, **changes: Any) -> Json:
    """A judgment of the planner that adopts an ordinary proposal."""
    payload = {
        "subject_ref": subject,
        "claim_kind": "belief",
        "outcome": "adopted",
        "reasons_for_refs": ["evd_turn1"],
        "reasons_against_refs": [],
        "covenant_refs": ["covenant:1"],
        "unresolved_objections": [],
        "adjudication_scope": {"domain": "planning"},
        "epistemic_standing": {"status": "settled"},
        "normative_standing": {"status": "settled"},
        "operational_authority": {"status": "operative"},
        "constitutional_standing": {"status": "none"},
        "risk_class": "semantic",
        "dissent_refs": [],
        "review_triggers": ["when it fails"],
        "ratifier": {"identity_ref": f"ent:agent:{AGENT}", "mode": "self_ratification"},
        "reconstructed_at": "2026-01-02T00:00:00Z",
        "diachronic": {
            "independent_reconstruction": True,
            "original_reasoning_shown": False,
            "new_experience_refs": ["evd_turn1"],
            "disposition": "initial",
        },
        **changes,
    }
    return {"id": ref, "type": "adjudication", "payload": payload, **GROUNDS}


CRITIC: Final = {"status": "available", "authority": "advisory_only", "critic_ref": "svc:critic"}


def again(n: int, **changes: Any) -> Json:
    """A later, independent reconstruction on evidence of its own."""
    return {
        "independent_reconstruction": True,
        "original_reasoning_shown": False,
        "new_experience_refs": [f"evd_turn{n}"],
        "disposition": "confirmed",
        **changes,
    }


@pytest.fixture
def founded(planner: Context) -> Context:
    """The identity after its genesis, with one covenant in force."""
    propose(planner, {"candidates": [covenant()]})
    found(planner, {"record_refs": ["covenant:1"]})
    return planner


@pytest.fixture
def proposed(founded: Context) -> Context:
    """A belief that the identity proposes to itself."""
    propose(founded, {"candidates": [belief(id="b1")]})
    return founded


def judged(context: Context, ref: str = "adj:1", subject: str = "b1", **changes: Any) -> Json:
    """Store a judgment."""
    receipt: Json = commit(context, {"atoms": [adjudication(ref, subject, **changes)]}).record
    return receipt
