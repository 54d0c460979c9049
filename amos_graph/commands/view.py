"""A shard under its lock, as the commands of a group that were decided so far leave it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from amos_graph.domain.events import Sealed
from amos_graph.domain.ids import RecordKind, kind_of
from amos_graph.domain.projection import KEYS, Node, content_digest
from amos_graph.domain.score import stated, with_numbers
from amos_graph.domain.state import Current, StreamHead
from amos_graph.domain.times import native_time
from amos_graph.errors import AmosError
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.diachronic import Reconstruction

ReadT = TypeVar("ReadT")


@dataclass(frozen=True, slots=True)
class RecordRow:
    ref: str
    kind: RecordKind
    version: int
    superseded: bool
    event_id: str
    body: str
    numbers: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ContentRow:
    content_digest: str
    atom_id: str


@dataclass(frozen=True, slots=True)
class EdgeRow:
    ref: str
    version: int
    event_id: str
    body: str
    numbers: dict[str, Any]


@dataclass(frozen=True, slots=True)
class HeadRow:
    stream_id: str
    version: int
    head_ref: str


@dataclass(frozen=True, slots=True)
class FoundEvent:
    event_id: str


@dataclass(frozen=True, slots=True)
class JudgmentRow:
    ref: str
    recorded_at: Any
    body: str


#: Adjudications of one subject that are looked at, oldest first.
JUDGMENTS_MAX: Final = 1_000


_READ = procedure("journal/read_records", RecordRow)
_SAME = procedure("journal/find_same_content", ContentRow)
_EDGES = procedure("journal/read_edges_of", EdgeRow)
_HEADS = procedure("journal/read_stream_heads", HeadRow)
_EVENTS = procedure("journal/find_events", FoundEvent)
_JUDGMENTS = procedure("govern/list_adjudications", JudgmentRow)


def by_kind(refs: Iterable[str]) -> dict[RecordKind, list[str]]:
    """Ids by the kind of record that they name, each once."""
    asked: dict[RecordKind, list[str]] = {kind: [] for kind in KEYS}
    for ref in dict.fromkeys(refs):
        asked[kind_of(ref)].append(ref)
    return asked


def read_records(tx: Tx, shard: str, refs: Iterable[str]) -> list[Current]:
    """The newest versions of the records that exist among `refs`."""
    asked = by_kind(refs)
    if not any(asked.values()):
        return []
    rows = tx.many(_READ, shard=shard, refs=asked)
    return [_current(row) for row in rows]


def _current(row: RecordRow) -> Current:
    body = json.loads(row.body)
    return Current(
        row.kind,
        row.ref,
        row.version,
        row.event_id,
        with_numbers(body, row.numbers),
        row.superseded,
        stated(body, row.numbers),
    )


def reconstructions(
    tx: Tx, shard: str, subject_ref: str, classes: Collection[str] | None
) -> list[Reconstruction]:
    """The judgments of a subject, all of them or those of the classes that a caller may see."""
    rows = tx.many(
        _JUDGMENTS,
        shard=shard,
        subject_ref=subject_ref,
        classes=None if classes is None else list(classes),
        limit=JUDGMENTS_MAX,
    )
    found: list[Reconstruction] = []
    for row in rows:
        payload = json.loads(row.body)["payload"]
        identity = payload["ratifier"]["identity_ref"]
        found.append(Reconstruction(row.ref, identity, native_time(row.recorded_at), payload))
    return found


def edges_of(
    tx: Tx, shard: str, atom_ids: Collection[str], states: Collection[str], limit: int
) -> list[Current]:
    """The edges at these atoms, in the given lifecycle states."""
    if not atom_ids:
        return []
    rows = tx.many(_EDGES, shard=shard, atom_ids=list(atom_ids), states=list(states), limit=limit)
    return [
        _current(RecordRow(row.ref, "edge", row.version, False, row.event_id, row.body, row.numbers))
        for row in rows
    ]


@dataclass(slots=True)
class _Touched:
    """What pending writes change, by every key under which a later command may look."""

    refs: set[str] = field(default_factory=set[str])
    digests: set[str] = field(default_factory=set[str])
    streams: set[str] = field(default_factory=set[str])
    #: Atoms at which an edge was written.
    ends: set[str] = field(default_factory=set[str])
    events: set[str] = field(default_factory=set[str])


class View:
    """What commands read of a shard.

    A group writes as late as it can: what a decided command changes stays pending until a later
    command asks for any of it. Then `enter` writes everything pending, in the same open transaction,
    and the answer is read anew. So each command sees exactly what it would see if the ones before it
    had run alone, and commands that do not meet are written together.
    """

    def __init__(self, tx: Tx, shard: str, enter: Callable[[], None]) -> None:
        self.shard = shard
        #: True once Neo4j failed; then the whole transaction is lost, not one command.
        self.broken = False
        self._tx = tx
        self._enter = enter
        self._touched = _Touched()
        self._records: dict[str, Current | None] = {}
        self._same: dict[tuple[str, tuple[str, ...]], str | None] = {}
        self._streams: dict[str, StreamHead | None] = {}
        self._own: dict[str, tuple[Current, ...]] = {}

    def know(
        self,
        *,
        refs: Iterable[str],
        records: Iterable[Mapping[str, Any]],
        digests: Iterable[str],
        states: Collection[str],
        same_content: Iterable[Mapping[str, str]],
        stream_ids: Iterable[str],
        streams: Iterable[Mapping[str, Any]],
    ) -> None:
        """Take what was read together with the lock; what was asked for and is not there does not exist."""
        self._records.update(dict.fromkeys(refs))
        self._records.update({row["ref"]: _current(RecordRow(**row)) for row in records})
        key = tuple(sorted(states))
        self._same.update({(digest, key): None for digest in digests})
        self._same.update({(row["content_digest"], key): row["atom_id"] for row in same_content})
        self._streams.update(dict.fromkeys(stream_ids))
        self._streams.update(
            {row["stream_id"]: StreamHead(row["version"], row["head_ref"]) for row in streams}
        )

    def records(self, refs: Iterable[str]) -> list[Current]:
        """The newest versions of the records that exist among `refs`."""
        wanted = dict.fromkeys(refs)
        self._settle(self._touched.refs, wanted)
        missing = [ref for ref in wanted if ref not in self._records]
        if missing:
            found = self._asked(lambda: read_records(self._tx, self.shard, missing))
            self._records.update(dict.fromkeys(missing))
            self._records.update({record.ref: record for record in found})
        return [record for ref in wanted if (record := self._records[ref]) is not None]

    def same_content(self, digests: Collection[str], states: Collection[str]) -> dict[str, str]:
        """Content digest → the first atom, in one of these lifecycle states, that says so."""
        self._settle(self._touched.digests, digests)
        key = tuple(sorted(states))
        missing = [digest for digest in dict.fromkeys(digests) if (digest, key) not in self._same]
        if missing:
            rows = self._asked(
                lambda: self._tx.many(_SAME, shard=self.shard, digests=missing, states=list(key))
            )
            self._same.update({(digest, key): None for digest in missing})
            self._same.update({(row.content_digest, key): row.atom_id for row in rows})
        return {digest: ref for digest in digests if (ref := self._same[digest, key]) is not None}

    def streams(self, stream_ids: Collection[str]) -> dict[str, StreamHead]:
        """The heads of interaction streams; one without events has none."""
        self._settle(self._touched.streams, stream_ids)
        missing = [ref for ref in stream_ids if ref not in self._streams]
        if missing:
            rows = self._asked(lambda: self._tx.many(_HEADS, shard=self.shard, stream_ids=missing))
            self._streams.update(dict.fromkeys(missing))
            self._streams.update({row.stream_id: StreamHead(row.version, row.head_ref) for row in rows})
        return {ref: head for ref in stream_ids if (head := self._streams[ref]) is not None}

    def own_edges(self, atom_ids: Collection[str], edges_max: int) -> dict[str, tuple[Current, ...]]:
        """The edges that come from each atom's own record. Raises `capacity_limited` as `edges_at` does."""
        self._settle(self._touched.ends, atom_ids)
        missing = [ref for ref in dict.fromkeys(atom_ids) if ref not in self._own]
        if missing:
            own: dict[str, list[Current]] = {ref: [] for ref in missing}
            for edge in self.edges_at(missing, ("active", "detached"), edges_max):
                if edge.body["source_ref"] in own and edge.body["derivation"] != "submitted":
                    own[edge.body["source_ref"]].append(edge)
            self._own.update({ref: tuple(edges) for ref, edges in own.items()})
        return {ref: edges for ref in atom_ids if (edges := self._own[ref])}

    def edges_at(self, atom_ids: Collection[str], states: Collection[str], edges_max: int) -> list[Current]:
        """The edges that leave or reach these atoms. Raises `capacity_limited` when there are too many."""
        self._settle(self._touched.ends, atom_ids)
        edges = self._asked(lambda: edges_of(self._tx, self.shard, atom_ids, states, edges_max + 1))
        if len(edges) > edges_max:
            raise AmosError(
                "capacity_limited",
                f"there are more than {edges_max} edges at the atoms of this command "
                "(AMOS_DETACHED_EDGES_MAX); archive neighbours first or raise the limit",
            )
        return edges

    def events(self, event_ids: Sequence[str]) -> set[str]:
        """Which of these events stand in the shard's journal."""
        self._settle(self._touched.events, event_ids)
        rows = self._asked(lambda: self._tx.many(_EVENTS, shard=self.shard, event_ids=list(event_ids)))
        return {row.event_id for row in rows}

    def adjudications(self, subject_ref: str) -> list[Reconstruction]:
        """The judgments of a subject, at the times at which the journal took them in."""
        self._settle(self._touched.refs, self._touched.refs)
        return self._asked(lambda: reconstructions(self._tx, self.shard, subject_ref, None))

    def touch(
        self,
        sealed: Sequence[Sealed],
        nodes: Sequence[Node],
        standing: Iterable[tuple[str, str]],
        streams: Iterable[Mapping[str, Any]],
    ) -> None:
        """Note what a decided command will change."""
        touched = self._touched
        changed = {ref for ref, _ in standing} | {node.ref for node in nodes}
        changed |= {node.properties["of_ref"] for node in nodes if node.kind == "score"}
        before = [record for ref in changed if (record := self._records.get(ref)) is not None]
        touched.refs |= changed
        touched.digests |= {content_digest(record.body) for record in before if record.kind == "atom"}
        touched.events |= {entry.event["event_id"] for entry in sealed}
        touched.streams |= {row["stream_id"] for row in streams}
        for node in nodes:
            if node.kind == "atom":
                touched.digests.add(node.properties["content_digest"])
            elif node.kind in ("edge", "score") and "target_ref" in node.properties:
                touched.ends |= {node.properties["source_ref"], node.properties["target_ref"]}

    def _settle(self, touched: Collection[str], asked: Iterable[str]) -> None:
        """Enter what is pending if anything of it is asked for, and forget what was read of it."""
        if not touched or not any(ref in touched for ref in asked):
            return
        self._asked(self._enter)
        for ref in self._touched.refs:
            self._records.pop(ref, None)
        for ref in self._touched.streams:
            self._streams.pop(ref, None)
        for ref in self._touched.ends:
            self._own.pop(ref, None)
        self._same = {key: ref for key, ref in self._same.items() if key[0] not in self._touched.digests}
        self._touched = _Touched()

    def _asked(self, read: Callable[[], ReadT]) -> ReadT:
        try:
            return read()
        except BaseException:
            self.broken = True
            raise
