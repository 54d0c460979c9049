"""What verification finds, and the pure comparisons behind it (reliability T07 to T09)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.events import body_digest, checksum, event_node, event_record
from amos_graph.domain.ids import relationship_type
from amos_graph.domain.projection import class_of, project
from amos_graph.domain.score import numbers_of, with_numbers
from amos_graph.domain.times import format_time, native_time
from amos_graph.errors import AmosError

VERSION_FIELDS: Final = frozenset(
    {"shard", "ref", "version", "kind", "graph_version", "recorded_at", "body", "salt", "codec"}
)
#: What reading a body that was tampered with may raise.
UNREADABLE: Final = (
    AmosError,
    ArithmeticError,
    AttributeError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as the journal says: its kind, and where."""

    kind: str
    message: str
    graph_version: int | None = None
    ref: str | None = None
    field: str | None = None

    def record(self) -> dict[str, Any]:
        named = {"graph_version": self.graph_version, "ref": self.ref, "field": self.field}
        return {"kind": self.kind, "message": self.message} | {
            k: v for k, v in named.items() if v is not None
        }


@dataclass(frozen=True, slots=True)
class Link:
    """What the next event of the chain must follow."""

    graph_version: int
    checksum: str | None


def check_event(
    properties: Mapping[str, Any],
    labels: Sequence[str],
    previous: Sequence[int],
    writes: Sequence[Mapping[str, Any]],
    before: Link,
) -> tuple[list[Fault], Link]:
    """The faults of one event, and the link that the next one must follow.

    `before.checksum` is None where verification starts in the middle of a chain.
    """
    version = properties.get("graph_version", -1)
    found: list[Fault] = []

    def fault(kind: str, message: str, **where: Any) -> None:
        found.append(Fault(kind, message, graph_version=version, **where))

    if version != before.graph_version + 1:
        missing = f"{before.graph_version + 1} to {version - 1}"
        found.append(Fault("gap", f"events {missing} are missing", graph_version=before.graph_version + 1))
    elif before.checksum is not None and properties.get("previous_event_hash") != before.checksum:
        fault("wrong_predecessor", "its previous_event_hash is not the checksum of the event before")
    expected_previous = [version - 1] if version > 1 else []
    if list(previous) != expected_previous:
        fault("wrong_link", f"NEXT comes from {list(previous)}, not from {expected_previous}")
    if list(labels) != ["Event"]:
        fault("event_label", f"labels are {sorted(labels)}", field="labels")
    try:
        event = event_record(properties)
        if event["checksum"] != checksum(event):
            fault("wrong_hash", "its checksum does not fit its content", field="checksum")
        rebuilt = event_node(event)
        for name in sorted(_different(rebuilt, _comparable(properties))):
            fault("event_field", f"{name} is not what the event says", field=name)
        found += _check_writes(event, writes, version)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        fault("wrong_hash", f"it cannot be read as an event: {type(error).__name__}", field="checksum")
    return found, Link(version, properties.get("checksum"))


def _check_writes(event: Mapping[str, Any], writes: Sequence[Mapping[str, Any]], version: int) -> list[Fault]:
    """Each body named by the event, against the digest that the event keeps of it."""
    named = {(entry["ref"], entry["version"]): entry for entry in event["payload"]["writes"]}
    found: list[Fault] = []
    seen: set[tuple[Any, Any]] = set()
    for write in writes:
        properties = write["properties"]
        ref, number = properties.get("ref"), properties.get("version")
        entry = named.get((ref, number))
        where: dict[str, Any] = {"graph_version": version, "ref": ref}
        if entry is None or (ref, number) in seen:
            found.append(Fault("version_unexpected", f"the event did not write version {number}", **where))
            continue
        seen.add((ref, number))
        stamp = properties.get("recorded_at")
        expected = {
            "shard": event["shard"],
            "kind": entry["kind"],
            "graph_version": version,
            "codec": "json",
            "recorded_at": event["accepted_at"],
        }
        actual = {**properties, "recorded_at": format_time(native_time(stamp)) if stamp is not None else None}
        found.extend(
            Fault("version_field", f"{name} is not what the event says", field=name, **where)
            for name in sorted(expected)
            if actual.get(name) != expected[name]
        )
        found.extend(
            Fault("version_field", f"{name} does not belong here", field=name, **where)
            for name in sorted(set(properties) - VERSION_FIELDS)
        )
        if list(write["labels"]) != ["Version"]:
            found.append(Fault("version_label", f"labels are {write['labels']}", field="labels", **where))
        body, salt = properties.get("body"), properties.get("salt")
        if body is None or salt is None:
            found.append(Fault("body_missing", "body or salt is gone and no tombstone says why", **where))
        elif body_digest(salt, body) != entry["digest"]:
            found.append(
                Fault("body_digest", "the body is not the one that the event wrote", field="body", **where)
            )
    found.extend(
        Fault("version_missing", f"version {number} is gone", graph_version=version, ref=ref)
        for ref, number in sorted(set(named) - seen)
    )
    return found


def check_record(shard: str, row: Mapping[str, Any]) -> list[Fault]:
    """The faults of one record's projection: node, labels, properties, links, native relationships."""
    ref, kind, nodes = row["ref"], row["kind"], row["nodes"]
    found: list[Fault] = []
    if row["versions"] != row["version"]:
        message = f"{row['versions']} versions stand where {row['version']} were written"
        found.append(Fault("version_gap", message, ref=ref))
    if len(nodes) != 1:
        found.append(Fault("projection_missing", f"{len(nodes)} nodes stand for it", ref=ref))
    if row["body"] is None or len(nodes) != 1:
        return found
    node = nodes[0]
    try:
        body = json.loads(row["body"])
        # What outcomes moved stands in the record's score, which is verified as the record that it is.
        body = with_numbers(body, numbers_of(node["score"], row["version"]))
        expected = project(kind, shard, body, row["event_id"] or "", superseded=node["superseded"])
    except UNREADABLE as error:
        return [*found, Fault("body_unreadable", f"the body is no {kind}: {type(error).__name__}", ref=ref)]
    if sorted(node["labels"]) != sorted(expected.labels):
        message = f"labels are {sorted(node['labels'])}, not {sorted(expected.labels)}"
        found.append(Fault("projection_label", message, ref=ref, field="labels"))
    found.extend(
        Fault("projection_field", f"{name} differs from the newest version", ref=ref, field=name)
        for name in sorted(_different(expected.properties, _comparable(node["properties"])))
    )
    merged = expected.properties.get("merged_into") if kind == "entity" else None
    links = {
        "EVIDENCED_BY": _same_links(node["evidence"], [(shard, to, {}) for to in expected.evidence]),
        "REFERS_TO": _same_links(
            node["entities"], [(shard, to, {"role": role}) for role, to in expected.entities]
        ),
    }
    if kind == "atom":
        links["MENTIONS"] = _same_links(
            node["names"], [("MENTIONS", shard, one.name, one.link()) for one in expected.mentions]
        )
    told: list[tuple[str, str, Mapping[str, Any]]] = [
        (shard, to, {"role": role, "version": version}) for role, to, version in expected.sources
    ]
    links["TOLD_FROM"] = _same_links(node["sources"], told)
    if kind == "entity":
        links["NAMED"] = _same_links(node["names"], [("NAMED", shard, name, {}) for name in expected.names])
        links["MERGED_INTO"] = _same_links(node["merged"], [(shard, merged, {})] if merged else [])
        parts: list[tuple[str, str, Mapping[str, str]]] = [
            (shard, part, {}) for part in expected.properties["split_into"]
        ]
        links["SPLIT_INTO"] = _same_links(node["parts"], parts)
    found.extend(
        Fault("projection_link", f"{name} links are not those of the newest version", ref=ref, field=name)
        for name, same in links.items()
        if not same
    )
    if kind == "atom":
        found += _check_relationships(ref, node["outgoing"], node["edges"])
    return found


def _same_links(links: Iterable[Sequence[Any]], expected: Iterable[Sequence[Any]]) -> bool:
    """True when the links are those expected, each once: where they end, and their properties."""

    def told(link: Sequence[Any]) -> str:
        *end, properties = link
        return repr((*end, sorted(properties.items())))

    return sorted(map(told, links)) == sorted(map(told, expected))


def _check_relationships(
    ref: str, outgoing: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]]
) -> list[Fault]:
    """The native relationships that leave an atom, against the active edges that start there."""
    expected = {edge["edge_id"]: edge for edge in edges}
    found: list[Fault] = []
    seen: set[str] = set()
    for relationship in outgoing:
        properties, kind = relationship["properties"], relationship["type"]
        edge_id = properties.get("edge_id")
        edge = expected.get(edge_id)
        if edge is None or edge_id in seen:
            found.append(
                Fault("stray_relationship", f"{kind} stands for no active edge", ref=ref, field=kind)
            )
            continue
        seen.add(edge_id)
        wanted = {name: edge[name] for name in ("edge_id", "weight", "confidence", "access_class")}
        if (
            kind != _native_type(edge["relation"])
            or relationship["target"] != edge["target"]
            or _different(wanted, _comparable(properties))
        ):
            found.append(
                Fault("relationship_differs", f"{kind} is not as its edge says", ref=edge_id, field=kind)
            )
    found.extend(
        Fault("relationship_missing", "the active edge has no native relationship", ref=edge_id)
        for edge_id in sorted(set(expected) - seen)
    )
    return found


def _native_type(relation: Any) -> str | None:
    """The relationship type of a relation as an edge node names it, which may have been tampered with."""
    try:
        return relationship_type(relation)
    except (TypeError, ValueError):
        return None


def _comparable(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: native_time(value) if hasattr(value, "to_native") else value
        for name, value in properties.items()
    }


def _different(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> set[str]:
    """Names whose values differ in value or type; 1 and 1.0, or true and 1, are not the same."""
    missing = object()
    return {
        name
        for name in {*expected, *actual}
        if expected.get(name, missing) != actual.get(name, missing)
        or type(expected.get(name)) is not type(actual.get(name))
    }


def check_derived(rows: Iterable[Mapping[str, Any]], classes: set[str]) -> list[Fault]:
    """Access classes against those of the bodies, and each stream's head against its newest event."""
    found: list[Fault] = []
    present: set[Any] = set()
    heads: dict[Any, tuple[Any, Any]] = {}
    newest: dict[Any, tuple[Any, Any]] = {}
    for row in rows:
        properties = row["properties"]
        if row["kind"] == "AccessClass":
            ref = str(properties.get("access_class"))
            present.add(ref)
            if _class_digest(properties) != ref:
                found.append(Fault("access_class_differs", "scope and policy are another class's", ref=ref))
        elif row["kind"] == "InteractionStream":
            heads[str(properties.get("stream_id"))] = (properties.get("version"), properties.get("head_ref"))
        else:
            newest[str(properties["stream_id"])] = (row["newest"], row["newest_ref"])
    found.extend(
        Fault("access_class_missing", "records of this class have no AccessClass node", ref=missing)
        for missing in sorted(classes - present)
    )
    found.extend(
        Fault(
            "stream_differs",
            f"the head is {heads.get(stream)}, the newest event {newest.get(stream)}",
            ref=stream,
        )
        for stream in sorted({*heads, *newest})
        if heads.get(stream) != newest.get(stream)
    )
    return found


def _class_digest(properties: Mapping[str, Any]) -> str | None:
    scope = {
        name.removeprefix("scope_"): value for name, value in properties.items() if name.startswith("scope_")
    }
    policy = properties.get("access_policy")
    try:
        return class_of({"scope": scope, "access_policy": json.loads(policy) if policy else None})
    except UNREADABLE:
        return None


def check_checkpoint(
    checkpoint: Mapping[str, Any], store: tuple[str, int] | None, checksum: str | None
) -> list[Fault]:
    """What a head kept outside says about the store's identity, version and event there (T09, C71)."""
    at = checkpoint.get("graph_version")
    if store is None:
        return [Fault("checkpoint", f"checkpoint at {at}, the store has no journal of this shard")]
    store_id, version = store
    found: list[Fault] = []
    if checkpoint.get("store_id") != store_id:
        found.append(Fault("checkpoint", "this is another store than the checkpoint was taken of"))
    if not isinstance(at, int) or at > version:
        found.append(Fault("checkpoint", f"checkpoint at {at}, store at {version}", version))
    elif at > 0 and checksum != checkpoint.get("head_hash"):
        found.append(Fault("checkpoint", f"event {at} is not the one that the checkpoint names", at))
    return found
