"""The dictionaries: the relations and controlled values that are built in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, cast, get_args, get_origin

from pydantic import BaseModel

from amos_graph.domain.atoms import PAYLOADS
from amos_graph.domain.confidence import CONFIDENCE_LEVELS
from amos_graph.domain.lifecycle import (
    EDGE_HEALTH_STATUSES,
    EDGE_LIFECYCLE_STATES,
    HEALTH_STATUSES,
    LAYERS,
    LIFECYCLE_STATES,
    MEANINGS,
    RETENTION_CLASSES,
)

RelationKind = Literal["edge", "payload"]
DeprecationState = Literal["current", "deprecated"]
#: Who owns a definition: the system shard, or the shard that added it.
SYSTEM: Final = "system"

#: Relationship types that the store builds itself of; no relation may take one of these names.
STRUCTURAL_TYPES: Final = frozenset(
    {
        "HEAD",
        "NEXT",
        "WROTE",
        "OF",
        "REFERS_TO",
        "MENTIONS",
        "NAMED",
        "EVIDENCED_BY",
        "TOLD_FROM",
        "MERGED_INTO",
        "SPLIT_INTO",
    }
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation: an edge between atoms, or the predicate inside a payload."""

    id: str
    kind: RelationKind
    description: str
    inverse: str | None = None
    #: How much activation an edge of this relation passes; 0 keeps it out of spreading. An inhibiting
    #: edge passes none: it takes as much from its target.
    spread_weight: float = 0.0
    #: Never pruned by capacity rules.
    protected: bool = False
    #: Pruned first under pressure while it is weak.
    prunable: bool = False
    #: Kept for as long as both ends exist, outside the walk.
    provenance: bool = False
    symmetric: bool = False
    #: A subject has one value at a time, so that a second one competes with the first.
    single_valued: bool = False
    deprecation_state: DeprecationState = "current"
    owner_scope: str = SYSTEM

    def record(self) -> dict[str, Any]:
        """The definition as JSON, without what it does not have."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class EnumValue:
    """One value of a controlled vocabulary."""

    id: str
    group: str
    value: str
    description: str
    deprecation_state: DeprecationState = "current"
    owner_scope: str = SYSTEM

    def record(self) -> dict[str, Any]:
        """The definition as JSON."""
        return asdict(self)


def _edge(
    name: str,
    description: str,
    weight: float,
    *,
    inverse: str | None = None,
    protected: bool = False,
    prunable: bool = False,
    provenance: bool = False,
    symmetric: bool = False,
) -> Relation:
    return Relation(
        id=f"rel:{name}",
        kind="edge",
        description=description,
        inverse=f"rel:{inverse}" if inverse else (f"rel:{name}" if symmetric else None),
        spread_weight=weight,
        protected=protected,
        prunable=prunable,
        provenance=provenance,
        symmetric=symmetric,
    )


def _predicate(
    name: str,
    description: str,
    *,
    inverse: str | None = None,
    symmetric: bool = False,
    single_valued: bool = False,
) -> Relation:
    return Relation(
        id=f"rel:{name}",
        kind="payload",
        description=description,
        inverse=f"rel:{inverse}" if inverse else (f"rel:{name}" if symmetric else None),
        symmetric=symmetric,
        single_valued=single_valued,
    )


#: Edges. Protected: evidence, contradiction, supersession, user correction, policy.
#: Prunable: weak similarity, one-time co-retrieval, causal guesses, old temporal proximity.
_EDGES: Final = (
    _edge("precedes", "temporal: happened before", 0.4, inverse="follows", prunable=True),
    _edge("follows", "temporal: happened after", 0.4, inverse="precedes", prunable=True),
    _edge("co_refers", "co-reference: speaks of the same entity", 0.7, symmetric=True),
    _edge("similar_to", "similarity: means nearly the same", 0.5, symmetric=True, prunable=True),
    _edge("causes", "causal: brings about", 0.7, inverse="caused_by", prunable=True),
    _edge("caused_by", "causal: is brought about by", 0.7, inverse="causes", prunable=True),
    _edge("goal_relevance", "goal relevance: matters to the goal", 0.8),
    _edge("triggers", "procedural trigger: calls for the procedure", 0.8, inverse="triggered_by"),
    _edge("triggered_by", "procedural trigger: is called for by", 0.8, inverse="triggers"),
    _edge("contradicts", "contradiction: both cannot hold", 0.6, symmetric=True, protected=True),
    _edge("supports", "support: makes the other more credible", 0.8, inverse="supported_by"),
    _edge("supported_by", "support: is made more credible by", 0.8, inverse="supports"),
    _edge("abstracts", "abstraction: is the general form of", 0.6, inverse="specializes"),
    _edge("specializes", "abstraction: is a special case of", 0.6, inverse="abstracts"),
    _edge("co_activates", "co-activation: was useful together with", 0.4, symmetric=True, prunable=True),
    _edge("salient_with", "affect, salience or priority is shared with", 0.4, symmetric=True),
    _edge("inhibits", "inhibition: holds the other back where it applies", 1.0),
    _edge("exception_to", "exception: does not follow the general case", 0.6, inverse="has_exception"),
    _edge("has_exception", "exception: does not hold in the case of", 0.6, inverse="exception_to"),
    _edge("corrects", "user correction: sets right what was remembered", 0.7, protected=True),
    _edge("governs", "policy: is the policy that applies to", 0.5, protected=True),
    _edge("requires", "cannot do without", 0.7, inverse="required_by"),
    _edge("required_by", "is needed by", 0.7, inverse="requires"),
    _edge("references", "mentions", 0.4, inverse="referenced_by"),
    _edge("referenced_by", "is mentioned by", 0.4, inverse="references"),
    _edge("depends_on", "changes when the other changes", 0.7, inverse="dependency_of"),
    _edge("dependency_of", "changes the other when it changes", 0.7, inverse="depends_on"),
    _edge("supersedes", "supersession: takes the place of", 0.0, protected=True, provenance=True),
    _edge("derived_from", "provenance: was made from", 0.0, protected=True, provenance=True),
    _edge("summarizes", "provenance: is a shorter form of", 0.0, protected=True, provenance=True),
    _edge("adjudicates", "governance: is the judgment of", 0.0, protected=True, provenance=True),
    _edge("invokes", "governance: rests its judgment on", 0.0, protected=True, provenance=True),
)

_PREDICATES: Final = (
    _predicate("responsible_for", "has to see to", inverse="responsibility_of"),
    _predicate("responsibility_of", "is seen to by", inverse="responsible_for"),
    _predicate("working_on", "spends effort on"),
    _predicate("prefers", "would rather have"),
    _predicate("avoids", "would rather not have"),
    _predicate("max_capacity", "holds at most", single_valued=True),
    _predicate("status", "is in the state of a process", single_valued=True),
    _predicate("has_state", "is in the state", single_valued=True),
    _predicate("title", "is titled", single_valued=True),
    _predicate("name", "is called"),
    _predicate("description", "is described as", single_valued=True),
    _predicate("version", "is at version", single_valued=True),
    _predicate("type", "is of the kind", single_valued=True),
    _predicate("is_a", "is an instance of"),
    _predicate("part_of", "is a part of", inverse="has_part"),
    _predicate("has_part", "has as a part", inverse="part_of"),
    _predicate("member_of", "belongs to", inverse="has_member"),
    _predicate("has_member", "has among its members", inverse="member_of"),
    _predicate("located_in", "is at the place", single_valued=True),
    _predicate("lives_in", "has a home in", single_valued=True),
    _predicate("works_at", "is employed by"),
    _predicate("reports_to", "has as superior", single_valued=True),
    _predicate("role", "acts as"),
    _predicate("owns", "has as property", inverse="owned_by"),
    _predicate("owned_by", "is property of", inverse="owns"),
    _predicate("uses", "works with", inverse="used_by"),
    _predicate("used_by", "is worked with by", inverse="uses"),
    _predicate("created_by", "was made by", inverse="created"),
    _predicate("created", "made", inverse="created_by"),
    _predicate("created_on", "was made on", single_valued=True),
    _predicate("knows", "is acquainted with", symmetric=True),
    _predicate("related_to", "has something to do with", symmetric=True),
    _predicate("same_as", "is the same thing as", symmetric=True),
    _predicate("deadline", "is due at", single_valued=True),
    _predicate("starts_at", "begins at", single_valued=True),
    _predicate("ends_at", "ends at", single_valued=True),
    _predicate("has_value", "has the value", single_valued=True),
    _predicate("has_attribute", "has the property"),
    _predicate("has_size", "measures", single_valued=True),
    _predicate("costs", "has the price", single_valued=True),
    _predicate("email", "receives mail at"),
    _predicate("speaks", "speaks the language"),
    _predicate("likes", "is fond of"),
    _predicate("dislikes", "is not fond of"),
    _predicate("wants", "wishes for"),
    _predicate("decided", "has settled on"),
    _predicate("allows", "permits"),
    _predicate("forbids", "does not permit"),
    _predicate("produces", "has as output"),
    _predicate("available", "can be had", single_valued=True),
)

#: Every built-in relation, by id.
RELATIONS: Final[Mapping[str, Relation]] = MappingProxyType(
    {relation.id: relation for relation in (*_EDGES, *_PREDICATES)}
)
EDGE_RELATIONS: Final = frozenset(relation.id for relation in _EDGES)
PAYLOAD_RELATIONS: Final = frozenset(relation.id for relation in _PREDICATES)
#: Relations whose edges outlive the activity of their ends and are not walked.
PROVENANCE_RELATIONS: Final = frozenset(relation.id for relation in _EDGES if relation.provenance)


def _literals(annotation: Any) -> Iterator[str]:
    """The values of a controlled field, wherever in its type they stand."""
    if get_origin(annotation) is Literal:
        yield from cast("tuple[str, ...]", get_args(annotation))
        return
    for part in get_args(annotation):
        if not isinstance(part, str):
            yield from _literals(part)


def _vocabularies() -> Mapping[str, tuple[str, ...]]:
    """Group → values: the envelope's, and every controlled field of a payload by its name.

    They are read from the very types that validate, so that the two cannot drift.
    """
    found: dict[str, tuple[str, ...]] = {
        "layer": LAYERS,
        "lifecycle_state": LIFECYCLE_STATES,
        "health_status": HEALTH_STATUSES,
        "retention_class": RETENTION_CLASSES,
        "edge_lifecycle_state": EDGE_LIFECYCLE_STATES,
        "edge_health_status": EDGE_HEALTH_STATUSES,
        "confidence_level": CONFIDENCE_LEVELS,
    }
    for atom_type, model in PAYLOADS.items():
        for name, field in cast("type[BaseModel]", model).model_fields.items():
            values = tuple(_literals(field.annotation))
            if values:
                # Two types may use one word for different vocabularies.
                group = name if found.get(name, values) == values else f"{atom_type}_{name}"
                found[group] = values
    return MappingProxyType(found)


VOCABULARIES: Final = _vocabularies()


def _meaning(group: str, value: str) -> str:
    return MEANINGS.get(group.removeprefix("edge_"), {}).get(value) or (
        f"{group.replace('_', ' ')}: {value.replace('_', ' ')}"
    )


#: Every built-in controlled value, by id (`enum:layer:immediate`).
ENUMS: Final[Mapping[str, EnumValue]] = MappingProxyType(
    {
        f"enum:{group}:{value}": EnumValue(f"enum:{group}:{value}", group, value, _meaning(group, value))
        for group, values in VOCABULARIES.items()
        for value in values
    }
)
