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
from amos_graph.domain.verification import Fault, Link, check_event, check_record
from amos_graph.errors import AmosError, invalid
from amos_graph.graph.migrations import schema_faults
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, Tx
from amos_graph.queries.versions import hold_shard

PAGE: Final = 500
#: After this many faults verification stops and says so.
FAULTS_MAX: Final = 200
SHARDS_MAX: Final = 100_000
#: Every label that the store is built of; anything else is foreign.
LABELS: Final = tuple(
    sorted(
        {label for label, _ in KEYS.values()}
        | {model.label for model in PAYLOADS.values()}
        | {
            "Live",
            "Event",
            "Version",
            "Journal",
            "Receipt",
            "AccessClass",
            "InteractionStream",
            "Usage",
            "Migration",
            "Canary",
        }
    )
)


@dataclass(frozen=True, slots=True)
class ChainRow:
    event: dict[str, Any]
    labels: list[str]
    previous: list[int]
    writes: list[dict[str, Any]]


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
class Totals:
    store_id: str
    graph_version: int
    head_hash: str
    events: int
    newest: int | None
    heads: list[str]
    versions: int
    version_count: int
    body_bytes: int


@dataclass(frozen=True, slots=True)
class StrayRow:
    kind: str
    label: str
    ref: str | None


@dataclass(frozen=True, slots=True)
class ForeignRow:
    label: str
    ref: str | None


@dataclass(frozen=True, slots=True)
class DerivedRow:
    kind: str
    properties: dict[str, Any]
    newest: int | None
    newest_ref: str | None


@dataclass(frozen=True, slots=True)
class ShardRow:
    shard: str
    graph_version: int


_CHAIN = procedure("journal/verify_chain", ChainRow)
_RECORDS = procedure("journal/verify_records", RecordRow)
_TOTALS = procedure("journal/verify_totals", Totals)
_STRAYS = procedure("journal/verify_strays", StrayRow)
_LINKS = procedure("journal/verify_links", StrayRow)
_FOREIGN = procedure("journal/verify_foreign", ForeignRow)
_DERIVED = procedure("journal/verify_derived", DerivedRow)
_SHARDS = procedure("journal/list_shards", ShardRow)

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

    @property
    def ok(self) -> bool:
        return not self.faults

    def add(self, faults: Iterable[Fault]) -> None:
        room = FAULTS_MAX - len(self.faults)
        self.faults.extend(list(faults)[: max(room, 0)])

    def record(self) -> dict[str, Any]:
        return {
            "shard": self.shard,
            "ok": self.ok,
            "graph_version": self.graph_version,
            "events": self.events,
            "records": dict(sorted(self.records.items())),
            "projection_checked": self.projection_checked,
            "faults": [fault.record() for fault in self.faults],
            "faults_truncated": len(self.faults) >= FAULTS_MAX,
        }


def verify_all(graph: Graph, progress: Progress | None = None) -> list[Report]:
    """Verify every shard of the store, and that it holds no node that is not of its making."""
    shards = graph.read("verify", lambda tx: tx.many(_SHARDS, limit=SHARDS_MAX))
    reports = [verify(graph, row.shard, progress=progress) for row in shards]
    return [*reports, Report("", faults=foreign_faults(graph))]


def foreign_faults(graph: Graph) -> list[Fault]:
    """Nodes of the whole store that bear none of its labels."""
    rows = graph.read("verify", lambda tx: tx.many(_FOREIGN, labels=list(LABELS), limit=FAULTS_MAX))
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
        report.add(_checkpoint_faults(checkpoint, None, None))
        return report
    report.graph_version = totals.graph_version
    ranged = first is not None or last is not None
    begin, end = first or 1, last if last is not None else totals.graph_version
    if not 1 <= begin <= max(end, 1) or end > totals.graph_version:
        raise invalid("range", f"this shard has events 1 to {totals.graph_version}")
    _chain(graph, report, begin, end, progress)
    if not ranged:
        _projection(graph, report, progress)
        report.add(_confirmed(graph, shard, lambda tx: _totals_faults(tx, shard)))
        report.add(_confirmed(graph, shard, lambda tx: _stray_faults(tx, shard)))
        report.add(Fault("schema", sentence) for sentence in schema_faults(graph))
    report.projection_checked = not ranged
    if checkpoint is not None:
        at = graph.read("verify", lambda tx: _event_at(tx, shard, checkpoint))
        report.add(_checkpoint_faults(checkpoint, totals, at))
    return report


def checkpoint_of(graph: Graph, shard: str) -> dict[str, Any]:
    """What to keep outside the store: its identity, how many events it has, and the head's hash.

    Raises `not_found` for a shard that nobody wrote to.
    """
    totals = graph.read("checkpoint", lambda tx: tx.maybe(_TOTALS, shard=shard))
    if totals is None:
        raise AmosError("not_found", "this shard has no journal yet")
    return {
        "schema_version": "amos.v1",
        "store_id": totals.store_id,
        "shard": shard,
        "graph_version": totals.graph_version,
        "head_hash": totals.head_hash,
    }


def _confirmed(graph: Graph, shard: str, check: Callable[[Tx], list[Fault]]) -> list[Fault]:
    """Faults that are still there when no writer can be in the middle of something."""
    if not graph.read("verify", check):
        return []

    def again(tx: Tx) -> list[Fault]:
        hold_shard(tx, shard)
        return check(tx)

    return graph.write("verify", again)


def _chain(graph: Graph, report: Report, first: int, last: int, progress: Progress | None) -> None:
    link = Link(first - 1, GENESIS if first == 1 else None)
    while link.graph_version < last and len(report.faults) < FAULTS_MAX:
        page, link = graph.read("verify", lambda tx, at=link: _chain_page(tx, report.shard, at, last))
        report.add(page.faults)
        report.events += page.events
        if progress:
            progress("events", link.graph_version, last)
        if not page.events:
            break


@dataclass(frozen=True, slots=True)
class _Page:
    events: int
    faults: list[Fault]


def _chain_page(tx: Tx, shard: str, link: Link, last: int) -> tuple[_Page, Link]:
    rows = tx.many(_CHAIN, shard=shard, after=link.graph_version, upto=last, limit=PAGE)
    found: list[Fault] = []
    for row in rows:
        faults, link = check_event(row.event, row.labels, row.previous, row.writes, link)
        found += faults
    if not rows and link.graph_version < last:
        found.append(
            Fault("gap", f"events {link.graph_version + 1} to {last} are missing", link.graph_version + 1)
        )
    return _Page(len(rows), found), link


def _projection(graph: Graph, report: Report, progress: Progress | None) -> None:
    """Every record page by page, then what is derived from them."""
    after, shard = "", report.shard
    classes: set[str] = set()
    while len(report.faults) < FAULTS_MAX:
        rows = graph.read("verify", lambda tx, at=after: tx.many(_RECORDS, shard=shard, after=at, limit=PAGE))
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


def _as_map(row: RecordRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in RecordRow.__slots__}


def _page_faults(tx: Tx, shard: str, after: str) -> list[Fault]:
    rows = tx.many(_RECORDS, shard=shard, after=after, limit=PAGE)
    return [fault for row in rows for fault in check_record(shard, _as_map(row))]


def _derived_faults(tx: Tx, shard: str, classes: set[str]) -> list[Fault]:
    rows = tx.many(_DERIVED, shard=shard)
    found: list[Fault] = []
    for row in (row for row in rows if row.kind == "AccessClass"):
        ref = str(row.properties.get("access_class"))
        if _class_digest(row.properties) != ref:
            found.append(Fault("access_class_differs", "scope and policy are another class's", ref=ref))
    present = {row.properties.get("access_class") for row in rows if row.kind == "AccessClass"}
    found.extend(
        Fault("access_class_missing", "records of this class have no AccessClass node", ref=missing)
        for missing in sorted(classes - present)
    )
    heads = {
        row.properties.get("stream_id"): (row.properties.get("version"), row.properties.get("head_ref"))
        for row in rows
        if row.kind == "InteractionStream"
    }
    newest = {
        row.properties["stream_id"]: (row.newest, row.newest_ref)
        for row in rows
        if row.kind == "InteractionEvent"
    }
    found.extend(
        Fault(
            "stream_differs",
            f"the head is {heads.get(stream)}, the newest event {newest.get(stream)}",
            ref=str(stream),
        )
        for stream in sorted({*heads, *newest}, key=str)
        if heads.get(stream) != newest.get(stream)
    )
    return found


def _classes_of(rows: Iterable[RecordRow]) -> set[str]:
    """The access classes that a page's bodies belong to; an unreadable body is reported elsewhere."""
    found: set[str] = set()
    for row in rows:
        if row.kind in ("atom", "edge", "evidence") and row.body is not None:
            with suppress(AttributeError, KeyError, TypeError, ValueError):
                found.add(class_of(json.loads(row.body)))
    return found


def _class_digest(properties: Mapping[str, Any]) -> str | None:
    scope = {
        name.removeprefix("scope_"): value for name, value in properties.items() if name.startswith("scope_")
    }
    policy = properties.get("access_policy")
    try:
        return class_of({"scope": scope, "access_policy": json.loads(policy) if policy else None})
    except ValueError:
        return None


def _totals_faults(tx: Tx, shard: str) -> list[Fault]:
    totals = tx.maybe(_TOTALS, shard=shard)
    if totals is None:
        return [Fault("head", "the journal of this shard is gone")]
    found: list[Fault] = []
    expected = [totals.head_hash] if totals.graph_version else []
    if totals.heads != expected:
        found.append(Fault("head", "HEAD does not point at the newest event", totals.graph_version))
    if totals.events != totals.graph_version or (totals.newest or 0) != totals.graph_version:
        message = (
            f"{totals.events} events stand, the newest at {totals.newest}; the head is {totals.graph_version}"
        )
        found.append(Fault("head", message, totals.graph_version))
    if totals.versions != totals.version_count:
        message = f"{totals.versions} versions stand where {totals.version_count} were written"
        found.append(Fault("version_count", message))
    return found


def _stray_faults(tx: Tx, shard: str) -> list[Fault]:
    rows = [
        *tx.many(_STRAYS, shard=shard, limit=FAULTS_MAX),
        *tx.many(_LINKS, shard=shard, limit=FAULTS_MAX),
    ]
    return [Fault(row.kind, f"{row.label}: no command made it", ref=row.ref, field=row.label) for row in rows]


def _event_at(tx: Tx, shard: str, checkpoint: Mapping[str, Any]) -> str | None:
    at = checkpoint.get("graph_version")
    if not isinstance(at, int) or at < 1:
        return None
    rows = tx.many(_CHAIN, shard=shard, after=at - 1, upto=at, limit=1)
    return rows[0].event.get("checksum") if rows else None


def _checkpoint_faults(
    checkpoint: Mapping[str, Any] | None, totals: Totals | None, checksum: str | None
) -> list[Fault]:
    """What a head kept outside says about the store (T09, C71)."""
    if checkpoint is None:
        return []
    at = checkpoint.get("graph_version")
    if totals is None:
        return [Fault("checkpoint", f"checkpoint at {at}, the store has no journal of this shard")]
    found: list[Fault] = []
    if checkpoint.get("store_id") != totals.store_id:
        found.append(Fault("checkpoint", "this is another store than the checkpoint was taken of"))
    if not isinstance(at, int) or at > totals.graph_version:
        found.append(
            Fault("checkpoint", f"checkpoint at {at}, store at {totals.graph_version}", totals.graph_version)
        )
    elif at > 0 and checksum != checkpoint.get("head_hash"):
        found.append(Fault("checkpoint", f"event {at} is not the one that the checkpoint names", at))
    return found
