"""Replay: the journal of one store onto a second one, and the graphs of both compared (reliability T11)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.migrations import migrate
from amos_graph.graph.transactions import Graph
from amos_graph.queries.digest import Digest, RestlessError, graph_digest
from amos_graph.queries.journal import demand_head
from amos_graph.upkeep.reading import Progress, shard_entries, shard_start
from amos_graph.upkeep.rebuilding import Prefix, Rebuilt, Writer


@dataclass(frozen=True, slots=True)
class Replayed:
    """One shard on both stores; no digests for one that the target keeps as its own."""

    rebuilt: Rebuilt
    source: Digest | None = None
    target: Digest | None = None

    @property
    def equal(self) -> bool | None:
        """Whether the graphs are equal; None where they stand at different versions."""
        if self.source is None or self.target is None:
            return None
        if self.source.head_hash != self.target.head_hash:
            return None
        return self.source.digest == self.target.digest

    def record(self) -> dict[str, Any]:
        return {
            **self.rebuilt.record(),
            "source_digest": self.source.digest if self.source else None,
            "target_digest": self.target.digest if self.target else None,
            "equal": self.equal,
        }


@dataclass(frozen=True, slots=True)
class Store:
    """A graph and the archive beside it."""

    graph: Graph
    archive: Archive


def replay(
    source: Store, target: Store, shards: Sequence[str], progress: Progress | None = None
) -> list[Replayed]:
    """Bring a second store to these shards of the first, from zero or from where it stands.

    Raises as `shard_entries` for the source and as `restore` for the target. Where a store is written
    to without a pause, the graphs are not compared.
    """
    migrate(target.graph)
    return [_replay(source, target, shard, progress) for shard in shards]


def _replay(source: Store, target: Store, shard: str, progress: Progress | None) -> Replayed:
    start = shard_start(shard, demand_head(source.graph, shard))
    writer = Writer(target.graph, target.archive, Prefix(target.graph, start))
    rebuilt: Rebuilt | None = None
    for entry in shard_entries(source.graph, source.archive, start, progress):
        rebuilt = writer.take(entry)
    if rebuilt is None:
        raise AmosError("internal", f"the entries of {shard} have no end")
    if rebuilt.outcome == "kept":
        return Replayed(rebuilt)
    return Replayed(rebuilt, _digest(source.graph, shard), _digest(target.graph, shard))


def _digest(graph: Graph, shard: str) -> Digest | None:
    with suppress(RestlessError):
        return graph_digest(graph, shard)
    return None
