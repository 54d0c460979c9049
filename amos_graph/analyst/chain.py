"""The chain as neomodel classes: the head of a journal, its events, and the versions that these wrote."""

from __future__ import annotations

from neomodel import (
    ArrayProperty,
    IntegerProperty,
    JSONProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
)
from neomodel import DateTimeNeo4jFormatProperty as MomentProperty

from amos_graph.analyst.models import (
    Artifact,
    Atom,
    Client,
    Edge,
    Entity,
    EnumValue,
    Evidence,
    Refusal,
    RelationType,
    Score,
    Sharded,
)


class Journal(Sharded):
    """The head of a shard's chain; the value that locks it is left out."""

    unique = (("shard",),)

    title = StringProperty()
    store_id = StringProperty()
    graph_version = IntegerProperty()
    head_hash = StringProperty()
    #: Text, as the journal spells it.
    accepted_at = StringProperty()
    version_count = IntegerProperty()
    body_bytes = IntegerProperty()
    head = RelationshipTo(f"{__name__}.Event", "HEAD")


class Event(Sharded):
    """One entry of the chain."""

    unique = (("shard", "graph_version"), ("shard", "event_id"))

    title = StringProperty()
    event_id = StringProperty()
    event_type = StringProperty()
    schema_version = StringProperty()
    graph_version = IntegerProperty()
    actor = StringProperty()
    target_refs = ArrayProperty(StringProperty())
    payload = JSONProperty()
    payload_refs = ArrayProperty(StringProperty())
    payload_digest = StringProperty()
    evidence_refs = ArrayProperty(StringProperty())
    idempotency_key = StringProperty()
    causal_parent_ids = ArrayProperty(StringProperty())
    expected_versions = JSONProperty()
    authorization_context = JSONProperty()
    occurred_at = MomentProperty()
    accepted_at = MomentProperty()
    result_status = StringProperty()
    projection_status = StringProperty()
    previous_event_hash = StringProperty()
    checksum = StringProperty()
    later = RelationshipTo(f"{__name__}.Event", "NEXT")
    earlier = RelationshipFrom(f"{__name__}.Event", "NEXT")
    wrote = RelationshipTo(f"{__name__}.Version", "WROTE")


class Version(Sharded):
    """The body of one record at one version; its salt is left out."""

    unique = (("shard", "ref", "version"),)

    ref = StringProperty()
    version = IntegerProperty()
    kind = StringProperty()
    graph_version = IntegerProperty()
    recorded_at = MomentProperty()
    codec = StringProperty()
    body = JSONProperty()
    event = RelationshipFrom(f"{__name__}.Event", "WROTE")
    atom = RelationshipTo(Atom, "OF")
    edge = RelationshipTo(Edge, "OF")
    entity = RelationshipTo(Entity, "OF")
    relation = RelationshipTo(RelationType, "OF")
    enum = RelationshipTo(EnumValue, "OF")
    evidence = RelationshipTo(Evidence, "OF")
    client = RelationshipTo(Client, "OF")
    score = RelationshipTo(Score, "OF")
    artifact = RelationshipTo(Artifact, "OF")
    refusal = RelationshipTo(Refusal, "OF")
