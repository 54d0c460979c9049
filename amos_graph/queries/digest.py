"""The digest of a shard's graph: equal for a store and for each replay of its journal (reliability T11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.graph_digest import GraphDigest
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.journal import JournalRow, demand_head
from amos_graph.queries.records import DerivedRow, RecordRow, derived, record_page

#: How often a digest is begun anew when somebody writes meanwhile.
TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of a shard's graph as it stood at one version."""

    shard: str
    graph_version: int
    head_hash: str
    digest: str

    def record(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class RestlessError(AmosError):
    """A shard that is written to again and again while it is read."""

    def __init__(self, shard: str) -> None:
        super().__init__("unavailable", f"{shard} is written to while it is read; try again when it rests")


def graph_digest(graph: Graph, shard: str, progress: Callable[[str, int, int], None] | None = None) -> Digest:
    """Read the whole graph of a shard and digest it.

    Raises `not_found` for a shard that nobody wrote to, and `unavailable` when it is written to again
    and again while it is read: the graph is that of the head and of no version before.
    """
    head = demand_head(graph, shard)
    for _ in range(TRIES):
        found = _digest(graph, shard, progress)
        before, head = head, demand_head(graph, shard)
        if _same(before, head):
            return Digest(shard, head.graph_version, head.head_hash, found)
    raise RestlessError(shard)


def _same(one: JournalRow, other: JournalRow) -> bool:
    return (one.graph_version, one.head_hash) == (other.graph_version, other.head_hash)


def _digest(graph: Graph, shard: str, progress: Callable[[str, int, int], None] | None) -> str:
    digest, after, count = GraphDigest(shard), "", 0
    while True:
        rows = graph.read("digest", lambda tx, at=after: record_page(tx, shard, at))
        if not rows:
            break
        digest.records(map(_as_map, rows))
        after, count = rows[-1].ref, count + len(rows)
        if progress:
            progress("records", count, 0)
    digest.derived(map(_as_map, graph.read("digest", lambda tx: derived(tx, shard))))
    return digest.hexdigest()


def _as_map(row: RecordRow | DerivedRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__slots__}
