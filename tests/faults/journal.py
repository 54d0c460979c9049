"""Reads a shard's journal as it lies in Neo4j and checks it without the code that `verify` runs."""

from __future__ import annotations

import hashlib
import json
from typing import Any, LiteralString

from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.events import GENESIS, event_record
from amos_graph.graph.transactions import Graph

_EVENTS = """
MATCH (e:Event {shard: $shard})
WHERE e.graph_version IS NOT NULL
OPTIONAL MATCH (e)-[:WROTE]->(v:Version)
WITH e, collect(v {.ref, .version, .salt, .body}) AS versions
RETURN e {.*} AS event, versions
ORDER BY event.graph_version
"""
_SHAPE = """
MATCH (j:Journal {shard: $shard})
RETURN COUNT { (j)-[:HEAD]->(:Event) } AS heads,
       [(j)-[:HEAD]->(e) | e.graph_version] AS pointed,
       j.graph_version AS graph_version,
       j.head_hash AS head_hash,
       j.version_count AS version_count,
       COUNT { MATCH (a:Event {shard: $shard})-[:NEXT]->(:Event) WHERE a.graph_version > 0 } AS links,
       COUNT {
         MATCH (a:Event {shard: $shard})-[:NEXT]->(b)
         WHERE a.graph_version > 0 AND b.graph_version <> a.graph_version + 1
       } AS bad_links
"""
# Each branch names all properties of an index, so that a shard is read without a scan of the whole store.
NODES = """
CALL () {
  MATCH (n:Atom {shard: $shard}) WHERE n.id IS NOT NULL RETURN n
  UNION ALL MATCH (n:Edge {shard: $shard}) WHERE n.edge_id IS NOT NULL RETURN n
  UNION ALL MATCH (n:Entity {shard: $shard}) WHERE n.id IS NOT NULL RETURN n
  UNION ALL MATCH (n:RelationType {shard: $shard}) WHERE n.id IS NOT NULL RETURN n
  UNION ALL MATCH (n:EnumValue {shard: $shard}) WHERE n.id IS NOT NULL RETURN n
  UNION ALL MATCH (n:Evidence {shard: $shard}) WHERE n.evidence_id IS NOT NULL RETURN n
  UNION ALL MATCH (n:Client {shard: $shard}) WHERE n.id IS NOT NULL RETURN n
  UNION ALL MATCH (n:Event {shard: $shard}) WHERE n.graph_version IS NOT NULL RETURN n
  UNION ALL MATCH (n:Version {shard: $shard}) WHERE n.ref IS NOT NULL AND n.version IS NOT NULL RETURN n
  UNION ALL MATCH (n:Receipt {shard: $shard}) WHERE n.scope_key IS NOT NULL RETURN n
  UNION ALL MATCH (n:AccessClass {shard: $shard}) WHERE n.access_class IS NOT NULL RETURN n
  UNION ALL MATCH (n:InteractionStream {shard: $shard}) WHERE n.stream_id IS NOT NULL RETURN n
  UNION ALL MATCH (n:Journal {shard: $shard}) RETURN n
}
"""
_COUNTS: LiteralString = (
    NODES
    + """
CALL (n) {
  UNWIND labels(n) AS name RETURN name
  UNION ALL MATCH (n)-[r]->() RETURN '[' + type(r) + ']' AS name
}
RETURN name, count(*) AS found
"""
)


def rows(graph: Graph, query: LiteralString, **params: Any) -> list[dict[str, Any]]:
    """The rows of a read."""
    records, _, _ = graph.driver.execute_query(  # pyright: ignore[reportUnknownMemberType]
        query, params, database_=graph.database, routing_="r"
    )
    return [record.data() for record in records]


def contents(graph: Graph, shard: str) -> dict[str, int]:
    """How many nodes of each label and relationships of each [TYPE] a shard has."""
    return {row["name"]: row["found"] for row in rows(graph, _COUNTS, shard=shard)}


def events(graph: Graph, shard: str) -> list[dict[str, Any]]:
    """The events of a shard in order, as records."""
    return [event_record(row["event"]) for row in rows(graph, _EVENTS, shard=shard)]


def checked_journal(graph: Graph, shard: str) -> list[dict[str, Any]]:
    """The events of a shard, after asserting what must hold of any journal.

    Versions 1..n without a gap, each checksum over its own canonical bytes, each link to its
    predecessor's checksum, each body at its digest, one head that is the last event.
    """
    found = rows(graph, _EVENTS, shard=shard)
    previous = GENESIS
    written = 0
    for position, row in enumerate(found, 1):
        event = event_record(row["event"])
        assert event["graph_version"] == position, f"a gap or a fork at {position}"
        assert event["previous_event_hash"] == previous, f"event {position} follows another one"
        unsigned = {name: value for name, value in event.items() if name != "checksum"}
        previous = "sha256:" + hashlib.sha256(canonical_bytes(unsigned)).hexdigest()
        assert event["checksum"] == previous, f"event {position} was altered"
        bodies = {
            (v["ref"], v["version"]): "sha256:" + hashlib.sha256((v["salt"] + v["body"]).encode()).hexdigest()
            for v in row["versions"]
        }
        assert bodies == {(w["ref"], w["version"]): w["digest"] for w in event["payload"]["writes"]}
        written += len(bodies)
    if found:
        (shape,) = rows(graph, _SHAPE, shard=shard)
        assert shape == {
            "heads": 1,
            "pointed": [len(found)],
            "graph_version": len(found),
            "head_hash": previous,
            "version_count": written,
            "links": len(found) - 1,
            "bad_links": 0,
        }
    return [event_record(row["event"]) for row in found]


_NEWEST = """
MATCH (v:Version {shard: $shard})
WHERE v.ref IS NOT NULL AND v.version IS NOT NULL
WITH v.ref AS ref, max(v.version) AS version, count(*) AS versions
MATCH (newest:Version {shard: $shard, ref: ref, version: version})-[:OF]->(n)
RETURN ref, version, versions, newest.body AS body, n.version AS node_version, labels(n) AS labels,
       COUNT { (:Version)-[:OF]->(n) } AS pointing
"""


def newest(graph: Graph, shard: str) -> dict[str, dict[str, Any]]:
    """Each record's newest body, after asserting that its node stands at the same version."""
    bodies: dict[str, dict[str, Any]] = {}
    for row in rows(graph, _NEWEST, shard=shard):
        assert row["node_version"] == row["version"] == row["versions"] == row["pointing"], row["ref"]
        bodies[row["ref"]] = json.loads(row["body"])
    return bodies
