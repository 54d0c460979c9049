"""Self-ratification as a table of checks: the identity draws the conclusion, the store checks its form.

No capability, maintenance job, model or approval takes the place of one of them.
Source: spec, "constitutional self-ratification".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.atoms.governance import CONSTITUTIONAL
from amos_graph.domain.scope import Identity, Scope
from amos_graph.domain.state import Current
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.conflict import version_conflict
from amos_graph.policy.diachronic import MINIMA, POSITIVE, Bar, Progress
from amos_graph.policy.difference import difference

#: Types that are guidance: what an adjudication may rest on.
GUIDANCE: Final = ("covenant", "primal_guidance")
#: Outcomes that leave a proposal proposed, and those that put it away.
OPEN: Final = frozenset({"deferred", "contested"})
TERMINAL: Final = frozenset({"rejected", "revised", "withdrawn"})

_CLASS_OF: Final[Mapping[str, str]] = {
    "procedure": "procedure",
    "preference": "preference",
    "goal": "goal",
    "commitment": "goal",
    "self_model": "self_model",
    "self_assessment": "self_model",
    "capability": "self_model",
    "limitation": "self_model",
    "value": "identity",
    "policy": "governance",
    "covenant": "covenant",
    "primal_guidance": "primal_guidance",
    "episode": "project",
    "working_state": "project",
    "discourse_thread": "project",
}
#: Paths of a constitutional record by which it says how it may be changed.
_META: Final = ("/amendment_requirements", "/protected_fields", "/amendability")


@dataclass(frozen=True, slots=True)
class Judged:
    """A proposal before its ratifier: everything that a check may look at."""

    identity: Identity
    capability: str
    proposal: Current
    adjudication: Current
    #: What the adjudication cites, as far as the caller sees it.
    cited: Mapping[str, Current]
    predecessor: Current | None
    progress: Progress
    now: str

    @property
    def judgment(self) -> Mapping[str, Any]:
        return self.adjudication.body["payload"]


def identity_refs(identity: Identity) -> tuple[str, ...]:
    """The names of the durable identity that a token is bound to; without an agent there is none."""
    agent = identity.scope.agent_id
    return (agent, f"ent:agent:{agent}") if agent else ()


def predecessor_ref(proposal: Mapping[str, Any]) -> str | None:
    """The record that a proposal follows: named in a constitutional payload, or superseded by it."""
    named: str | None = proposal["payload"].get("predecessor_ref")
    return named or next(iter(proposal.get("supersedes", ())), None)


def derived_diff(proposal: Mapping[str, Any], predecessor: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What a proposal changes of the record that it follows; nothing where it follows none."""
    return difference(predecessor["payload"], proposal["payload"]) if predecessor else []


def derived_risk(proposal: Mapping[str, Any], predecessor: Mapping[str, Any] | None) -> str:
    """The risk class of a proposal, from its type and from what it changes."""
    kind = proposal["type"]
    if kind not in GUIDANCE or predecessor is None:
        return _CLASS_OF.get(kind, "semantic")
    paths = [entry["path"] for entry in derived_diff(proposal, predecessor)]
    if any(path.startswith(_META) for path in paths):
        return "meta_constitutional"
    protected = tuple(f"/{name}" for name in predecessor["payload"]["protected_fields"])
    if protected and any(path.startswith(protected) for path in paths):
        return "constitutional_critical"
    return _CLASS_OF[kind]


def bar_of(risk: str, judgment: Mapping[str, Any], current: Mapping[str, Any] | None = None) -> Bar:
    """The threshold of a risk class, raised by the adjudication and by what the record in force demands."""
    bar = MINIMA[risk].raised(judgment.get("ratification_threshold"))
    if current is None:
        return bar
    return bar.raised(current["payload"]["amendment_requirements"].get("ratification_threshold"))


def _no_guidance(case: Judged) -> str | None:
    scope = Scope.model_validate(case.proposal.body["scope"])
    for ref in case.judgment["covenant_refs"]:
        found = case.cited.get(ref)
        if found is None:
            return f"{ref} is no such record"
        body = found.body
        if body["type"] not in GUIDANCE or body["lifecycle_state"] != "active" or found.superseded:
            return f"{ref} is no guidance in force"
        if body["payload"]["effective_from"] > case.now:
            return f"{ref} is not in force yet"
        if not scope.covers(Scope.model_validate(body["scope"])):
            return f"{ref} holds in another scope"
    return None


def _critic(case: Judged) -> str | None:
    critic: Mapping[str, Any] = case.judgment.get("advisory_critic") or {}
    heard = critic.get("status") == "available" and critic.get("authority") == "advisory_only"
    wanted = derived_risk(case.proposal.body, _body(case.predecessor)) in CONSTITUTIONAL
    return "a constitutional proposal hears a critic, who advises" if wanted and not heard else None


def _body(record: Current | None) -> Mapping[str, Any] | None:
    return record.body if record else None


Check = Callable[[Judged], str | None]

#: Name → what is wrong, if anything. These hold for ratifying and for resolving alike.
COMMON: Final[Mapping[str, Check]] = {
    "capability": lambda case: (
        None if case.identity.may(case.capability) else f"this token lacks the capability {case.capability}"
    ),
    "ratifier": lambda case: (
        None
        if case.judgment["ratifier"]["identity_ref"] in identity_refs(case.identity)
        else "the ratifier is not the identity of this token"
    ),
    "lifecycle": lambda case: (
        None
        if case.proposal.body["lifecycle_state"] == "proposed"
        else f"it is {case.proposal.body['lifecycle_state']}, and no proposal"
    ),
    "adjudication": lambda case: (
        None
        if case.adjudication.body["type"] == "adjudication"
        and case.adjudication.body["lifecycle_state"] == "active"
        else "it is no adjudication in force"
    ),
    "subject": lambda case: (
        None
        if case.judgment["subject_ref"] == case.proposal.ref
        else "the adjudication judges another subject"
    ),
    "scope": lambda case: (
        None
        if case.adjudication.body["scope"] == case.proposal.body["scope"]
        else "proposal and adjudication have different scopes"
    ),
    "guidance": _no_guidance,
    "risk_class": lambda case: (
        None
        if case.judgment["risk_class"] == derived_risk(case.proposal.body, _body(case.predecessor))
        else f"the risk class is {derived_risk(case.proposal.body, _body(case.predecessor))}"
    ),
    "predecessor_diff": lambda case: (
        None
        if (case.judgment.get("predecessor_diff") or [])
        == derived_diff(case.proposal.body, _body(case.predecessor))
        else "the difference from the predecessor is another one"
    ),
}
#: And these for ratifying.
ADOPTING: Final[Mapping[str, Check]] = {
    "outcome": lambda case: (
        None if case.judgment["outcome"] in POSITIVE else f"the outcome is {case.judgment['outcome']}"
    ),
    "critic": _critic,
    "diachronic": lambda case: (
        None
        if case.progress.satisfied
        else (
            f"{len(case.progress.counted)} of {case.progress.bar.confirmations} reconstructions count so far"
        )
    ),
}
#: Check → where its fault lies in the request; the adjudication, if it is not named here.
_PLACES: Final[Mapping[str, str]] = {"capability": "", "lifecycle": "proposal_ref"}


def denied(at: str, message: str) -> AmosError:
    """The refusal of a guarded transition, which the journal keeps."""
    return AmosError("authorization_denied", message, [Fault(at, message)], {"risk": "high"})


def check_versions(asked: Sequence[tuple[Current, int, str]]) -> None:
    """Raise `expected_version_conflict` for the first record that is not as its judge knew it."""
    for record, expected, at in asked:
        if record.version != expected:
            conflict = version_conflict(at, record.ref, expected, record.version, record.event_id)
            conflict.details["risk"] = "high"
            raise conflict


def failures(case: Judged, checks: Mapping[str, Check]) -> dict[str, str]:
    """Every check that fails, with what is wrong, in the order of the table."""
    return {name: wrong for name, check in checks.items() if (wrong := check(case)) is not None}


def demand(case: Judged, checks: Mapping[str, Check], subject: str = "proposal_ref") -> None:
    """Raise `authorization_denied`, with a fault for each check that fails."""
    wrong = failures(case, checks)
    if wrong:
        places = {**_PLACES, "lifecycle": subject}
        faults = [
            Fault(places.get(name, "adjudication_ref"), f"{name}: {text}") for name, text in wrong.items()
        ]
        raise AmosError(
            "authorization_denied", faults[0].message, faults, {"failed": list(wrong), "risk": "high"}
        )


def state_after(judgment: Mapping[str, Any]) -> str:
    """What becomes of a proposal that is not adopted. Raises `authorization_denied` for one that is."""
    outcome = judgment["outcome"]
    if outcome in POSITIVE:
        message = f"outcome: {outcome} adopts; ratify it"
        raise AmosError(
            "authorization_denied", message, [Fault("adjudication_ref", message)], {"risk": "high"}
        )
    return "proposed" if outcome in OPEN else "archived"
