"""What of a shard's graph goes into its digest, and in which order (reliability T11).

For each record, by its id: the labels and properties of its node without the caption, its links to
evidence and entities, and the native relationships that leave it. Then the access classes and the
heads of streams. Captions, counters, locks and index marks are derived and not in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.times import native_text

#: Generated for people; another version of the code may word it otherwise (design §3).
_LEFT_OUT: Final = frozenset({"title"})
#: Relationships and links that a record's row brings, each with its own order.
_LINKS: Final = ("evidence", "entities", "merged", "parts")


class GraphDigest:
    """Takes a shard's rows page by page; equal graphs give equal digests on every machine."""

    def __init__(self, shard: str) -> None:
        self._sum = hashlib.sha256()
        self._add(["amos-graph.v1", shard])

    def records(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add records in the order of their ids; rows as `journal/verify_records` gives them."""
        for row in rows:
            self._add([row["ref"], row["kind"], row["version"], _sorted(map(_node, row["nodes"]))])

    def derived(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add access classes and stream heads; rows as `journal/verify_derived` gives them."""
        for entry in _sorted(
            [row["kind"], _properties(row["properties"])]
            for row in rows
            if row["kind"] in ("AccessClass", "InteractionStream")
        ):
            self._add(entry)

    def hexdigest(self) -> str:
        return self._sum.hexdigest()

    def _add(self, value: Any) -> None:
        text = canonical_bytes(value)
        # With its length in front, no two series of values run into the same bytes.
        self._sum.update(b"%d:" % len(text))
        self._sum.update(text)


def _node(node: Mapping[str, Any]) -> list[Any]:
    return [
        sorted(node["labels"]),
        _properties(node["properties"]),
        *(_sorted(_link(link) for link in node[name]) for name in _LINKS),
        # What only artifacts have stands only where there is any, so that older digests stay good.
        *([_sorted(_link(link) for link in node["sources"])] if node.get("sources") else []),
        _sorted(
            [relationship["type"], relationship["target"], _properties(relationship["properties"])]
            for relationship in node["outgoing"]
        ),
    ]


def _link(link: Sequence[Any]) -> list[Any]:
    shard, ref, properties = link
    return [shard, ref, _properties(properties)]


def _properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in properties.items() if name not in _LEFT_OUT}


def _value(value: Any) -> Any:
    """A property so that values of different types stay different: canonical JSON writes 1.0 as 1."""
    if isinstance(value, list):
        return [_value(entry) for entry in cast("list[Any]", value)]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return {"integer": str(value)}
    if isinstance(value, float):
        return {"float": repr(value)}
    return {"time": native_text(value)}


def _sorted(values: Iterable[Any]) -> list[Any]:
    """In the order of their canonical bytes, since Neo4j promises none."""
    return sorted(values, key=canonical_bytes)
