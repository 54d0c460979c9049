"""Nodes that are no records: receipts, what is derived, and what belongs to the store as a whole."""

from __future__ import annotations

from neomodel import DateTimeNeo4jFormatProperty as MomentProperty
from neomodel import IntegerProperty, JSONProperty, StringProperty

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

    title = StringProperty()


class InteractionStream(Sharded):
    """The head of one conversation; derived."""

    unique = (("shard", "stream_id"),)

    title = StringProperty()
    stream_id = StringProperty()
    conversation_id = StringProperty()
    version = IntegerProperty()
    head_ref = StringProperty()


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
