"""What a shard adds to the dictionaries: relations and values of its own, and its entities."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field, model_validator

from amos_graph.domain.dictionary import (
    ENUMS,
    RELATIONS,
    STRUCTURAL_TYPES,
    VOCABULARIES,
    DeprecationState,
    RelationKind,
)
from amos_graph.domain.ids import EntityId, EnumId, RelationId, relationship_type
from amos_graph.domain.model import Strict
from amos_graph.domain.scope import Scope
from amos_graph.domain.times import Timestamp
from amos_graph.domain.value_kinds import fault
from amos_graph.domain.values import Detail, Name, Statement, fold

Names = Annotated[list[Name], Field(max_length=100)]


class RelationEntry(Strict):
    """A relation that a shard adds for itself (spec, "Relation dictionary entry")."""

    id: RelationId
    kind: RelationKind
    description: Statement
    inverse: RelationId | None = None
    spread_weight: float = Field(default=0.5, ge=0, le=1)
    protected: bool = False
    prunable: bool = False
    symmetric: bool = False
    single_valued: bool = False
    deprecation_state: DeprecationState = "current"
    owner_scope: Scope | None = None
    version: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _consistent(self) -> RelationEntry:
        if self.id in RELATIONS:
            raise fault("is built in and cannot be defined again", "id")
        if relationship_type(self.id) in STRUCTURAL_TYPES:
            raise fault("names a relationship type that the store itself is built of", "id")
        if self.protected and self.prunable:
            raise fault("a protected relation is not pruned", "prunable")
        if self.symmetric and self.inverse not in {None, self.id}:
            raise fault("a symmetric relation is its own inverse", "inverse")
        if self.kind == "payload" and (self.protected or self.prunable):
            raise fault("only edges are protected or pruned", "protected" if self.protected else "prunable")
        return self


class EnumEntry(Strict):
    """A controlled value that a shard adds for itself (spec, "Controlled enum value")."""

    id: EnumId
    description: Statement
    deprecation_state: DeprecationState = "current"
    owner_scope: Scope | None = None
    version: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _new(self) -> EnumEntry:
        if self.id in ENUMS:
            raise fault("is built in and cannot be defined again", "id")
        if self.group in VOCABULARIES:
            raise fault("belongs to a closed vocabulary, which nothing can be added to", "id")
        return self

    @property
    def group(self) -> str:
        return self.id.split(":")[1]

    @property
    def value(self) -> str:
        return self.id.split(":", 2)[2]


class EntityRecord(Strict):
    """A stable reference for a person, project, tool, place or concept (spec, "Entity")."""

    id: EntityId
    type: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    canonical_name: Name
    labels: Names = Field(default_factory=list[str])
    aliases: Names = Field(default_factory=list[str])
    scope: Scope | None = None
    external_refs: Annotated[list[Detail], Field(max_length=100)] = Field(default_factory=list[Any])
    #: The entity that this one turned out to be.
    merged_into: EntityId | None = None
    #: The entities that this one turned out to be a muddle of; old memories still refer to it.
    split_into: Annotated[list[EntityId], Field(max_length=50)] = Field(default_factory=list[str])
    version: int | None = Field(default=None, ge=0)
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        """The id gives the type; the first label, else the id's slug, gives the name where none is given."""
        if not isinstance(value, dict):
            return value
        given = cast("dict[str, Any]", value)
        named = given.get("id")
        if "type" not in given and isinstance(named, str) and named.count(":") > 1:
            given = {**given, "type": named.split(":")[1]}
        if given.get("canonical_name") is not None:
            return given
        labels, ref = given.get("labels"), given.get("id")
        if isinstance(labels, list) and labels:
            return {**given, "canonical_name": cast("list[Any]", labels)[0]}
        slug = ref.split(":", 2)[-1].replace("_", " ").strip() if isinstance(ref, str) else ""
        return {**given, "canonical_name": slug or ref}

    @model_validator(mode="after")
    def _merged_elsewhere(self) -> EntityRecord:
        if self.merged_into == self.id:
            raise fault("an entity is not merged into itself", "merged_into")
        if self.id in self.split_into:
            raise fault("an entity is no part of itself", "split_into")
        if self.split_into and self.merged_into is not None:
            raise fault("an entity is merged or split, not both", "split_into")
        return self

    def names(self) -> list[str]:
        """The folded names by which it is found, each once."""
        return sorted({fold(name) for name in (self.canonical_name, *self.labels, *self.aliases)} - {""})
