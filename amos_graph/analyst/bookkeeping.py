"""Nodes that are no records: receipts, what is derived, and what belongs to the store as a whole."""

from __future__ import annotations

from neomodel import ArrayProperty, IntegerProperty, JSONProperty, StringProperty
from neomodel import DateTimeNeo4jFormatProperty as MomentProperty

from amos_graph.analyst.models import InScope, Node, Sharded


class Receipt(Sharded):
    """The accepted result that an idempotency key is bound to."""

    unique = (("shard", "scope_key"),)

    title = StringProperty()
    scope_key = StringProperty()
    operation = StringProperty()
    payload_digest = StringProperty()
    result = JSONProperty()
    graph_version = IntegerProperty()
    recorded_at = MomentProperty()


class AccessClass(InScope):
    """One answer to who may see a record: a scope and a policy; derived."""

    unique = (("shard", "access_class"),)

    access_policy = JSONProperty()
    title = StringProperty()


class InteractionStream(Sharded):
    """The head of one conversation; derived."""

    unique = (("shard", "stream_id"),)

    title = StringProperty()
    stream_id = StringProperty()
    conversation_id = StringProperty()
    version = IntegerProperty()
    head_ref = StringProperty()


class Usage(Sharded):
    """How often an atom was seen and used, and what came of it; counted from outcomes, and no usefulness."""

    unique = (("shard", "ref"),)

    title = StringProperty()
    ref = StringProperty()
    access_count = IntegerProperty()
    last_accessed = MomentProperty()
    use_count = IntegerProperty()
    helpful_count = IntegerProperty()
    unhelpful_count = IntegerProperty()
    success_after_use = IntegerProperty()
    failure_after_use = IntegerProperty()
    corrections_after_use = IntegerProperty()
    task_contexts_used_in = ArrayProperty(StringProperty())
    repair_flags = ArrayProperty(StringProperty())


class PacketManifest(Sharded):
    """What a packet held, and to whom it was given; kept for a while."""

    unique = (("shard", "id"),)

    title = StringProperty()
    ref = StringProperty(db_property="id")
    client_id = StringProperty()
    graph_version = IntegerProperty()
    evaluated_at = StringProperty()
    request_digest = StringProperty()
    scope = JSONProperty()
    atom_refs = ArrayProperty(StringProperty())
    atom_versions = ArrayProperty(IntegerProperty())
    paths = JSONProperty()
    kept_at = MomentProperty()
    outcome_count = IntegerProperty()


class RetrievalOutcome(Sharded):
    """What became of a packet, as it was told; kept for a while."""

    unique = (("shard", "id"),)

    title = StringProperty()
    ref = StringProperty(db_property="id")
    packet_id = StringProperty()
    client_id = StringProperty()
    outcome_labels = ArrayProperty(StringProperty())
    use_status = StringProperty()
    used_item_refs = ArrayProperty(StringProperty())
    helpful_atom_refs = ArrayProperty(StringProperty())
    unhelpful_atom_refs = ArrayProperty(StringProperty())
    correction_refs = ArrayProperty(StringProperty())
    reinforced_edges = ArrayProperty(StringProperty())
    weakened_edges = ArrayProperty(StringProperty())
    missing_capability_cues = ArrayProperty(StringProperty())
    created_at = MomentProperty()


class Embedding(Sharded):
    """The vector of an atom, behind the commits; derived. Its numbers are left out."""

    unique = (("shard", "ref"),)

    title = StringProperty()
    ref = StringProperty()
    version = IntegerProperty()
    embedding_model = StringProperty()
    quantization = StringProperty()
    access_class = StringProperty()
    state_key = StringProperty()
    squares = IntegerProperty()


class IndexMark(Sharded):
    """How far a shard's vectors reach, and which worker is at it; derived."""

    unique = (("shard",),)

    title = StringProperty()
    embedding_model = StringProperty()
    graph_version = IntegerProperty()
    counted_version = IntegerProperty()
    worker = StringProperty()
    leased_until = IntegerProperty()


class TermStatistics(Sharded):
    """The words of one access class, and in how many memories each stands; derived."""

    unique = (("shard", "access_class"),)

    title = StringProperty()
    access_class = StringProperty()
    digest = StringProperty()
    graph_version = IntegerProperty()
    atoms = IntegerProperty()
    words = ArrayProperty(StringProperty())
    counts = ArrayProperty(IntegerProperty())


class Migration(Node):
    """A schema statement that was applied."""

    unique = (("name",),)

    title = StringProperty()
    name = StringProperty()
    sha256 = StringProperty()
    applied_at = MomentProperty()


class Canary(Node):
    """What readiness writes to, to know that the database takes writes."""

    title = StringProperty()
    name = StringProperty()
    token = StringProperty()
