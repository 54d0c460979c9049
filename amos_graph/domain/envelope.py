"""The MemoryAtom envelope: what every atom has, whatever its type (spec, "MemoryAtom")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from pydantic import Field, field_validator

from amos_graph.domain.atoms import PAYLOADS, payload_type, refuse_guarded, validate_payload
from amos_graph.domain.atoms.payload import Payload
from amos_graph.domain.confidence import Confidence
from amos_graph.domain.ids import AtomId, EvidenceId, derived_id
from amos_graph.domain.lifecycle import HEALTH_STATUSES, LAYERS, LIFECYCLE_STATES, RETENTION_CLASSES
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.scope import SCOPE_SPELLINGS, AccessPolicy, Scope, access_class, in_shard
from amos_graph.domain.times import Timestamp
from amos_graph.errors import invalid

EVIDENCE_REFS_MAX: Final = 1000

#: Fields that the kernel owns. A record that was read may be sent back whole, so they are taken and
#: set anew; `version` is the exception: it says which version was read.
KERNEL_OWNED: Final = (
    "updated_at",
    "last_accessed",
    "last_writer",
    "last_write_event_id",
    "revision_history",
    "usage",
)


class MemoryAtom(Strict):
    """An atom as a caller sends it; the kernel fills what the caller leaves out."""

    id: AtomId | None = None
    type: str
    schema_version: Literal["amos.v1"] = "amos.v1"
    payload: dict[str, Any]
    evidence_refs: list[EvidenceId] = Field(min_length=1, max_length=EVIDENCE_REFS_MAX)
    scope: Scope
    confidence: Confidence
    salience: float = Field(default=0.5, ge=0, le=1)
    utility: float = Field(default=0.5, ge=0, le=1)
    layer: str = "consolidated_long_term"
    lifecycle_state: str = "active"
    health_status: str = "healthy"
    health_flags: list[str] = Field(default_factory=list[str], max_length=20)
    retention_class: str = "project"
    access_policy: AccessPolicy | None = None
    created_at: Timestamp | None = None
    observed_at: Timestamp | None = None
    decay_policy: dict[str, Any] | None = None
    version: int | None = Field(default=None, ge=0)
    supersedes: list[AtomId] = Field(default_factory=list[AtomId], max_length=100)
    index_refs: dict[str, Any] | None = None

    @field_validator("layer", "lifecycle_state", "health_status", "retention_class")
    @classmethod
    def _known(cls, value: str, info: Any) -> str:
        allowed = _VOCABULARY[info.field_name]
        if value not in allowed:
            raise ValueError(f"not one of {', '.join(allowed)}")
        return value

    @field_validator("health_flags")
    @classmethod
    def _known_flags(cls, value: list[str]) -> list[str]:
        for flag in value:
            if flag not in HEALTH_STATUSES:
                raise ValueError(f"{flag!r} is not one of {', '.join(HEALTH_STATUSES)}")
        return sorted(set(value))

    @field_validator("evidence_refs", "supersedes")
    @classmethod
    def _without_repeats(cls, value: list[str]) -> list[str]:
        return list(dict.fromkeys(value))


_VOCABULARY: Final[dict[str, tuple[str, ...]]] = {
    "layer": tuple(LAYERS),
    "lifecycle_state": tuple(LIFECYCLE_STATES),
    "health_status": tuple(HEALTH_STATUSES),
    "retention_class": tuple(RETENTION_CLASSES),
}


@dataclass(frozen=True, slots=True)
class CheckedAtom:
    """A validated atom: its envelope, its typed payload, and the payload's canonical record."""

    envelope: MemoryAtom
    payload: Payload
    payload_record: Mapping[str, Any]
    #: Where in the request it stands.
    at: str

    @property
    def access_class(self) -> str:
        return access_class(self.envelope.scope, self.envelope.access_policy)

    @property
    def content_digest(self) -> str:
        """What "the same content" means: type, who may see it, and payload (design §4)."""
        return derived_id(
            "",
            {
                "type": self.envelope.type,
                "access_class": self.access_class,
                "payload": self.payload_record,
            },
        )

    @property
    def derived_id(self) -> str:
        """The id of an atom that was sent without one: `atom_<digest>` (spec, "Identifier namespaces")."""
        return derived_id(
            "atom_",
            {
                "type": self.envelope.type,
                "scope": self.envelope.scope.record(),
                "access_class": self.access_class,
                "payload": self.payload_record,
                "evidence_refs": sorted(self.envelope.evidence_refs),
            },
        )

    def record(self) -> dict[str, Any]:
        """The atom as JSON: its envelope, with payload and policy in their stored forms."""
        record = {**self.envelope.record(), "payload": dict(self.payload_record)}
        if self.envelope.access_policy is not None:
            record["access_policy"] = self.envelope.access_policy.record()
        return record


def check_atom(
    value: Any, scope: Scope, at: str = "atom", *, guarded: Collection[str] = ()
) -> tuple[CheckedAtom, list[str]]:
    """A caller's atom, validated in full, with warnings on what was normalised or holds at no instant.

    `scope` fills in where the atom names none, or leaves out tenant or workspace. Raises
    `schema_invalid` with the path of each fault, and `authorization_denied` for a sound atom of a guarded
    type that is none of `guarded`, for which the caller answers.
    """
    if not isinstance(value, dict):
        raise invalid(at, "not an object")
    record, warnings = normalise(cast("dict[str, Any]", value), at)
    kind = record.get("type")
    if isinstance(kind, str) and kind in PAYLOADS:
        record = {**PAYLOADS[kind].defaults, **record}
    named = record.get("scope", scope.record())
    if isinstance(named, dict):
        record["scope"] = in_shard(cast("dict[str, Any]", named), scope)
    envelope = validate(MemoryAtom, record, at)
    payload_type(envelope.type, f"{at}.type")
    payload = validate_payload(envelope.type, envelope.payload, f"{at}.payload")
    refuse_guarded(envelope.type, f"{at}.type", allowed=guarded)
    if payload.valid_from is not None and payload.valid_from == payload.valid_until:
        # Two changes in one instant leave such a claim behind, so it is taken; by hand it is a slip.
        warnings.append(f"{at}.payload.validity_interval: empty, so it holds at no instant")
    return CheckedAtom(envelope, payload, payload.record(), at), warnings


def normalise(value: dict[str, Any], at: str) -> tuple[dict[str, Any], list[str]]:
    """The spec's example spellings as its tables spell them (design §7), with a warning for each."""
    record = {name: member for name, member in value.items() if name not in KERNEL_OWNED}
    warnings: list[str] = []
    if isinstance(record.get("scope"), dict):
        record["scope"] = _respelled(record["scope"], SCOPE_SPELLINGS, f"{at}.scope", warnings)
        _move_processors(record, at, warnings)
    if isinstance(record.get("access_policy"), dict):
        policy = _respelled(
            record["access_policy"], {"visibility": "processor_visibility"}, f"{at}.access_policy", warnings
        )
        # The examples repeat the tenancy inside the policy; the scope already says it.
        repeated = [name for name in ("tenant", "workspace") if policy.pop(name, None) is not None]
        warnings.extend(f"{at}.access_policy.{name}: taken from the scope" for name in repeated)
        record["access_policy"] = policy
    return record, warnings


def _move_processors(record: dict[str, Any], at: str, warnings: list[str]) -> None:
    """An example names inside the scope the processors that its table names in the policy."""
    if "applies_to" not in record["scope"]:
        return
    policy = cast("Any", record.get("access_policy") or {})
    if not isinstance(policy, dict) or {"visibility", "processor_visibility"} & {*cast("Any", policy)}:
        raise invalid(f"{at}.scope.applies_to", "also given as access_policy.processor_visibility")
    scope = dict(record["scope"])
    record["access_policy"] = {
        **cast("dict[str, Any]", policy),
        "processor_visibility": scope.pop("applies_to"),
    }
    record["scope"] = scope
    warnings.append(f"{at}.scope.applies_to: read as access_policy.processor_visibility")


def _respelled(
    value: dict[str, Any], spellings: Mapping[str, str], at: str, warnings: list[str]
) -> dict[str, Any]:
    respelled: dict[str, Any] = {}
    for name, member in value.items():
        known = spellings.get(name, name)
        if known in respelled:
            raise invalid(f"{at}.{name}", f"also given as {known}")
        if known != name:
            warnings.append(f"{at}.{name}: read as {known}")
        respelled[known] = member
    return respelled
