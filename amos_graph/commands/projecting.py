"""Bring the graph to the versions that a command wrote, kind by kind, in the order in which they link."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from amos_graph.domain.events import Sealed
from amos_graph.domain.ids import RecordKind, relationship_type
from amos_graph.domain.projection import Node, project
from amos_graph.domain.times import format_time
from amos_graph.errors import AmosError
from amos_graph.graph.procedures import Procedure, procedure
from amos_graph.graph.transactions import Tx


@dataclass(frozen=True, slots=True)
class Projected:
    projected: int


#: Evidence and entities come before the atoms that point at them, atoms before the edges between them, and
#: both before their scores and before the artifacts that are told from them.
ORDER: Final[tuple[RecordKind, ...]] = (
    "client",
    "relation",
    "enum",
    "evidence",
    "entity",
    "atom",
    "edge",
    "score",
    "artifact",
    "refusal",
)
_PROJECT: Final[Mapping[RecordKind, Procedure[Projected]]] = {
    "client": procedure("project/client", Projected),
    "relation": procedure("project/relation", Projected),
    "enum": procedure("project/enum", Projected),
    "evidence": procedure("project/evidence", Projected),
    "entity": procedure("project/entity", Projected),
    "atom": procedure("project/atom", Projected),
    "edge": procedure("project/edge", Projected),
    "score": procedure("project/score", Projected),
    "artifact": procedure("project/artifact", Projected),
    "refusal": procedure("project/refusal", Projected),
}
_STANDING = procedure("project/standing")
_STREAM = procedure("project/stream")
_OUTCOMES = procedure("telemetry/record_outcomes")
#: Task contexts that the usage of an atom keeps, the last ones.
CONTEXTS_MAX: Final = 20
_CLASS_FIELDS: Final = ("access_class", "access_policy")


def nodes_of(shard: str, sealed: Sequence[Sealed]) -> list[Node]:
    """What stands in the graph for every record that these events wrote."""
    return [
        # From the stored text, since the order of an object's keys tells in search text and titles.
        project(write.kind, shard, json.loads(row["body"]), entry.event["event_id"])
        for entry in sealed
        for write, row in zip(entry.writes, entry.versions, strict=True)
    ]


def project_nodes(tx: Tx, shard: str, nodes: Sequence[Node]) -> None:
    """Bring the graph to these nodes.

    Raises `projection_failed` when Neo4j reports fewer records than were sent, which means that an
    end of an edge is missing; the transaction is then rolled back as a whole.
    """
    groups: dict[RecordKind, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.kind, []).append(node)
    for kind in ORDER:
        if kind in groups:
            _project(tx, shard, kind, groups[kind])


def refresh(
    tx: Tx,
    shard: str,
    standing: Sequence[tuple[str, str]],
    streams: Sequence[Mapping[str, Any]],
    outcomes: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Bring derived state up to date: supersession of atoms, heads of interaction streams, usage."""
    if standing:
        rows = [{"id": ref, "state_key": key} for ref, key in standing]
        tx.send(_STANDING, shard=shard, rows=rows)
    if streams:
        tx.send(_STREAM, shard=shard, rows=[dict(row) for row in streams])
    if outcomes:
        tx.send(_OUTCOMES, shard=shard, rows=[dict(row) for row in outcomes], contexts_max=CONTEXTS_MAX)


def _project(tx: Tx, shard: str, kind: RecordKind, nodes: Sequence[Node]) -> None:
    def check(rows: list[Projected]) -> None:
        if rows[0].projected != len(nodes):
            raise AmosError(
                "projection_failed", f"{rows[0].projected} of {len(nodes)} {kind} records were projected"
            )

    tx.send(_PROJECT[kind], check, shard=shard, rows=[_ROWS.get(kind, _row)(node) for node in nodes])


def _row(node: Node) -> dict[str, Any]:
    return {"id": node.ref, "version": node.version, **_sent(node)}


def _sent(node: Node) -> dict[str, dict[str, Any]]:
    """A node's properties, and apart from them its times as text: the driver packs a time very slowly."""
    properties: dict[str, Any] = {}
    times: dict[str, str] = {}
    for name, value in node.properties.items():
        if type(value) is datetime:
            times[name] = format_time(value)
        else:
            properties[name] = value
    return {"properties": properties, "times": times}


def _atom_row(node: Node) -> dict[str, Any]:
    return {
        "id": node.ref,
        "version": node.version,
        **_sent(node),
        "labels": list(node.labels),
        # A type never changes, so only Live can have to go.
        "other_labels": [] if "Live" in node.labels else ["Live"],
        "evidence": list(node.evidence),
        "entities": [{"role": role, "id": ref} for role, ref in node.entities],
        "mentions": [{"name": mention.name, "link": mention.link()} for mention in node.mentions],
    }


def _edge_row(node: Node) -> dict[str, Any]:
    relation = node.relationship
    return {
        "edge_id": node.ref,
        "version": node.version,
        **_sent(node),
        "evidence": list(node.evidence),
        "source_ref": node.properties["source_ref"],
        "target_ref": node.properties["target_ref"],
        "type": relationship_type(node.properties["relation"]),
        "relationship": relation.properties if relation else None,
    }


def _entity_row(node: Node) -> dict[str, Any]:
    return {**_row(node), "names": list(node.names)}


def _score_row(node: Node) -> dict[str, Any]:
    relation = node.properties.get("relation")
    return {
        "id": node.ref,
        "version": node.version,
        **_sent(node),
        "type": relationship_type(relation) if relation else "",
    }


def _artifact_row(node: Node) -> dict[str, Any]:
    return {
        "id": node.ref,
        "version": node.version,
        **_sent(node),
        "entities": [{"role": role, "id": ref} for role, ref in node.entities],
        "sources": [{"role": role, "ref": ref, "version": version} for role, ref, version in node.sources],
    }


#: What the rows of a kind hold, where it is more than the node.
_ROWS: Final[Mapping[RecordKind, Callable[[Node], dict[str, Any]]]] = {
    "atom": _atom_row,
    "edge": _edge_row,
    "entity": _entity_row,
    "score": _score_row,
    "artifact": _artifact_row,
}


def access_classes(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """The access classes of these nodes, once each: scope fields, policy, and a caption."""
    found: dict[str, dict[str, Any]] = {}
    for node in nodes:
        properties = node.properties
        class_name = properties.get("access_class")
        if class_name is None or class_name in found:
            continue
        scope = {name: value for name, value in properties.items() if name.startswith("scope_")}
        found[class_name] = {
            **scope,
            **{name: properties[name] for name in _CLASS_FIELDS if name in properties},
            "title": " / ".join(str(value) for value in scope.values()),
        }
    return list(found.values())
