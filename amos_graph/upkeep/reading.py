"""A shard's journal as the entries of a journal file, read from a store and checked on the way."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final

from amos_graph.domain.events import GENESIS, event_record
from amos_graph.domain.journal_check import archived_in, shard_totals
from amos_graph.domain.journal_file import (
    FORMAT,
    ArchivedPayload,
    BoundReceipt,
    Entry,
    JournalEvent,
    ReceiptRecord,
    ShardEnd,
    ShardStart,
    archived_payload,
    event_entry,
)
from amos_graph.domain.verification import Fault, Link, check_event
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.journal import ChainRow, JournalRow, chain_page, receipts

Progress = Callable[[str, int, int], None]
#: Events of one page; with their bodies they are what is held in memory.
EVENTS_PER_PAGE: Final = 200


def shard_start(shard: str, head: JournalRow, part: int = 1, parts: int = 1) -> ShardStart:
    """The header of a shard as far as `head`."""
    return ShardStart(
        format=FORMAT,
        part=part,
        parts=parts,
        store_id=head.store_id,
        shard=shard,
        graph_version=head.graph_version,
        head_hash=head.head_hash,
        accepted_at=head.accepted_at or "",
    )


def shard_entries(
    graph: Graph, archive: Archive, start: ShardStart, progress: Progress | None = None
) -> Generator[Entry]:
    """The entries of a shard from its header to its end, page by page, while writers go on.

    What is read was written once and never changes, so it is all of one moment. Raises `internal`
    with the first fault of the journal, and what the archive raises for a payload.
    """
    shard, upto = start.shard, start.graph_version
    yield start
    pending = receipts(graph, shard, upto)
    receipt = next(pending, None)
    counts = {"versions": 0, "receipts": 0}
    held: set[str] = set()
    for entry in _events(graph, start):
        at: int = entry.event["graph_version"]
        while receipt is not None and receipt["graph_version"] < at:
            yield _bound(receipt)
            counts["receipts"] += 1
            receipt = next(pending, None)
        yield from _payloads(archive, shard, entry, held)
        yield entry
        counts["versions"] += len(entry.versions)
        if progress:
            progress("events", at, upto)
    while receipt is not None:
        yield _bound(receipt)
        counts["receipts"] += 1
        receipt = next(pending, None)
    yield ShardEnd(end=shard_totals(start, archived=len(held), **counts))


def _events(graph: Graph, start: ShardStart) -> Generator[JournalEvent]:
    shard, upto = start.shard, start.graph_version
    link = Link(0, GENESIS)
    while link.graph_version < upto:
        rows = graph.read(
            "export",
            lambda tx, at=link.graph_version: chain_page(tx, shard, at, upto, EVENTS_PER_PAGE),
        )
        if not rows:
            raise _unsound(shard, Fault("gap", f"events {link.graph_version + 1} to {upto} are missing"))
        for row in rows:
            faults, link = check_event(row.event, row.labels, row.previous, row.writes, link)
            if faults:
                raise _unsound(shard, faults[0])
            yield _entry(row)
    if link.checksum != start.head_hash:
        raise _unsound(shard, Fault("head", "the head's hash is not the checksum of its event", upto))


def _entry(row: ChainRow) -> JournalEvent:
    return event_entry(event_record(row.event), [write["properties"] for write in row.writes])


def _unsound(shard: str, fault: Fault) -> AmosError:
    """The journal itself is not sound; a copy of it would be worth nothing."""
    where = f"event {fault.graph_version}: " if fault.graph_version is not None else ""
    record = f" ({fault.ref})" if fault.ref else ""
    message = f"{shard}, {where}{fault.kind}: {fault.message}{record}; run amos verify"
    return AmosError("internal", message, details=fault.record())


def _payloads(
    archive: Archive, shard: str, entry: JournalEvent, held: set[str]
) -> Generator[ArchivedPayload]:
    """The archived payloads that an event cites and no line holds yet."""
    for version in entry.versions:
        payload = archived_in(version.kind, version.body)
        if payload is not None and payload not in held:
            held.add(payload)
            try:
                content = archive.get(shard, payload)
            except AmosError as error:
                at = f"{shard}, event {entry.event['graph_version']}: {version.ref}"
                raise AmosError(error.code, f"{at}: {error.message}") from error
            yield archived_payload(content)


def _bound(receipt: dict[str, Any]) -> BoundReceipt:
    return BoundReceipt(receipt=ReceiptRecord.model_validate(receipt))
