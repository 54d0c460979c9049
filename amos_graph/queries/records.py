"""The records of a shard with what stands in the graph for them, and what is derived from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx

PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class RecordRow:
    ref: str
    kind: str
    version: int
    versions: int
    body: str | None
    event_id: str | None
    nodes: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class DerivedRow:
    kind: str
    properties: dict[str, Any]
    newest: int | None
    newest_ref: str | None


_RECORDS = procedure("journal/verify_records", RecordRow)
_DERIVED = procedure("journal/verify_derived", DerivedRow)


def record_page(tx: Tx, shard: str, after: str) -> list[RecordRow]:
    """The next records after a ref, by ref."""
    return tx.many(_RECORDS, shard=shard, after=after, limit=PAGE)


def derived(tx: Tx, shard: str) -> list[DerivedRow]:
    """Access classes and stream heads, and the newest event of each stream."""
    return tx.many(_DERIVED, shard=shard)
