"""Whether a caller may change what stands there already: every new version of a record is judged.

What refuses is the record's own policy, the caller's trust, or the lack of a review. It is decided
under the shard's lock, on the policy that the record has by then (T32).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.scope import Identity, Scope
from amos_graph.domain.state import Current
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.access import Question, may_cite_body, policy_of, rule
from amos_graph.policy.guards import refuse_binding
from amos_graph.policy.risk import Risk, risk_of_change, risk_of_supersession
from amos_graph.policy.submission import Decision
from amos_graph.policy.succession import SUPERSEDES

#: Rule that refuses → what the caller is told. No more: whoever meets the record sees its policy.
REFUSALS: Final[Mapping[str, str]] = {
    "explicit_denial": "its access policy denies this client",
    "privacy_constraint": "it is to be forgotten",
    "legal_hold": "it is held",
    "specific_policy": "its access policy lets others change it",
    "high_risk": "a change of high risk needs more trust than this token has",
    "mutation_apart": "this token may read it and not change it",
    "out_of_scope": "it lies outside of this request's scope",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One record that is to change, where the request asks for it, and how much that may spoil."""

    at: str
    before: Current
    risk: Risk


@dataclass(frozen=True, slots=True)
class Caller:
    """Who changes, within which scope, by which capability, and if somebody else approved it."""

    identity: Identity
    asked: Scope
    capability: str
    trust_min: int
    approved: bool = False


def check_changes(caller: Caller, changes: Iterable[Change]) -> None:
    """Raise for the first change that the caller may not make.

    `review_required` where an approval by somebody else would allow it, else `authorization_denied`;
    the details say which rule refuses, of which record, at which risk.
    """
    for change in changes:
        if change.before.body.get("lifecycle_state") != "proposed":
            refuse_binding(change.before, change.at)
        scope = change.before.body.get("scope")
        if scope is None:
            continue
        policy = policy_of(change.before.body)
        ruling = rule(
            Question(
                caller.identity,
                caller.asked,
                Scope.model_validate(scope),
                policy,
                act="change",
                capability=caller.capability,
                risk=change.risk,
                trust_min=caller.trust_min,
                approved=caller.approved,
            )
        )
        if ruling.allowed:
            continue
        code = "review_required" if ruling.reviewable else "authorization_denied"
        reason = "its access policy wants a review" if ruling.reviewable else REFUSALS[ruling.rule or ""]
        message = f"{change.before.ref} may not be changed: {reason}"
        raise AmosError(
            code,
            message,
            [Fault(change.at, message)],
            {
                "target_ref": change.before.ref,
                "rule": ruling.rule,
                "risk": change.risk,
                "audit_level": policy.audit_level if policy else "standard",
            },
        )


def check_uncited(caller: Caller, decision: Decision) -> None:
    """Raise `evidence_denied` where a new version drops evidence that the caller may not even read."""
    for pending in decision.atoms.values():
        before = pending.before
        if before is None or set(before.body["evidence_refs"]) <= set(pending.body["evidence_refs"]):
            continue
        if not may_cite_body(caller.identity, caller.asked, before.body):
            at = f"{pending.at}.evidence_refs"
            message = "what it rests on is withheld from this token, which may add and take nothing away"
            raise AmosError("evidence_denied", f"{at}: {message}", [Fault(at, message)])


def changes_of(decision: Decision, superseded: Mapping[str, Current]) -> Iterator[Change]:
    """What a commit changes of what stands there: next versions, and atoms that it puts others in place of.

    `superseded` are the records that the caller may see, by ref.
    """
    for pending in decision.atoms.values():
        if pending.changed and pending.before is not None:
            yield Change(pending.at, pending.before, risk_of_change(pending.before.body, pending.body))
    for pending in decision.edges.values():
        if not pending.changed:
            continue
        before, body = pending.before, pending.body
        if before is not None:
            yield Change(pending.at, before, "low")
        active = body["lifecycle_state"] == "active"
        was_active = before is not None and before.body["lifecycle_state"] == "active"
        target = superseded.get(body["target_ref"])
        if body["relation"] == SUPERSEDES and active != was_active and target is not None:
            yield Change(
                pending.at, target, risk_of_supersession(target.body, _body(decision, superseded, body))
            )


def _body(
    decision: Decision, visible: Mapping[str, Current], edge: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    pending = decision.atoms.get(edge["source_ref"])
    stored = visible.get(edge["source_ref"])
    return pending.body if pending else stored.body if stored else None
