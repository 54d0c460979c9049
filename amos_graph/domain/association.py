"""Association edges: separate records, so that they are pruned, reweighted and inhibited on their own."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, field_validator, model_validator

from amos_graph.domain.confidence import Confidence
from amos_graph.domain.ids import AtomId, EdgeId, EvidenceId, RelationId, derived_id
from amos_graph.domain.lifecycle import EDGE_HEALTH_STATUSES
from amos_graph.domain.model import Strict
from amos_graph.domain.scope import AccessPolicy, Scope
from amos_graph.domain.times import Timestamp


class AssociationEdge(Strict):
    """An edge as a caller sends it (spec, "AssociationEdge")."""

    edge_id: EdgeId | None = None
    source_ref: AtomId
    target_ref: AtomId
    relation: RelationId
    schema_version: Literal["amos.v1"] = "amos.v1"
    evidence_refs: list[EvidenceId] = Field(default_factory=list[EvidenceId], max_length=1000)
    scope: Scope | None = None
    access_policy: AccessPolicy | None = None
    confidence: Confidence
    #: How much activation passes; the relation's own spread weight when left out.
    weight: float | None = Field(default=None, ge=0, le=1)
    lifecycle_state: Literal["active"] = "active"
    health_status: str = "healthy"
    created_at: Timestamp | None = None
    valid_from: Timestamp | None = None
    version: int | None = Field(default=None, ge=0)

    @field_validator("health_status")
    @classmethod
    def _known_health(cls, value: str) -> str:
        if value not in EDGE_HEALTH_STATUSES:
            raise ValueError(f"not one of {', '.join(EDGE_HEALTH_STATUSES)}")
        return value

    @field_validator("evidence_refs")
    @classmethod
    def _without_repeats(cls, value: list[str]) -> list[str]:
        return list(dict.fromkeys(value))

    @model_validator(mode="before")
    @classmethod
    def _without_kernel_fields(cls, value: Any) -> Any:
        """Take a record that was read and is sent back whole."""
        if isinstance(value, dict):
            return {name: member for name, member in value.items() if name not in _KERNEL_OWNED}  # pyright: ignore[reportUnknownVariableType]
        return value

    @model_validator(mode="after")
    def _joins_two_atoms(self) -> AssociationEdge:
        if self.source_ref == self.target_ref:
            raise ValueError("an edge joins two different atoms")
        return self


_KERNEL_OWNED: Final = ("updated_at", "last_writer", "last_write_event_id", "derivation", "revision_history")


def edge_id(source_ref: str, relation: str, target_ref: str, scope: Scope | None = None) -> str:
    """The id of an edge that was sent without one: what it joins and how, and the scope if it names one."""
    return derived_id("edge_", [source_ref, relation, target_ref, *([scope.record()] if scope else [])])
