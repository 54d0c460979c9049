"""The records of the store as neomodel classes, and the names that their texts have in common.

Classes are named with their module: a bare name would be looked for in whatever module imports this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    FloatProperty,
    IntegerProperty,
    JSONProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    StructuredRel,
)
from neomodel import DateTimeNeo4jFormatProperty as MomentProperty
from neomodel import Relationship as RelationshipWith

from amos_graph.domain.dictionary import RELATIONS, Relation
from amos_graph.domain.ids import relationship_type


class Link(StructuredRel):
    """An active association; its `:Edge` of the same edge_id is the record."""

    edge_id = StringProperty()
    weight = FloatProperty()
    confidence = FloatProperty()
    access_class = StringProperty()


class Role(StructuredRel):
    """Which field of the payload names the entity."""

    role = StringProperty()


class Mention(StructuredRel):
    """Where a text names something, and how sure it is that it does."""

    span = StringProperty()
    start = IntegerProperty()
    confidence = FloatProperty()


class Told(StructuredRel):
    """Which field of the artifact cites the record, and at which version it was told from."""

    role = StringProperty()
    version = IntegerProperty()


class Node(StructuredNode):
    """Any node of the store; `unique` lists its unique keys, as properties of the node."""

    __abstract_node__ = True
    unique: ClassVar[tuple[tuple[str, ...], ...]] = ()


class Sharded(Node):
    """A node of one shard, which is `tenant/workspace`."""

    __abstract_node__ = True

    shard = StringProperty()


class Record(Sharded):
    """The newest version of a record."""

    __abstract_node__ = True

    title = StringProperty()
    version = IntegerProperty()
    last_writer = StringProperty()
    last_write_event_id = StringProperty()
    versions = RelationshipFrom("amos_graph.analyst.chain.Version", "OF")


class InScope(Sharded):
    """A node with a scope."""

    __abstract_node__ = True

    scope_tenant_id = StringProperty()
    scope_workspace_id = StringProperty()
    scope_project_id = StringProperty()
    scope_user_id = StringProperty()
    scope_agent_id = StringProperty()
    scope_session_id = StringProperty()
    scope_task_id = StringProperty()
    scope_tool_environment_id = StringProperty()
    access_class = StringProperty()


class Scoped(InScope, Record):
    """A record with a scope, and perhaps a policy."""

    __abstract_node__ = True

    access_policy = JSONProperty()
    schema_version = StringProperty()


def _relationships(relation: Relation) -> dict[str, Any]:
    """The attributes of one relation: to and from other atoms, or with them where it has no direction."""
    name, native = relation.id.removeprefix("rel:"), relationship_type(relation.id)
    if relation.symmetric:
        return {f"with_{name}": RelationshipWith(f"{__name__}.Atom", native, model=Link)}
    return {
        f"to_{name}": RelationshipTo(f"{__name__}.Atom", native, model=Link),
        f"from_{name}": RelationshipFrom(f"{__name__}.Atom", native, model=Link),
    }


def model(name: str, base: type[StructuredNode], said: str, namespace: Mapping[str, Any]) -> Any:
    """A model that is made of data: of the dictionary's relations, or of a payload's lifted fields."""
    return type(base)(name, (base,), {"__module__": __name__, "__doc__": said, **namespace})


#: Atoms and what binds them to each other: `to_supports`, `from_supports`, `with_contradicts` …
_Associated: Any = model(
    "_Associated",
    Scoped,
    "An atom with an attribute for each built-in relation of edges.",
    {
        "__abstract_node__": True,
        **{
            attribute: relationship
            for relation in RELATIONS.values()
            if relation.kind == "edge"
            for attribute, relationship in _relationships(relation).items()
        },
    },
)


class Atom(_Associated):
    """One typed memory; `KINDS` has a model with more properties for each type."""

    __optional_labels__: ClassVar[list[str]] = ["Live"]
    unique = (("shard", "id"),)

    ref = StringProperty(db_property="id")
    type = StringProperty()
    payload = JSONProperty()
    evidence_refs = ArrayProperty(StringProperty())
    confidence_level = StringProperty()
    confidence_score = FloatProperty()
    confidence_basis = JSONProperty()
    salience = FloatProperty()
    utility = FloatProperty()
    layer = StringProperty()
    lifecycle_state = StringProperty()
    health_status = StringProperty()
    health_flags = ArrayProperty(StringProperty())
    state_key = StringProperty()
    retention_class = StringProperty()
    supersedes = ArrayProperty(StringProperty())
    created_at = MomentProperty()
    observed_at = MomentProperty()
    updated_at = MomentProperty()
    valid_from = MomentProperty()
    valid_until = MomentProperty()
    decay_policy = JSONProperty()
    index_refs = JSONProperty()
    content_digest = StringProperty()
    search_text = StringProperty()
    shard_key = StringProperty()
    evidence = RelationshipTo(f"{__name__}.Evidence", "EVIDENCED_BY")
    entities = RelationshipTo(f"{__name__}.Entity", "REFERS_TO", model=Role)
    names = RelationshipTo(f"{__name__}.Name", "MENTIONS", model=Mention)
    artifacts = RelationshipFrom(f"{__name__}.Artifact", "TOLD_FROM", model=Told)


class Edge(Scoped):
    """The record of an association between two atoms."""

    unique = (("shard", "edge_id"),)

    edge_id = StringProperty()
    source_ref = StringProperty()
    target_ref = StringProperty()
    relation = StringProperty()
    weight = FloatProperty()
    confidence_level = StringProperty()
    confidence_score = FloatProperty()
    confidence_basis = JSONProperty()
    lifecycle_state = StringProperty()
    health_status = StringProperty()
    derivation = StringProperty()
    evidence_refs = ArrayProperty(StringProperty())
    created_at = MomentProperty()
    updated_at = MomentProperty()
    valid_from = MomentProperty()
    evidence = RelationshipTo(f"{__name__}.Evidence", "EVIDENCED_BY")


class Evidence(Scoped):
    """What happened in the source world, unchanged."""

    unique = (("shard", "evidence_id"),)

    evidence_id = StringProperty()
    source_type = StringProperty()
    source_ref = StringProperty()
    checksum = StringProperty()
    payload = JSONProperty()
    captured_at = MomentProperty()
    atoms = RelationshipFrom(f"{__name__}.Atom", "EVIDENCED_BY")
    edges = RelationshipFrom(f"{__name__}.Edge", "EVIDENCED_BY")
    artifacts = RelationshipFrom(f"{__name__}.Artifact", "TOLD_FROM", model=Told)


class Entity(Record):
    """A person, a project, a tool, a place or another thing."""

    unique = (("shard", "id"),)

    ref = StringProperty(db_property="id")
    type = StringProperty()
    canonical_name = StringProperty()
    label_names = ArrayProperty(StringProperty(), db_property="labels")
    aliases = ArrayProperty(StringProperty())
    names = ArrayProperty(StringProperty())
    names_text = StringProperty()
    shard_key = StringProperty()
    external_refs = JSONProperty()
    merged_into = StringProperty()
    split_into = ArrayProperty(StringProperty())
    created_at = MomentProperty()
    updated_at = MomentProperty()
    atoms = RelationshipFrom(f"{__name__}.Atom", "REFERS_TO", model=Role)
    known_as = RelationshipTo(f"{__name__}.Name", "NAMED")
    artifacts = RelationshipFrom(f"{__name__}.Artifact", "REFERS_TO", model=Role)
    same_as = RelationshipTo(f"{__name__}.Entity", "MERGED_INTO")
    also = RelationshipFrom(f"{__name__}.Entity", "MERGED_INTO")
    parts = RelationshipTo(f"{__name__}.Entity", "SPLIT_INTO")
    part_of = RelationshipFrom(f"{__name__}.Entity", "SPLIT_INTO")


class Name(Sharded):
    """A name that texts and entities of a shard have in common; derived."""

    unique = (("shard", "name"),)

    name = StringProperty()
    atoms = RelationshipFrom(f"{__name__}.Atom", "MENTIONS", model=Mention)
    entities = RelationshipFrom(f"{__name__}.Entity", "NAMED")


class Defined(Record):
    """An entry of a dictionary."""

    __abstract_node__ = True

    ref = StringProperty(db_property="id")
    description = StringProperty()
    deprecation_state = StringProperty()
    owner_scope = StringProperty()
    created_at = MomentProperty()
    updated_at = MomentProperty()


class RelationType(Defined):
    """An entry of the relation dictionary."""

    unique = (("shard", "id"),)

    kind = StringProperty()
    inverse = StringProperty()
    spread_weight = FloatProperty()
    protected = BooleanProperty()
    prunable = BooleanProperty()
    provenance = BooleanProperty()
    symmetric = BooleanProperty()
    single_valued = BooleanProperty()


class EnumValue(Defined):
    """A value of a controlled vocabulary."""

    unique = (("shard", "id"),)

    group = StringProperty()
    value = StringProperty()


class Client(Record):
    """A service that may call; the digest of its token is left out."""

    unique = (("shard", "id"), ("token_hash",))

    ref = StringProperty(db_property="id")
    service_id = StringProperty()
    process_type = StringProperty()
    capabilities = ArrayProperty(StringProperty())
    scope = JSONProperty()
    trust_level = IntegerProperty()
    created_at = MomentProperty()
    updated_at = MomentProperty()
    expires_at = MomentProperty()
    revoked_at = MomentProperty()


class Refusal(InScope, Record):
    """A command that was not carried out: why, how often, and what became of it."""

    unique = (("shard", "id"),)

    schema_version = StringProperty()
    ref = StringProperty(db_property="id")
    code = StringProperty()
    reason_code = StringProperty()
    operation = StringProperty()
    risk = StringProperty()
    target_refs = ArrayProperty(StringProperty())
    client_id = StringProperty()
    agent_id = StringProperty()
    user_id = StringProperty()
    status = StringProperty()
    attempts = IntegerProperty()
    decision = StringProperty()
    decided_by = StringProperty()
    request = JSONProperty()
    created_at = MomentProperty()
    updated_at = MomentProperty()


class Score(Record):
    """What outcomes made of the numbers of an atom or an edge, at the version that it names."""

    unique = (("shard", "id"),)

    ref = StringProperty(db_property="id")
    of_ref = StringProperty()
    of_version = IntegerProperty()
    utility = FloatProperty()
    salience = FloatProperty()
    weight = FloatProperty()
    relation = StringProperty()
    source_ref = StringProperty()
    target_ref = StringProperty()
    created_at = MomentProperty()
    updated_at = MomentProperty()


class Artifact(Scoped):
    """A generated record that cites and expires, and is never memory: a self-narrative."""

    unique = (("shard", "id"),)

    ref = StringProperty(db_property="id")
    artifact_type = StringProperty()
    subject_agent = StringProperty()
    narrative = StringProperty()
    narrative_scope = StringProperty()
    rendering_target = StringProperty()
    source_trace_refs = ArrayProperty(StringProperty())
    source_self_model_refs = ArrayProperty(StringProperty())
    source_capability_refs = ArrayProperty(StringProperty())
    source_limitation_refs = ArrayProperty(StringProperty())
    source_assessment_refs = ArrayProperty(StringProperty())
    source_counterevidence_refs = ArrayProperty(StringProperty())
    balance_report = JSONProperty()
    lifecycle_state = StringProperty()
    generated_at = MomentProperty()
    expires_at = MomentProperty()
    created_at = MomentProperty()
    updated_at = MomentProperty()
    entities = RelationshipTo(f"{__name__}.Entity", "REFERS_TO", model=Role)
    atoms = RelationshipTo(f"{__name__}.Atom", "TOLD_FROM", model=Told)
    evidence = RelationshipTo(f"{__name__}.Evidence", "TOLD_FROM", model=Told)


#: Properties of nodes that no model has: only the machinery of the store reads them.
LEFT_OUT: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "Client": frozenset({"token_hash"}),
        "Embedding": frozenset({"embedding"}),
        "IndexMark": frozenset({"lock_token"}),
        "Journal": frozenset({"lock_token"}),
        "TermStatistics": frozenset({"latent", "latent_rank", "latent_unit", "latent_words"}),
        "Version": frozenset({"salt"}),
    }
)
