"""The journal as lines of JSON: what an export writes and a restore reads, line by line.

One file holds one or more shards. Each shard is a header, its events in order with the bodies that
they wrote, archived payloads before the event that cites them, receipts behind the event that they
tell of, and an end with the counts. Every line is canonical JSON, numbered, and holds the digest of
itself and of the line before, so a line that was changed, cut, doubled, moved or put in is known by
its number.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, ValidationError

from amos_graph.domain.canonical import canonical_bytes, parse_json
from amos_graph.domain.ids import RecordKind
from amos_graph.domain.model import Strict, from_validation
from amos_graph.errors import AmosError, invalid

FORMAT: Final = "amos-journal.v1"
_Version = Annotated[int, Field(ge=1, le=2**53 - 1)]
_Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
_Hash = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
_Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ShardStart(Strict):
    """The header of a shard: whose journal it is, and the head up to which it is here."""

    format: Literal["amos-journal.v1"]
    #: This is the part-th of `parts` shards of the file.
    part: _Version
    parts: _Version
    store_id: Annotated[str, Field(min_length=1, max_length=200)]
    shard: Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}/[a-z0-9_-]{1,64}$")]
    graph_version: _Version
    head_hash: _Hash
    accepted_at: str


class WrittenVersion(Strict):
    """One body that an event wrote; the rest of its Version is what the event says."""

    ref: str
    version: _Version
    kind: RecordKind
    body: str
    salt: str
    codec: Literal["json"]


class JournalEvent(Strict):
    """An event, with the bodies that it wrote, in the order in which it names them."""

    event: dict[str, Any]
    versions: list[WrittenVersion]


class ReceiptRecord(Strict):
    """The accepted result that an idempotency key is bound to."""

    scope_key: _Hex
    payload_digest: _Hash
    result: str
    graph_version: _Count
    operation: str
    recorded_at: str


class BoundReceipt(Strict):
    """A receipt; it stands behind the event of its version."""

    receipt: ReceiptRecord


class ArchivedPayload(Strict):
    """An evidence payload of the archive, in base64; it stands before the first event that cites it."""

    archived: _Hex
    content: str

    def payload(self) -> bytes:
        """The bytes. Raises ValueError when they are not what the digest says."""
        content = base64.b64decode(self.content, validate=True)
        if hashlib.sha256(content).hexdigest() != self.archived:
            raise ValueError("the payload is not the one that its digest names")
        return content


class ShardTotals(Strict):
    """What the shard's lines came to."""

    shard: str
    graph_version: _Version
    head_hash: _Hash
    events: _Count
    versions: _Count
    receipts: _Count
    archived: _Count


class ShardEnd(Strict):
    """The last line of a shard."""

    end: ShardTotals


Entry = ShardStart | JournalEvent | BoundReceipt | ArchivedPayload | ShardEnd
#: The member by which a line is known → what it is.
_KINDS: Final[Mapping[str, type[Entry]]] = {
    "format": ShardStart,
    "event": JournalEvent,
    "receipt": BoundReceipt,
    "archived": ArchivedPayload,
    "end": ShardEnd,
}


def archived_payload(content: bytes) -> ArchivedPayload:
    """The line of an archived payload."""
    return ArchivedPayload(
        archived=hashlib.sha256(content).hexdigest(), content=base64.b64encode(content).decode()
    )


@dataclass(slots=True)
class LineWriter:
    """Makes numbered lines, each chained to the one before."""

    number: int = 0
    digest: str = ""

    def line(self, entry: Entry) -> bytes:
        """The next line, with its end."""
        members = {name: canonical_bytes(value) for name, value in _members(entry)}
        self.number += 1
        line, self.digest = _sealed(members, self.number, self.digest)
        return line + b"\n"


def _members(entry: Entry) -> Iterator[tuple[str, Any]]:
    for name in type(entry).model_fields:
        value = getattr(entry, name)
        if isinstance(value, Strict):
            yield name, value.record()
        elif isinstance(value, list):
            yield name, [item.record() for item in cast("list[Strict]", value)]
        else:
            yield name, value


def _sealed(members: Mapping[str, bytes], number: int, before: str) -> tuple[bytes, str]:
    """The canonical line of these members, and its digest; that of the line before goes into it."""
    # Member by member, so that the digest costs no second way through the values.
    numbered = {**members, "line": str(number).encode()}
    digest = hashlib.sha256(before.encode() + _object(numbered)).hexdigest()
    return _object({**numbered, "line_digest": f'"{digest}"'.encode()}), digest


def _object(members: Mapping[str, bytes]) -> bytes:
    # All names are plain ASCII, whose order is that of RFC 8785.
    return b"{" + b",".join(b'"%s":%s' % (name.encode(), members[name]) for name in sorted(members)) + b"}"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is as it was written, and what it says."""

    number: int
    entry: Entry

    @property
    def at(self) -> str:
        return place(self.number)


def place(number: int) -> str:
    """How a fault names its line."""
    return f"line {number}"


def read_lines(raw: Iterable[bytes]) -> Iterator[Line]:
    """The lines of a file, each checked by itself and against the one before.

    Raises `schema_invalid`, naming the line, for the first that is not as an export wrote it.
    """
    digest = ""
    for number, line in enumerate(raw, start=1):
        entry, digest = _parsed(line, number, digest)
        yield Line(number, entry)


def _parsed(raw: bytes, number: int, before: str) -> tuple[Entry, str]:
    at = place(number)
    if not raw.endswith(b"\n"):
        raise invalid(at, "it is cut: its end is missing")
    found = parse_json(raw[:-1], at=at)
    if not isinstance(found, dict):
        raise invalid(at, "it is no JSON object")
    record = cast("dict[str, Any]", found)
    kind = next((model for name, model in _KINDS.items() if name in record), None)
    if kind is None or (number == 1 and kind is not ShardStart):
        raise invalid(at, f"this is no file of {FORMAT}" if number == 1 else "nobody knows this kind of line")
    claimed = record.get("line")
    if claimed != number or isinstance(claimed, bool):
        raise invalid(at, f"it says that it is line {claimed!r:.40}: a line is missing, doubled or moved")
    said = {name: value for name, value in record.items() if name not in ("line", "line_digest")}
    line, digest = _sealed({name: canonical_bytes(value) for name, value in said.items()}, number, before)
    if record.get("line_digest") != digest:
        raise invalid(at, "its digest does not fit: it was changed, or another line stood before it")
    if line + b"\n" != raw:
        raise invalid(at, "it is not canonical JSON, byte for byte")
    try:
        return kind.model_validate(said), digest
    except ValidationError as error:
        raise from_validation(error, at) from error


def event_entry(event: Mapping[str, Any], versions: Sequence[Mapping[str, Any]]) -> JournalEvent:
    """The entry of an event and its Versions, in the order in which the event names them.

    Raises `internal` when a Version is not one that the event wrote; check the event first.
    """
    stored = {(row["ref"], row["version"]): row for row in versions}
    try:
        rows = [stored[entry["ref"], entry["version"]] for entry in event["payload"]["writes"]]
    except KeyError as error:
        raise AmosError("internal", f"event {event['graph_version']} lacks a body") from error
    names = WrittenVersion.model_fields
    return JournalEvent(
        event=dict(event),
        versions=[WrittenVersion.model_validate({name: row[name] for name in names}) for row in rows],
    )
