"""Verify: the chain, every body, every projected record, stray structure, and the schema.

Each fault is named by kind and place. A cut tail, a fork, and a chain rewritten from some point to
its head all look sound from inside; only a checkpoint kept outside shows them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from amos_graph.domain.atoms import PAYLOADS
from amos_graph.domain.events import GENESIS
from amos_graph.domain.projection import KEYS, class_of
from amos_graph.domain.times import native_text
from amos_graph.domain.verification import (
    UNREADABLE,
    Fault,
    Link,
    check_checkpoint,
    check_derived,
    check_event,
    check_record,
)
from amos_graph.errors import invalid
from amos_graph.graph.migrations import schema_faults
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, Tx
from amos_graph.queries.journal import ChainRow, chain_page, demand_head, list_shards
from amos_graph.queries.records import DerivedRow, RecordRow, derived, record_page
from amos_graph.queries.versions import hold_shard

#: With more faults than this verification stops and says so.
FAULTS_MAX: Final = 200
#: Labels that an Atom bears besides its own.
ATOMS_ONLY: Final = ("Live", *sorted({model.label for model in PAYLOADS.values()}))
#: Labels of nodes that stand outside every shard.
_UNSHARDED: Final = ("Migration", "Canary")
_JOURNAL: Final = ("Event", "Version", "Journal", "Receipt")
#: Labels of nodes that follow from the records.
_DERIVED: Final = ("AccessClass", "InteractionStream", "Name")
_TELEMETRY: Final = ("Usage", "PacketManifest", "RetrievalOutcome")
#: What the index worker makes; it can be made anew, and is compared with nothing.
_INDEX: Final = ("Embedding", "IndexMark", "TermStatistics")
_OF_RECORDS: Final = {*(label for label, _ in KEYS.values()), *ATOMS_ONLY}
#: Every label that the store is built of; anything else is foreign.
LABELS: Final = tuple(sorted({*_OF_RECORDS, *_JOURNAL, *_DERIVED, *_TELEMETRY, *_INDEX, *_UNSHARDED}))


@dataclass(frozen=True, slots=True)
class Totals:
    store_id: str
    graph_version: int
    head_hash: str
    events: int
    newest: int | None
    heads: list[dict[str, Any]]
    accepted_at: str | None
    versions: int
    version_count: int
    body_bytes: int


@dataclass(frozen=True, slots=True)
class StrayRow:
    kind: str
    label: str
    ref: str | None


@dataclass(frozen=True, slots=True)
class LabelledRow:
    nodes: int
    labelled: int


@dataclass(frozen=True, slots=True)
class ForeignRow:
    label: str
    ref: str | None


_TOTALS = procedure("journal/verify_totals", Totals)
_STRAYS = procedure("journal/verify_strays", StrayRow)
_LINKS = procedure("journal/verify_links", StrayRow)
_KEYLESS = procedure("journal/verify_keyless", StrayRow)
_LABELLED = procedure("journal/count_labelled", LabelledRow)
_KINDS = procedure("journal/verify_kinds", StrayRow)
_FOREIGN = procedure("journal/verify_foreign", ForeignRow)

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Report:
    """What one shard's verification saw."""

    shard: str
    graph_version: int = 0
    events: int = 0
    records: Counter[str] = field(default_factory=Counter[str])
    faults: list[Fault] = field(default_factory=list[Fault])
    projection_checked: bool = True
    #: True when there were more faults than are kept.
    truncated: bool = False

    @property
    def ok(self) -> bool:
        return not self.faults

    def add(self, faults: Iterable[Fault]) -> None:
        self.faults.extend(faults)
        self.truncated |= len(self.faults) > FAULTS_MAX
        del self.faults[FAULTS_MAX:]

    def record(self) -> dict[str, Any]:
        return {
            "shard": self.shard,
            "ok": self.ok,
            "graph_version": self.graph_version,
            "events": self.events,
            "records": dict(sorted(self.records.items())),
            "projection_checked": self.projection_checked,
            "faults": [fault.record() for fault in self.faults],
            "faults_truncated": self.truncated,
        }


def verify_all(graph: Graph, progress: Progress | None = None, tenants: str = "") -> list[Report]:
    """Verify every shard of the store; the last report, of shard "", is on nodes of none.

    `tenants` keeps to shards whose name begins so.
    """
    shards = [row.shard for row in list_shards(graph) if row.shard.startswith(tenants)]
    reports = [verify(graph, shard, progress=progress) for shard in shards]
    store = Report("")
    store.add(foreign_faults(graph))
    return [*reports, store]


def foreign_faults(graph: Graph) -> list[Fault]:
    """Nodes of the whole store that bear none of its labels, or belong to no shard that has a journal."""
    asked = {"labels": list(LABELS), "unsharded": list(_UNSHARDED), "limit": FAULTS_MAX + 1}
    rows = graph.read("verify", lambda tx: tx.many(_FOREIGN, **asked))
    return [
        Fault("foreign_node", f"{row.label}: not of this store", ref=row.ref, field=row.label) for row in rows
    ]


def verify(
    graph: Graph,
    shard: str,
    *,
    first: int | None = None,
    last: int | None = None,
    checkpoint: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Verify one shard, or the events `first` to `last` of it (then without the projection).

    What looks wrong is read again under the shard's lock before it is reported, so writers that run
    beside it cause no false alarm. Raises `schema_invalid` for a range that does not exist.
    """
    report = Report(shard)
    totals = graph.read("verify", lambda tx: tx.maybe(_TOTALS, shard=shard))
    if totals is None:
        if checkpoint is not None:
            report.add(check_checkpoint(checkpoint, None, None))
        return report
    report.graph_version = totals.graph_version
    ranged = first is not None or last is not None
    begin, end = first or 1, last if last is not None else totals.graph_version
    if not 1 <= begin <= max(end, 1) or end > totals.graph_version:
        wrong = "last" if end > totals.graph_version else "first"
        raise invalid(wrong, f"this shard has events 1 to {totals.graph_version}")
    chain = _chain(graph, report, begin, end, progress)
    if not ranged:
        if not report.faults:
            # Bodies that are wrong, or not all there, have no sum to compare with.
            report.add(_confirmed(graph, shard, lambda tx: _size_faults(tx, shard, chain)))
        _projection(graph, report, progress)
        report.add(_confirmed(graph, shard, lambda tx: _totals_faults(tx, shard)))
        report.add(_confirmed(graph, shard, lambda tx: _stray_faults(tx, shard)))
        report.add(Fault("schema", sentence) for sentence in schema_faults(graph))
    report.projection_checked = not ranged
    if checkpoint is not None:
        at = graph.read("verify", lambda tx: _event_at(tx, shard, checkpoint))
        report.add(check_checkpoint(checkpoint, (totals.store_id, totals.graph_version), at))
    return report


def checkpoint_of(graph: Graph, shard: str) -> dict[str, Any]:
    """What to keep outside the store: its identity, how many events it has, and the head's hash.

    Raises `not_found` for a shard that nobody wrote to.
    """
    head = demand_head(graph, shard)
    return {
        "schema_version": "amos.v1",
        "store_id": head.store_id,
        "shard": shard,
        "graph_version": head.graph_version,
        "head_hash": head.head_hash,
    }


def _confirmed(graph: Graph, shard: str, check: Callable[[Tx], list[Fault]]) -> list[Fault]:
    """Faults that are still there when no writer can be in the middle of something."""
    if not graph.read("verify", check):
        return []

    def again(tx: Tx) -> list[Fault]:
        hold_shard(tx, shard)
        return check(tx)

    return graph.write("verify", again)


@dataclass(frozen=True, slots=True)
class _Chain:
    """How far a walk along the chain came, and what the last page of it added."""

    link: Link
    events: int = 0
    body_bytes: int = 0
    faults: tuple[Fault, ...] = ()


def _chain(graph: Graph, report: Report, first: int, last: int, progress: Progress | None) -> _Chain:
    """Walk the events; a page that looks wrong is read again under the shard's lock."""
    shard, chain = report.shard, _Chain(Link(first - 1, GENESIS if first == 1 else None))
    while chain.link.graph_version < last and not report.truncated:

        def held(tx: Tx, at: _Chain = chain) -> _Chain:
            hold_shard(tx, shard)
            return _chain_page(tx, shard, at, last)

        page = graph.read("verify", lambda tx, at=chain: _chain_page(tx, shard, at, last))
        if page.faults:
            page = graph.write("verify", held)
        report.add(page.faults)
        stuck, chain = page.events == chain.events, page
        if progress:
            progress("events", chain.link.graph_version, last)
        if stuck:
            break
    report.events = chain.events
    return chain


def _chain_page(tx: Tx, shard: str, at: _Chain, last: int) -> _Chain:
    rows = chain_page(tx, shard, at.link.graph_version, last)
    found: list[Fault] = []
    link, size = at.link, at.body_bytes
    for row in rows:
        faults, link = check_event(row.event, row.labels, row.previous, row.writes, link)
        found += faults
        size += _size(row)
    if not rows and link.graph_version < last:
        found.append(
            Fault("gap", f"events {link.graph_version + 1} to {last} are missing", link.graph_version + 1)
        )
    return _Chain(link, at.events + len(rows), size, tuple(found))


def _projection(graph: Graph, report: Report, progress: Progress | None) -> None:
    """Every record page by page, then what is derived from them."""
    after, shard = "", report.shard
    classes: set[str] = set()
    while not report.truncated:
        rows = graph.read("verify", lambda tx, at=after: record_page(tx, shard, at))
        if not rows:
            break
        for row in rows:
            report.records[row.kind] += 1
        classes |= _classes_of(rows)
        if any(check_record(shard, _as_map(row)) for row in rows):
            report.add(_confirmed(graph, shard, lambda tx, at=after: _page_faults(tx, shard, at)))
        after = rows[-1].ref
        if progress:
            progress("records", sum(report.records.values()), 0)
    report.add(_confirmed(graph, shard, lambda tx: _derived_faults(tx, shard, classes)))


def _as_map(row: RecordRow | DerivedRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__slots__}


def _page_faults(tx: Tx, shard: str, after: str) -> list[Fault]:
    rows = record_page(tx, shard, after)
    return [fault for row in rows for fault in check_record(shard, _as_map(row))]


def _derived_faults(tx: Tx, shard: str, classes: set[str]) -> list[Fault]:
    return check_derived(map(_as_map, derived(tx, shard)), classes)


def _classes_of(rows: Iterable[RecordRow]) -> set[str]:
    """The access classes that a page's bodies belong to; an unreadable body is reported elsewhere."""
    found: set[str] = set()
    for row in rows:
        if row.kind in ("atom", "edge", "evidence", "artifact", "refusal") and row.body is not None:
            with suppress(*UNREADABLE):
                found.add(class_of(json.loads(row.body)))
    return found


def _totals_faults(tx: Tx, shard: str) -> list[Fault]:
    totals = tx.maybe(_TOTALS, shard=shard)
    if totals is None:
        return [Fault("head", "the journal of this shard is gone")]
    found: list[Fault] = []
    expected = [totals.head_hash] if totals.graph_version else []
    if [head["checksum"] for head in totals.heads] != expected:
        found.append(Fault("head", "HEAD does not point at the newest event", totals.graph_version))
    elif totals.accepted_at != _accepted_at(totals.heads):
        message = "accepted_at is not that of the newest event"
        found.append(Fault("head", message, totals.graph_version, field="accepted_at"))
    if totals.events != totals.graph_version or (totals.newest or 0) != totals.graph_version:
        message = (
            f"{totals.events} events stand, the newest at {totals.newest}; the head is {totals.graph_version}"
        )
        found.append(Fault("head", message, totals.graph_version))
    if totals.versions != totals.version_count:
        message = f"{totals.versions} versions stand where {totals.version_count} were written"
        found.append(Fault("version_count", message))
    return found


def _accepted_at(heads: list[dict[str, Any]]) -> str | None:
    """When the newest event was accepted, in the journal's own spelling; None where that is no time."""
    with suppress(AttributeError, TypeError, ValueError):
        return native_text(heads[0]["accepted_at"]) if heads else None
    return None


def _size_faults(tx: Tx, shard: str, chain: _Chain) -> list[Fault]:
    """The journal's count of bytes against the bodies: those of the walk, and those written since."""
    totals = tx.maybe(_TOTALS, shard=shard)
    if totals is None:
        return []
    size, at = chain.body_bytes, chain.link.graph_version
    while at < totals.graph_version:
        rows = chain_page(tx, shard, at, totals.graph_version)
        if not rows:
            break
        size, at = size + sum(map(_size, rows)), rows[-1].event["graph_version"]
    if totals.body_bytes == size:
        return []
    message = f"body_bytes is {totals.body_bytes} where bodies of {size} bytes were written"
    return [Fault("head", message, totals.graph_version, field="body_bytes")]


def _size(row: ChainRow) -> int:
    """Bytes of the bodies that an event wrote; what is no text is another fault's."""
    bodies = (write["properties"].get("body") for write in row.writes)
    return sum(len(body.encode()) for body in bodies if isinstance(body, str))


def _stray_faults(tx: Tx, shard: str) -> list[Fault]:
    rows = [
        *tx.many(_STRAYS, shard=shard, limit=FAULTS_MAX + 1),
        *tx.many(_LINKS, shard=shard, limit=FAULTS_MAX + 1),
        *tx.many(_KEYLESS, shard=shard, limit=FAULTS_MAX + 1),
        *_kindred(tx, shard),
    ]
    return [Fault(row.kind, f"{row.label}: no command made it", ref=row.ref, field=row.label) for row in rows]


def _kindred(tx: Tx, shard: str) -> list[StrayRow]:
    """Nodes with the labels of an atom's kind that are no atoms, looked for only if the store has any."""
    counted = tx.one(_LABELLED)
    if counted.nodes == counted.labelled:
        return []
    return tx.many(_KINDS, shard=shard, kinds=list(ATOMS_ONLY), limit=FAULTS_MAX + 1)


def _event_at(tx: Tx, shard: str, checkpoint: Mapping[str, Any]) -> str | None:
    at = checkpoint.get("graph_version")
    if not isinstance(at, int) or at < 1:
        return None
    rows = chain_page(tx, shard, at - 1, at, 1)
    return rows[0].event.get("checksum") if rows else None
