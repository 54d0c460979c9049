"""Write the entries of a journal into a store: the chain as it was, and the graph that it stands for.

Each batch is whole commands in one transaction, so after each the shard is a valid prefix of the
source, and a run that was killed goes on where it ended.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Literal

from amos_graph.commands import projecting
from amos_graph.commands.group import append
from amos_graph.commands.view import View
from amos_graph.domain.events import GENESIS, Sealed, Write
from amos_graph.domain.journal_check import version_row
from amos_graph.domain.journal_file import (
    ArchivedPayload,
    BoundReceipt,
    Entry,
    JournalEvent,
    ReceiptRecord,
    ShardEnd,
    ShardStart,
)
from amos_graph.domain.projection import Node, state_key, stream_id
from amos_graph.domain.times import parse_time
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, Tx, settled
from amos_graph.policy.succession import SUPERSEDES
from amos_graph.queries.journal import ChecksumRow, JournalRow, checksums, journal_head

#: Events, bytes of bodies, and receipts after which a batch is written at the next end of a command.
EVENTS_PER_BATCH: Final = 500
BYTES_PER_BATCH: Final = 4_000_000
RECEIPTS_PER_BATCH: Final = 2_000
#: How long a batch whose commit was cut is tried again.
SETTLE_S: Final = 30.0
SYSTEM_SHARD: Final = "_system/_system"


@dataclass(frozen=True, slots=True)
class HeldShard:
    store_id: str
    graph_version: int
    head_hash: str


_RESTORE = procedure("journal/restore_shard", HeldShard)
_RECEIPTS = procedure("journal/restore_receipts")


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What became of one shard: written, there already, or left as the target's own."""

    shard: str
    outcome: Literal["written", "present", "kept"]
    #: Where the target stood before, and where the source ends.
    before: int
    graph_version: int
    head_hash: str
    events: int = 0

    def record(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class Prefix:
    """What a target holds of a shard already, compared event by event with the source."""

    def __init__(self, graph: Graph, start: ShardStart) -> None:
        """Raises `expected_version_conflict` when the target's shard is another history, or longer."""
        self.start = start
        self.store: JournalRow | None = journal_head(graph, start.shard)
        self.kept = False
        self._known: Iterator[ChecksumRow] = iter(())
        if self.store is None:
            return
        if self.store.store_id != start.store_id:
            self._conflict("the store has a history of its own there; restore into one that nobody wrote to")
        elif self.version > start.graph_version:
            self._conflict("the store is ahead; nothing of it is given up")
        else:
            self._known = checksums(graph, start.shard)

    @property
    def version(self) -> int:
        """How many events the target has."""
        return self.store.graph_version if self.store else 0

    def skips(self, event: Mapping[str, Any]) -> bool:
        """Whether the target has this event. Raises `expected_version_conflict` where the two part ways."""
        at = event["graph_version"]
        if self.kept or at > self.version:
            return self.kept
        known = next(self._known, None)
        if known is None or (known.graph_version, known.checksum) != (at, event["checksum"]):
            self._conflict(f"they part ways at event {at}")
        return True

    def _conflict(self, message: str) -> None:
        """Refuse, except for the built-in dictionary: the code brings each store's own up to date."""
        self.kept = self.start.shard == SYSTEM_SHARD
        if not self.kept:
            raise _conflict(self.start, self.version, message)


def _conflict(start: ShardStart, store_version: int, message: str) -> AmosError:
    return AmosError(
        "expected_version_conflict",
        f"{start.shard}: the store is at {store_version}, the copy at {start.graph_version}: {message}",
        details={"target_ref": start.shard, "actual_version": store_version},
    )


@dataclass(slots=True)
class _Batch:
    after: int
    head_hash: str
    events: list[JournalEvent] = field(default_factory=list[JournalEvent])
    receipts: list[ReceiptRecord] = field(default_factory=list[ReceiptRecord])
    bytes: int = 0

    @property
    def last(self) -> int:
        return self.events[-1].event["graph_version"] if self.events else self.after

    @property
    def last_hash(self) -> str:
        return self.events[-1].event["checksum"] if self.events else self.head_hash

    @property
    def whole(self) -> bool:
        """Whether it ends where a command does."""
        return not self.events or self.events[-1].event["payload"]["command"]["last"] == self.last

    @property
    def full(self) -> bool:
        return (
            len(self.events) >= EVENTS_PER_BATCH
            or self.bytes >= BYTES_PER_BATCH
            or len(self.receipts) >= RECEIPTS_PER_BATCH
        )


class Writer:
    """Takes the entries of one shard in order and brings the target to them."""

    def __init__(self, graph: Graph, archive: Archive, prefix: Prefix) -> None:
        self.graph, self.archive, self.prefix = graph, archive, prefix
        store = prefix.store
        self.written = 0
        self._batch = _Batch(prefix.version, store.head_hash if store else GENESIS)

    def take(self, entry: Entry) -> Rebuilt | None:
        """Write what is due; what became of the shard when the entry is its end.

        Raises `expected_version_conflict` when the target is another history or is written to by
        somebody else meanwhile, and `unavailable` when Neo4j cannot answer; then run it again.
        """
        if isinstance(entry, JournalEvent):
            if not self.prefix.skips(entry.event):
                self._add(entry)
        elif isinstance(entry, BoundReceipt):
            # Those of the version at which the target stands may have been cut off.
            if not self.prefix.kept and entry.receipt.graph_version >= self.prefix.version:
                self._batch.receipts.append(entry.receipt)
        elif isinstance(entry, ArchivedPayload):
            if not self.prefix.kept:
                self.archive.put(self.prefix.start.shard, entry.payload())
        elif isinstance(entry, ShardEnd):
            self._flush()
            return self._rebuilt()
        return None

    def _add(self, entry: JournalEvent) -> None:
        # Receipts stand behind their event, so only the next event shows that a batch has all of them.
        if self._batch.full and self._batch.whole:
            self._flush()
        self._batch.events.append(entry)
        self._batch.bytes += sum(len(version.body) for version in entry.versions)

    def _flush(self) -> None:
        batch = self._batch
        if batch.events or batch.receipts:
            start = self.prefix.start
            # The batch itself sees whether a try before it is there.
            settled(lambda: self.graph.write("restore", lambda tx: _write(tx, start, batch)), SETTLE_S)
        self.written += len(batch.events)
        self._batch = _Batch(batch.last, batch.last_hash)

    def _rebuilt(self) -> Rebuilt:
        start, before = self.prefix.start, self.prefix.version
        outcome = "kept" if self.prefix.kept else "written" if self.written else "present"
        return Rebuilt(start.shard, outcome, before, start.graph_version, start.head_hash, self.written)


def _write(tx: Tx, start: ShardStart, batch: _Batch) -> None:
    shard = start.shard
    held = tx.one(
        _RESTORE, shard=shard, store_id=start.store_id, lock_token=secrets.token_hex(8), genesis=GENESIS
    )
    stands = (held.store_id, held.graph_version, held.head_hash)
    # A try before this one whose commit was cut may have happened.
    there = stands == (start.store_id, batch.last, batch.last_hash)
    if not there and stands != (start.store_id, batch.after, batch.head_hash):
        raise _conflict(start, held.graph_version, "somebody wrote to it meanwhile")
    if batch.events and not there:
        sealed = [_sealed(entry) for entry in batch.events]
        nodes = projecting.nodes_of(shard, sealed)
        append(tx, shard, batch.after, sealed, nodes)
        for layer in _layers(nodes):
            projecting.project_nodes(tx, shard, layer)
        view = View(tx, shard, _nothing_pending)
        projecting.refresh(tx, shard, _standing(view, sealed), _streams(view, sealed))
    if batch.receipts:
        rows = [{**r.record(), "recorded_at": parse_time(r.recorded_at)} for r in batch.receipts]
        tx.none(_RECEIPTS, shard=shard, rows=rows)


def _nothing_pending() -> None:
    """All that a batch changes is written before anything is read."""


def _sealed(entry: JournalEvent) -> Sealed:
    rows = [version_row(entry.event, version) for version in entry.versions]
    writes = tuple(Write(v.kind, v.ref, v.version, json.loads(v.body)) for v in entry.versions)
    return Sealed(entry.event, rows, writes)


def _layers(nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """The first version of each record in the batch, then the second of those that have one, and so on.

    A statement takes a record once; and with every version projected in its turn, links, access
    classes and edges come about as they did in the source. A score follows the version that it is of.
    """
    seen: dict[str, int] = {}
    layers: dict[int, list[Node]] = {}
    for node in nodes:
        layer = max(seen.get(node.ref, -1) + 1, seen.get(node.properties.get("of_ref", ""), 0))
        seen[node.ref] = layer
        layers.setdefault(layer, []).append(node)
    for layer in count():
        if layer not in layers:
            return
        yield layers[layer]


def _standing(view: View, sealed: Sequence[Sealed]) -> list[tuple[str, str]]:
    """Atoms whose place in ordinary recall depends on a supersession, as `standing_to_refresh` finds them."""
    touched: set[str] = set()
    for write in _writes(sealed):
        if write.kind == "atom" and write.version > 1:
            touched.add(write.ref)
        elif write.kind == "edge" and write.body["relation"] == SUPERSEDES:
            touched.add(write.body["target_ref"])
    return [
        (atom.ref, state_key(atom.body["lifecycle_state"], atom.body["health_status"], superseded=False))
        for atom in view.records(sorted(touched))
    ]


def _streams(view: View, sealed: Sequence[Sealed]) -> list[dict[str, Any]]:
    """The heads of the streams that these events advance."""
    heads: dict[str, dict[str, Any]] = {}
    for write in _writes(sealed):
        if write.kind != "atom" or write.body["type"] != "interaction_event":
            continue
        if write.body["lifecycle_state"] == "proposed":
            continue
        payload, stream = write.body["payload"], stream_id(write.body)
        if stream not in heads or payload["sequence"] > heads[stream]["version"]:
            heads[stream] = {
                "stream_id": stream,
                "conversation_id": payload["conversation_id"],
                "version": payload["sequence"],
                "head_ref": write.ref,
            }
    known = view.streams(sorted(heads))
    return [row for ref, row in heads.items() if ref not in known or row["version"] > known[ref].version]


def _writes(sealed: Sequence[Sealed]) -> Iterator[Write]:
    for entry in sealed:
        yield from entry.writes
