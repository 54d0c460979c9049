"""A shard that has every label, relationship type and property that a statement may name."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from amos_graph.commands.archive import archive
from amos_graph.commands.artifacts import record_artifact
from amos_graph.commands.clients import register_client, revoke_client
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.deciding import decide_refusal
from amos_graph.commands.execution import Context
from amos_graph.commands.outcomes import record_outcome
from amos_graph.commands.ratification import found, ratify
from amos_graph.domain.dictionary import RELATIONS
from amos_graph.domain.scope import SCOPE_FIELDS
from amos_graph.domain.times import format_time
from amos_graph.encoding import open_encoder
from amos_graph.errors import AmosError
from amos_graph.queries.recall import recall
from amos_graph.queries.refusals import list_refusals
from amos_graph.upkeep.indexing import Indexer
from tests.samples import belief, source_event

_CONFIDENCE = {"level": "high", "score": 0.9, "basis": {"notes": "n"}}
_POLICY = {"allowed_identities": ["svc:test"]}


def populate(context: Context) -> None:
    """Fill the context's shard through the commands, and nothing else."""
    narrow = {name: f"{name}:1" for name in SCOPE_FIELDS[2:]}
    common = {"evidence_refs": ["evd_turn1"], "confidence": _CONFIDENCE}
    events = [source_event(), source_event("evd_far", payload={"text": "x" * 20_000}, access_policy=_POLICY)]
    interval = {"from": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}
    atoms = [
        belief(id="b1", **common, payload={"validity_interval": interval, "qualifiers": {"a": 1}}),
        belief(id="b2", **common, payload={"object": "two"}, decay_policy={"k": 1}, index_refs={"text": "t"}),
        belief(id="b3", **common, payload={"object": "three"}, supersedes=["b2"]),
        belief(id="b4", **common, payload={"object": "four"}, observed_at="2026-01-01T00:00:00Z"),
        # They share nothing but an edge, so that an edge is what leads from one to the other.
        belief(id="near", **common, payload={"subject": "ent:thing:near", "object": "lonely"}),
        belief(
            id="far",
            **common,
            payload={"subject": "ent:thing:far", "object": "remote", "relation": "rel:likes"},
        ),
        {"id": "e1", "type": "episode", "payload": {"task": "deploy", "outcome": "done"}, **common},
        *(_said(n, common) for n in (1, 2)),
    ]
    relations = sorted(entry.id for entry in RELATIONS.values() if entry.kind == "edge")
    commit(
        context,
        {
            "events": events,
            "atoms": atoms,
            "edges": [
                *(_edge("b1", "b4", relation) for relation in relations if relation != "rel:supersedes"),
                _edge("near", "far", "rel:supports"),
            ],
            "entities": [
                {"id": "ent:person:ada", "aliases": ["Countess"], "external_refs": ["https://example.org"]},
                {"id": "ent:person:ada2", "merged_into": "ent:person:ada"},
                {"id": "ent:person:two", "split_into": ["ent:person:ada"]},
            ],
            "relations": [{"id": "rel:outranks", "kind": "edge", "description": "d", "inverse": "rel:under"}],
            "enums": [{"id": "enum:mood:calm", "description": "d"}],
        },
    )
    narrowed = replace(context, scope=context.identity.within(narrow))
    commit(
        narrowed,
        {
            "events": [source_event("evd_narrow")],
            "atoms": [belief(evidence_refs=["evd_narrow"], access_policy=_POLICY)],
        },
    )
    _narrate(narrowed)
    _refuse(narrowed)
    _judge(narrowed)
    propose(context, {"candidates": [belief(id="p1", payload={"object": "maybe"})]})
    commit(
        context,
        {
            "atoms": [belief(id="gone", payload={"object": "gone"})],
            "edges": [_edge("gone", "b1", "rel:supports")],
        },
    )
    archive(context, {"atom_id": "gone", "reason": "for the law"})
    _tell(replace(context, scope=context.identity.within({"task_id": "t1"})))
    for name in ("cli_one", "cli_two"):
        request = {
            "id": name,
            "service_id": "svc:one",
            "capabilities": ["memory.read"],
            "expires_at": format_time(datetime.now(UTC) + timedelta(days=1)),
        }
        register_client(context, request)
    revoke_client(context, "cli_two")
    Indexer(context.graph, open_encoder("hashed")).catch_up(context.scope.shard, count=True)


def _narrate(context: Context) -> None:
    """What an agent can do and did, and a story of it with evidence against it."""
    agent = "ent:agent:planner"
    payload = {
        "subject_agent": agent,
        "capability": "plans",
        "capability_type": "planning",
        "availability": "available",
    }
    done = {"subject_agent": agent, "action_type": "plan a week", "success_status": "succeeded"}
    common = {"evidence_refs": ["evd_narrow"], "confidence": _CONFIDENCE}
    atoms = [
        {"id": "can", "type": "capability", "payload": payload, **common},
        {"id": "did", "type": "action_outcome", "payload": done, **common},
    ]
    commit(context, {"atoms": atoms})
    story = {
        "id": "art_story",
        "subject_agent": agent,
        "access_policy": _POLICY,
        "narrative": "I plan.",
        "narrative_scope": "all that I do",
        "source_capability_refs": ["can"],
        "source_counterevidence_refs": ["evd_narrow"],
        "balance_report": {"capabilities": 1},
    }
    record_artifact(context, {"artifact": story})


def _judge(context: Context) -> None:
    """An agent that begins with a covenant and adopts a belief by its own judgment."""
    agent = str(context.scope.agent_id)
    judge = replace(context, identity=replace(context.identity, scope=context.scope))
    grounds = {"evidence_refs": ["evd_narrow"], "confidence": _CONFIDENCE}
    rule: dict[str, Any] = {
        "name": "calm",
        "constitutional_tier": "founding",
        "precedence": 1,
        "interpretive_rules": ["Breathe."],
        "amendability": "amendable",
        "amendment_requirements": {},
        "protected_fields": [],
        "effective_from": "2026-01-01T00:00:00Z",
    }
    proposals: list[dict[str, Any]] = [
        {"id": "rule", "type": "covenant", "payload": rule, **grounds},
        {**belief(id="judged", payload={"object": "judged"}), **grounds},
    ]
    propose(judge, {"candidates": proposals})
    found(judge, {"record_refs": ["rule"]})
    judgment = {
        "subject_ref": "judged",
        "claim_kind": "belief",
        "outcome": "adopted",
        "reasons_for_refs": [],
        "reasons_against_refs": [],
        "covenant_refs": ["rule"],
        "unresolved_objections": [],
        "adjudication_scope": {"domain": "all"},
        **{name: {"status": "settled"} for name in ("epistemic_standing", "normative_standing")},
        "operational_authority": {"status": "operative"},
        "constitutional_standing": {"status": "none"},
        "risk_class": "semantic",
        "dissent_refs": [],
        "review_triggers": [],
        "ratifier": {"identity_ref": agent, "mode": "self_ratification"},
        "reconstructed_at": "2026-01-01T00:00:00Z",
        "diachronic": {
            "independent_reconstruction": True,
            "original_reasoning_shown": False,
            "new_experience_refs": ["evd_narrow"],
            "disposition": "initial",
        },
    }
    commit(judge, {"atoms": [{"id": "judgment", "type": "adjudication", "payload": judgment, **grounds}]})
    ratify(judge, {"proposal_ref": "judged", "adjudication_ref": "judgment", "expected_version": 1})


def _refuse(context: Context) -> None:
    """A change that waits for a review, and that somebody declines."""
    agent = replace(context.identity, client_id="cli_asker", scope=context.scope)
    policy = {**_POLICY, "mutation_policy": "review"}
    atom = belief(id="kept", evidence_refs=["evd_narrow"], access_policy=policy, payload={"object": "kept"})
    commit(context, {"atoms": [atom]})
    with suppress(AmosError):
        commit(replace(context, identity=agent), {"atoms": [{**atom, "version": 1, "salience": 0.9}]})
    (waiting,) = list_refusals(context, {})["items"]
    decide_refusal(context, {"refusal_id": waiting["id"], "decision": "decline"})


def _tell(context: Context) -> None:
    """A packet with a memory to which an edge led, and what became of it."""
    found = recall(context, {"cues": ["lonely"], "evaluated_at": "2026-01-15T00:00:00Z"})
    led = [item["atom_ref"] for item in found["items"] if item["activation_path"]]
    told = {"outcome_labels": ["failed"], "unhelpful_atom_refs": led, "missing_capability_cues": ["c"]}
    record_outcome(context, {"packet_id": found["packet_id"], **told})


def _edge(source: str, target: str, relation: str) -> dict[str, Any]:
    return {
        "source_ref": source,
        "target_ref": target,
        "relation": relation,
        "evidence_refs": ["evd_turn1"],
        "confidence": _CONFIDENCE,
        "access_policy": _POLICY,
        "valid_from": "2026-01-01T00:00:00Z",
    }


def _said(sequence: int, common: dict[str, Any]) -> dict[str, Any]:
    payload = {"conversation_id": "c", "sequence": sequence, "actor": "user", "role": "user", "content": "hi"}
    return {"id": f"said{sequence}", "type": "interaction_event", **common, "payload": payload}
