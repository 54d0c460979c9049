"""Whether the lines of a journal file make whole, sound shards (reliability T29, T31).

The same checks as `verify` makes of events in the graph, and that each body is a record which can be
projected, so that a restore which has begun to write has nothing left to refuse.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from amos_graph.domain.events import GENESIS, event_node, event_record
from amos_graph.domain.journal_file import (
    ArchivedPayload,
    BoundReceipt,
    JournalEvent,
    Line,
    ShardEnd,
    ShardStart,
    ShardTotals,
    WrittenVersion,
    place,
)
from amos_graph.domain.projection import project
from amos_graph.domain.times import canonical_time, parse_time
from amos_graph.domain.verification import UNREADABLE, Link, check_event
from amos_graph.errors import AmosError, invalid


def archived_in(kind: str, body: str) -> str | None:
    """The digest of the archived payload that an evidence record points at, if it does."""
    # Most bodies are no evidence and most evidence is inline: the word is looked for before it is parsed.
    if kind != "evidence" or '"archived":true' not in body:
        return None
    payload = json.loads(body)["payload"]
    return payload["sha256"] if payload.get("archived") is True else None


def check_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """The same lines, each after it was found to belong where it stands.

    Raises `schema_invalid`, naming the line, for the first that does not, and for a file that ends early.
    """
    shard: _Shard | None = None
    done = parts = number = 0
    shards: set[str] = set()
    for line in lines:
        number, entry = line.number, line.entry
        try:
            if isinstance(entry, ShardStart):
                if shard is not None:
                    _fault("a shard begins before the one before has ended")
                if done == parts and done:
                    _fault("it stands behind the end of the file")
                if entry.part != done + 1 or (parts and entry.parts != parts) or entry.part > entry.parts:
                    _fault(f"shard {done + 1} of {parts or entry.parts} was to begin here")
                if entry.shard in shards:
                    _fault(f"{entry.shard} stands twice in this file")
                shards.add(entry.shard)
                shard, parts = _Shard(entry), entry.parts
            elif shard is None:
                _fault("it stands behind the end of a shard")
            elif isinstance(entry, ShardEnd):
                shard.end(entry.end)
                shard, done = None, done + 1
            else:
                shard.take(entry)
        except AmosError as error:
            raise invalid(line.at, error.message) from error
        yield line
    if number == 0:
        raise invalid(place(1), "the file is empty")
    if shard is not None or done < parts:
        raise invalid(place(number + 1), f"the file ends here, in shard {min(done + 1, parts)} of {parts}")


def _fault(message: str) -> None:
    raise AmosError("schema_invalid", message)


@dataclass(slots=True)
class _Shard:
    """What the lines of one shard were so far."""

    start: ShardStart
    link: Link = field(default_factory=lambda: Link(0, GENESIS))
    accepted_at: str = ""
    #: The newest version of the command that the last event belongs to.
    command_last: int = 0
    versions: int = 0
    receipts: int = 0
    last_key: str = ""
    #: Archived payloads that a line holds; and those of them that no event has cited yet.
    archived: set[str] = field(default_factory=set[str])
    uncited: set[str] = field(default_factory=set[str])

    def take(self, entry: JournalEvent | BoundReceipt | ArchivedPayload) -> None:
        if isinstance(entry, JournalEvent):
            self._event(entry)
        elif isinstance(entry, BoundReceipt):
            self._receipt(entry)
        else:
            self._archived(entry)

    def _event(self, entry: JournalEvent) -> None:
        event = entry.event
        at = self.link.graph_version + 1
        try:
            properties = event_node(event)
            if event_record(properties) != event:
                _fault(f"event {at} has a field that no event has")
            rows = [version_row(event, version) for version in entry.versions]
            writes = [
                {"properties": {**row, "recorded_at": parse_time(row["recorded_at"])}, "labels": ["Version"]}
                for row in rows
            ]
            faults, link = check_event(properties, ["Event"], [at - 1] if at > 1 else [], writes, self.link)
            if faults:
                _fault(f"event {at}: {faults[0].kind}: {faults[0].message}")
            if event["shard"] != self.start.shard:
                _fault(f"event {at} is of another shard")
            self._command(event["payload"]["command"], at)
            for version in entry.versions:
                self._body(event, version)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise AmosError("schema_invalid", f"event {at} is no event: {type(error).__name__}") from error
        if self.uncited:
            _fault(f"event {at} does not cite the archived payload before it")
        self.link, self.accepted_at, self.last_key = link, event["accepted_at"], ""
        self.versions += len(entry.versions)

    def _command(self, command: Mapping[str, Any], at: int) -> None:
        """Events of one command stand together and are all there: only its end is a readable version."""
        begins = self.command_last < at
        if not (begins == (command["first"] == at) and command["last"] >= at):
            _fault(f"event {at} does not belong to the command around it")
        if not begins and command["last"] != self.command_last:
            _fault(f"event {at} does not belong to the command around it")
        self.command_last = command["last"]

    def _body(self, event: Mapping[str, Any], version: WrittenVersion) -> None:
        try:
            node = project(version.kind, self.start.shard, json.loads(version.body), event["event_id"])
            payload = archived_in(version.kind, version.body)
        except UNREADABLE as error:
            said = error.message if isinstance(error, AmosError) else type(error).__name__
            raise AmosError("schema_invalid", f"{version.ref} is no {version.kind}: {said}") from error
        if (node.ref, node.version) != (version.ref, version.version):
            _fault(f"the body of {version.ref} is another record's or another version's")
        if payload is not None:
            if payload not in self.archived:
                _fault(f"{version.ref} cites an archived payload that no line before holds")
            self.uncited.discard(payload)

    def _receipt(self, entry: BoundReceipt) -> None:
        receipt = entry.receipt
        if receipt.graph_version != self.link.graph_version or self.command_last > self.link.graph_version:
            _fault(f"a receipt of version {receipt.graph_version} does not belong here")
        if receipt.scope_key <= self.last_key:
            _fault("the receipts of a version are in the order of their keys, each once")
        try:
            result = json.loads(receipt.result)
            sound = result["graph_version"] == receipt.graph_version
            sound = sound and canonical_time(receipt.recorded_at) == receipt.recorded_at
        except (KeyError, TypeError, ValueError, RecursionError):
            sound = False
        if not sound:
            _fault("it is no receipt of this version")
        self.last_key = receipt.scope_key
        self.receipts += 1

    def _archived(self, entry: ArchivedPayload) -> None:
        try:
            entry.payload()
        except ValueError as error:
            raise AmosError("schema_invalid", "the archived payload is not what its digest names") from error
        if entry.archived in self.archived:
            _fault("this archived payload stands twice")
        self.archived.add(entry.archived)
        self.uncited.add(entry.archived)

    def end(self, totals: ShardTotals) -> None:
        """Demand that the shard is whole."""
        start, link = self.start, self.link
        if (link.graph_version, link.checksum) != (start.graph_version, start.head_hash):
            _fault(f"the shard ends at event {link.graph_version} and was to end at {start.graph_version}")
        if self.accepted_at != start.accepted_at or self.command_last != link.graph_version or self.uncited:
            _fault("the shard does not end as its header says")
        expected = shard_totals(
            start, versions=self.versions, receipts=self.receipts, archived=len(self.archived)
        )
        if totals != expected:
            _fault("its counts are not those of the lines before")


def shard_totals(start: ShardStart, *, versions: int, receipts: int, archived: int) -> ShardTotals:
    """The end of a shard: a chain without gaps has as many events as its head's version."""
    return ShardTotals(
        shard=start.shard,
        graph_version=start.graph_version,
        head_hash=start.head_hash,
        events=start.graph_version,
        versions=versions,
        receipts=receipts,
        archived=archived,
    )


def version_row(event: Mapping[str, Any], version: WrittenVersion) -> dict[str, Any]:
    """The row of a Version, as `seal` makes it."""
    return {
        "shard": event["shard"],
        "graph_version": event["graph_version"],
        "recorded_at": event["accepted_at"],
        **{name: getattr(version, name) for name in _ROW},
    }


_ROW: Final = tuple(WrittenVersion.model_fields)
