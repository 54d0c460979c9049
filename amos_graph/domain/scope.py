"""Scope, access policy and the identity that a token stands for (spec, "Canonical scope tuple")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, cast

from pydantic import Field, model_validator

from amos_graph.domain.canonical import digest
from amos_graph.domain.ids import Identifier, ScopePart
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.value_kinds import fault
from amos_graph.errors import AmosError, Fault

SCOPE_FIELDS: Final = (
    "tenant_id",
    "workspace_id",
    "project_id",
    "user_id",
    "agent_id",
    "session_id",
    "task_id",
    "tool_environment_id",
)

#: Spellings that the spec's own examples use for the fields of its table.
SCOPE_SPELLINGS: Final = {name.removesuffix("_id"): name for name in SCOPE_FIELDS}


class Scope(Strict):
    """Where a record belongs; each field that is set narrows who meets it."""

    tenant_id: ScopePart
    workspace_id: ScopePart
    project_id: Identifier | None = None
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    session_id: Identifier | None = None
    task_id: Identifier | None = None
    tool_environment_id: Identifier | None = None

    @property
    def shard(self) -> str:
        """The unit that has one journal and one writer lock: tenant/workspace."""
        return f"{self.tenant_id}/{self.workspace_id}"

    def covers(self, other: Scope) -> bool:
        """True if every field that `other` sets equals this scope's: the scope rule of design §5."""
        return all(
            value is None or value == getattr(self, name)
            for name, value in ((name, getattr(other, name)) for name in SCOPE_FIELDS)
        )


class AskedScope(Strict):
    """The scope of a request: it can only narrow what the token reaches."""

    tenant_id: Identifier | None = None
    workspace_id: Identifier | None = None
    project_id: Identifier | None = None
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    session_id: Identifier | None = None
    task_id: Identifier | None = None
    tool_environment_id: Identifier | None = None


def in_shard(stated: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """The scope of a record with the tenant and workspace of its request where it leaves them out."""
    known = {SCOPE_SPELLINGS.get(name, name) for name in stated}
    shard = {"tenant_id": scope.tenant_id, "workspace_id": scope.workspace_id}
    return {**{name: part for name, part in shard.items() if name not in known}, **stated}


def with_spelled_scope(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its `scope` as the spec's table spells it, for the validator of a model.

    Raises a fault at `scope.project` when a field is given in both spellings.
    """
    scope = record.get("scope")
    if not isinstance(scope, Mapping):
        return dict(record)
    spelled: dict[str, Any] = {}
    for name, part in cast("Mapping[str, Any]", scope).items():
        known = SCOPE_SPELLINGS.get(name, name)
        if known in spelled:
            raise fault(f"also given as {known}", "scope", known.removesuffix("_id"))
        spelled[known] = part
    return {**record, "scope": spelled}


#: Fields of the spec's AccessPolicy that nothing enforces yet; taking them would promise what is not kept.
NOT_ENFORCED: Final = ("retention_policy_ref",)

PROCESSORS: Final = frozenset(
    {"all", "reasoner", "planner", "executor", "critic", "steward", "tool_worker", "user_interface", "self"}
)

#: Who reads the evidence of a record that they may read.
EvidenceVisibility = Literal["readers", "owner", "stewards", "nobody"]
#: Who may change a record, beside the capability that the operation needs.
MutationPolicy = Literal["capability", "owner", "stewards", "review", "nobody"]
#: Which refusals of changes the journal keeps: those of high risk, or all.
AuditLevel = Literal["standard", "full"]


class AccessPolicy(Strict):
    """Who may read, cite and change a record beyond the scope rule; the explicit denial wins."""

    #: Whose the record is: a token that is bound to all of this.
    owner_scope: AskedScope | None = None
    allowed_identities: list[Identifier] = Field(default_factory=list[Identifier], max_length=100)
    allowed_capabilities: list[Identifier] = Field(default_factory=list[Identifier], max_length=100)
    denied_identities: list[Identifier] = Field(default_factory=list[Identifier], max_length=100)
    denied_capabilities: list[Identifier] = Field(default_factory=list[Identifier], max_length=100)
    processor_visibility: list[Identifier] = Field(default_factory=list[Identifier], max_length=20)
    evidence_visibility: EvidenceVisibility = "readers"
    mutation_policy: MutationPolicy = "capability"
    audit_level: AuditLevel = "standard"

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_is_not_enforced(cls, value: Any) -> Any:
        if isinstance(value, dict):
            for name in NOT_ENFORCED:
                if name in value:
                    raise ValueError(f"{name} is not enforced yet, so a policy may not rely on it")
        return value  # pyright: ignore[reportUnknownVariableType]

    @model_validator(mode="after")
    def _names_its_owner(self) -> AccessPolicy:
        owner = self.owner_scope
        if "owner" in (self.evidence_visibility, self.mutation_policy) and not (
            owner and (owner.user_id or owner.agent_id)
        ):
            raise fault("an owner is a user or an agent, and is named here", "owner_scope")
        return self

    def record(self) -> dict[str, Any]:
        """The policy with sorted lists and without what goes without saying: equals are equal text."""
        return {
            name: sorted(set(cast("list[str]", entry))) if isinstance(entry, list) else entry
            for name, entry in super().record().items()
            if entry and entry != _UNSAID.get(name)
        }


_UNSAID: Final[Mapping[str, str]] = {
    "evidence_visibility": "readers",
    "mutation_policy": "capability",
    "audit_level": "standard",
}


def access_class(scope: Scope, policy: AccessPolicy | None) -> str:
    """The class of records that share one answer to "who may see this?" (design §5)."""
    if policy is None:
        # Frozen models are hashable, which pydantic's types do not say.
        return _plain_class(scope)  # pyright: ignore[reportArgumentType]
    return _class(scope, policy.record())


@lru_cache(maxsize=4_096)
def _plain_class(scope: Scope) -> str:
    """Kept: nearly every record has no policy, and shares its scope with many others."""
    return _class(scope, {})


def _class(scope: Scope, policy: Mapping[str, Any]) -> str:
    return digest({"scope": scope.record(), "policy": policy})[:32]


#: How far a client is trusted: 0 is not at all.
TRUST_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Identity:
    """Who calls, as the token says it (spec, ClientIdentity); a body can only narrow it."""

    client_id: str
    service_id: str
    process_type: str
    scope: Scope
    capabilities: frozenset[str]
    trust_level: int = 1

    def may(self, capability: str) -> bool:
        return capability in self.capabilities

    def demand(self, capability: str) -> None:
        """Raise `authorization_denied` unless the token grants the capability."""
        if not self.may(capability):
            raise AmosError("authorization_denied", f"this token lacks the capability {capability}")

    def within(self, asked: dict[str, Any] | None, at: str = "scope") -> Scope:
        """The token's scope, narrowed by what the request asks for at this place.

        Raises `scope_denied` when the request names a value that the token binds to another one, and
        `schema_invalid` for what is no scope.
        """
        merged = self.scope.record()
        for name, value in (asked or {}).items():
            if value is None:
                continue
            if merged.setdefault(name, value) != value:
                refusal = f"this token does not reach that {name}"
                raise AmosError("scope_denied", refusal, [Fault(f"{at}.{name}", refusal)])
        return validate(Scope, merged, at)


#: What a token may be allowed to do, with the sentence that `amos token create` shows.
CAPABILITIES: Final = {
    "memory.read": "recall, get and list memories",
    "event.capture": "capture source events as evidence",
    "atom.propose": "store proposals",
    "atom.commit": "commit atoms, edges, entities and dictionary entries",
    "atom.archive": "archive atoms, and restore them",
    "atom.govern": "pin and constrain atoms, and change their access policy and retention class",
    "outcome.record": "tell what became of retrieved memories",
    "artifact.record": "record generated artifacts, which expire",
    "memory.steward": "see proposals and suppressed memories",
    "review.decide": "see what was refused or waits for review, and approve or decline it",
    "self_adjudication": "judge proposals in the name of the token's own agent",
    "self_ratification": "adopt what that agent has judged, and found its constitution",
    "constitutional_self_amendment": "replace a constitutional record by its successor",
    "memory.verify": "verify the journal and the projection",
    "token.manage": "create and revoke tokens",
}
