"""The journal as it lies in the graph: its shards and heads, its events and receipts page by page."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.times import native_text
from amos_graph.errors import AmosError
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, Tx
from amos_graph.queries.versions import hold_shard

PAGE: Final = 500
SHARDS_MAX: Final = 100_000


@dataclass(frozen=True, slots=True)
class JournalRow:
    """Whose journal it is, and where its head stands."""

    store_id: str
    graph_version: int
    head_hash: str
    accepted_at: str | None


@dataclass(frozen=True, slots=True)
class ShardRow:
    shard: str
    graph_version: int


@dataclass(frozen=True, slots=True)
class ChainRow:
    event: dict[str, Any]
    labels: list[str]
    previous: list[int]
    writes: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    scope_key: str
    payload_digest: str
    result: str
    graph_version: int
    operation: str
    recorded_at: Any


@dataclass(frozen=True, slots=True)
class ChecksumRow:
    graph_version: int
    checksum: str


_JOURNAL = procedure("journal/read_journal", JournalRow)
_SHARDS = procedure("journal/list_shards", ShardRow)
_CHAIN = procedure("journal/verify_chain", ChainRow)
_RECEIPTS = procedure("journal/list_receipts", ReceiptRow)
_CHECKSUMS = procedure("journal/list_checksums", ChecksumRow)


def list_shards(graph: Graph) -> list[ShardRow]:
    """The shards of this store, by name."""
    return graph.read("shards", lambda tx: tx.many(_SHARDS, limit=SHARDS_MAX))


def journal_head(graph: Graph, shard: str) -> JournalRow | None:
    """The shard's identity and head, of one moment and so the end of a command; None without a journal."""

    def held(tx: Tx) -> JournalRow | None:
        hold_shard(tx, shard)
        return tx.maybe(_JOURNAL, shard=shard)

    return graph.write("head", held)


def demand_head(graph: Graph, shard: str) -> JournalRow:
    """As `journal_head`. Raises `not_found` for a shard that nobody wrote to."""
    head = journal_head(graph, shard)
    if head is None or head.graph_version == 0:
        raise AmosError("not_found", f"{shard} has no journal yet")
    return head


def chain_page(tx: Tx, shard: str, after: int, upto: int, limit: int = PAGE) -> list[ChainRow]:
    """The next events after a version, each with what points at it and what it wrote."""
    return tx.many(_CHAIN, shard=shard, after=after, upto=upto, limit=limit)


def receipts(graph: Graph, shard: str, upto: int, since: int = 0) -> Generator[dict[str, Any]]:
    """The receipts of the versions `since` to `upto`, by version and key, read page by page."""
    at = (since, "")
    while True:
        place = {"after_version": at[0], "after_key": at[1]}
        rows = graph.read(
            "receipts",
            lambda tx, place=place: tx.many(_RECEIPTS, shard=shard, upto=upto, limit=PAGE, **place),
        )
        for row in rows:
            yield {
                **{name: getattr(row, name) for name in row.__slots__},
                "recorded_at": native_text(row.recorded_at),
            }
        if not rows:
            return
        at = (rows[-1].graph_version, rows[-1].scope_key)


def checksums(graph: Graph, shard: str) -> Generator[ChecksumRow]:
    """The checksum of each event in order, read page by page."""
    after = 0
    while True:
        rows = graph.read(
            "checksums", lambda tx, at=after: tx.many(_CHECKSUMS, shard=shard, after=at, limit=PAGE)
        )
        yield from rows
        if not rows:
            return
        after = rows[-1].graph_version
