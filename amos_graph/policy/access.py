"""Who may do what with a record: one table of rules over identity, scope and policy.

Source: spec, "Authorization precedence"; design §5, "Scope rule". Who the caller is, the token alone
says: a request may narrow its scope, never borrow a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from amos_graph.domain.scope import AccessPolicy, Identity, Scope
from amos_graph.policy.risk import Risk

Act = Literal["read", "read_evidence", "change", "erase"]


@dataclass(frozen=True, slots=True)
class Question:
    """May this caller do this with a record of this scope and policy?"""

    identity: Identity
    #: The scope within which the caller asks.
    asked: Scope
    scope: Scope
    policy: AccessPolicy | None
    act: Act = "read"
    #: The target of a packet, if there is one.
    processor: str | None = None
    #: What the operation needs, and how much it may spoil.
    capability: str = "memory.read"
    risk: Risk = "low"
    #: The trust that a change of high risk needs.
    trust_min: int = 1
    #: True if somebody other than the caller approved this very change.
    approved: bool = False
    #: True if its user, or privacy, demands that the record goes.
    unwanted: bool = False
    #: True if its retention class would keep it, and if a legal hold does.
    retained: bool = False
    held: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """The answer, with the name of the rule that refuses."""

    allowed: bool
    rule: str | None = None
    #: True if an approval by somebody else would allow it.
    reviewable: bool = False


def _denied_by_name(question: Question) -> bool:
    policy = question.policy
    return policy is not None and bool(
        _names(question.identity) & set(policy.denied_identities)
        or question.identity.capabilities & set(policy.denied_capabilities)
    )


def _privacy(question: Question) -> bool:
    """What is unwanted is not read, and no ordinary retention keeps it; what is wanted is retained."""
    if question.act == "erase":
        return question.retained and not question.unwanted
    return question.unwanted


def _legal_hold(question: Question) -> bool:
    return question.act == "erase" and question.held


def _specific(question: Question) -> bool:
    """The record's own policy is more specific than its scope: its lists and its owner decide."""
    policy = question.policy
    if policy is None:
        return False
    identity = question.identity
    if policy.allowed_identities and not _names(identity) & set(policy.allowed_identities):
        return True
    if policy.allowed_capabilities and not identity.capabilities & set(policy.allowed_capabilities):
        return True
    if question.act in ("change", "erase"):
        return not _may_change(question, policy)
    seen_by = set(policy.processor_visibility)
    return bool(
        seen_by
        and "all" not in seen_by
        and question.processor is not None
        and question.processor not in seen_by
    )


def _may_change(question: Question, policy: AccessPolicy) -> bool:
    match policy.mutation_policy:
        case "capability":
            return True
        case "owner":
            return owns(question.identity, policy)
        case "stewards":
            return question.identity.may("memory.steward")
        case "review":
            return question.approved
        case "nobody":
            # Not even an owner: whoever governs the atom gives it another policy first.
            return question.capability == "atom.govern"


def _high_risk(question: Question) -> bool:
    return (
        question.act in ("change", "erase")
        and question.risk == "high"
        and question.identity.trust_level < question.trust_min
    )


def _change_is_no_read(question: Question) -> bool:
    return question.act in ("change", "erase") and not question.identity.may(question.capability)


def _evidence_apart(question: Question) -> bool:
    policy = question.policy
    if question.act != "read_evidence" or policy is None:
        return False
    match policy.evidence_visibility:
        case "readers":
            return False
        case "owner":
            return not owns(question.identity, policy)
        case "stewards":
            return not question.identity.may("memory.steward")
        case "nobody":
            return True


#: The spec's seven rules in their order: the first that refuses is the one that is named.
RULES: Final[Mapping[str, Callable[[Question], bool]]] = {
    "explicit_denial": _denied_by_name,
    "privacy_constraint": _privacy,
    "legal_hold": _legal_hold,
    "specific_policy": _specific,
    "high_risk": _high_risk,
    "mutation_apart": _change_is_no_read,
    "evidence_apart": _evidence_apart,
}
#: Outside of its scope a record is not there at all, whatever its policy says.
OUT_OF_SCOPE: Final = "out_of_scope"


def rule(question: Question) -> Ruling:
    """Whether the caller may, and which rule refuses."""
    if not question.asked.covers(question.scope):
        return Ruling(False, OUT_OF_SCOPE)
    for name, refuses in RULES.items():
        if refuses(question):
            helps = not question.approved and question.act in ("change", "erase")
            return Ruling(False, name, helps and rule(replace(question, approved=True)).allowed)
    return Ruling(True)


def owns(identity: Identity, policy: AccessPolicy) -> bool:
    """True if the token is bound to all that the policy's owner scope sets."""
    owner = policy.owner_scope.record() if policy.owner_scope else {}
    bound = identity.scope.record()
    return bool(owner) and all(bound.get(name) == value for name, value in owner.items())


def _names(identity: Identity) -> set[str]:
    bound = identity.scope
    return {identity.client_id, identity.service_id, *filter(None, (bound.agent_id, bound.user_id))}


def may_read(
    identity: Identity, asked: Scope, scope: Scope, policy: AccessPolicy | None, processor: str | None = None
) -> bool:
    """True if a caller who asks within `asked` meets a record of this scope and policy."""
    if policy is None:
        return asked.covers(scope)
    return rule(Question(identity, asked, scope, policy, processor=processor)).allowed


def may_read_body(
    identity: Identity, asked: Scope, body: Mapping[str, Any], processor: str | None = None
) -> bool:
    """`may_read` for a stored body; dictionaries and entities without a scope belong to their whole shard."""
    scope = body.get("scope")
    return scope is None or may_read(identity, asked, Scope.model_validate(scope), policy_of(body), processor)


def may_cite(identity: Identity, asked: Scope, scope: Scope, policy: AccessPolicy | None) -> bool:
    """True if who may read a record may know what it rests on; each evidence has its own policy besides."""
    if policy is None or policy.evidence_visibility == "readers":
        return True
    return rule(Question(identity, asked, scope, policy, act="read_evidence")).allowed


def may_cite_body(identity: Identity, asked: Scope, body: Mapping[str, Any]) -> bool:
    """`may_cite` for the stored body of an atom."""
    return may_cite(identity, asked, Scope.model_validate(body["scope"]), policy_of(body))


def policy_of(body: Mapping[str, Any]) -> AccessPolicy | None:
    """The access policy of a stored body."""
    policy = body.get("access_policy")
    return AccessPolicy.model_validate(policy) if policy else None
