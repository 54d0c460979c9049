"""Load transcripts: evidence, interaction events, tool outcomes and judged episodes (`amos load chat`).

Everything has an id that the conversation and the place in it determine, and every command a key
that its content determines. So a load that was killed is simply run again, and a second run adds
nothing: what is there answers with its first receipt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from amos_graph.domain.canonical import canonical_bytes, digest
from amos_graph.domain.envelope import check_atom
from amos_graph.domain.scope import Scope
from amos_graph.errors import AmosError, Fault
from amos_graph.upkeep.sending import Json, Send
from amos_graph.upkeep.transcript_records import Records, closing_records, message_records
from amos_graph.upkeep.transcripts import Conversation, Line, read_conversation, read_lines

#: Messages and bytes of one command. A message is sent twice, as evidence and as event.
BATCH_MESSAGES: Final = 200
BATCH_BYTES: Final = 3_000_000
#: Refusals that the report lists; more are counted.
REFUSALS_MAX: Final = 1_000

#: Refusals of one conversation, after which the others are still worth loading. Any other failure
#: (no service, no right to write) would meet every conversation alike and ends the load.
_OF_THE_LINE: Final = frozenset(
    {"schema_invalid", "expected_version_conflict", "idempotency_conflict", "evidence_denied", "not_found"}
)
#: Records are checked before the first one is sent; whose tenant they will have plays no part in that.
_ANY_SCOPE: Final = Scope(tenant_id="any", workspace_id="any")

Progress = Callable[["Loaded"], None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A conversation that was not loaded (or not in full), and which field of which line is why."""

    line: int
    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """How far a load has come."""

    bytes_done: int
    bytes_total: int
    conversations: int
    messages: int


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did. `ok` is false when a line was refused."""

    path: str
    lines: int
    conversations: int
    messages: int
    #: Records that the store did not have before, by kind: evidence, atoms, entities, edges.
    created: Mapping[str, int]
    commands: int
    #: Commands that had been carried out before and answered with their first receipt.
    replayed: int
    refused: int
    refusals: tuple[Refusal, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        return self.refused == 0

    def record(self) -> dict[str, Any]:
        """The report as JSON."""
        return {**asdict(self), "refusals": [asdict(refusal) for refusal in self.refusals], "ok": self.ok}


@dataclass(slots=True)
class _Tally:
    lines: int = 0
    conversations: int = 0
    messages: int = 0
    commands: int = 0
    replayed: int = 0
    refused: int = 0
    created: dict[str, int] = field(
        default_factory=lambda: {"evidence": 0, "atoms": 0, "entities": 0, "edges": 0}
    )
    refusals: list[Refusal] = field(default_factory=list[Refusal])

    def refuse(self, line: int, error: AmosError) -> None:
        self.refused += 1
        for entry in error.faults or (Fault("", error.message),):
            if len(self.refusals) < REFUSALS_MAX:
                self.refusals.append(Refusal(line, entry.path, error.code, entry.message))

    def count(self, receipt: Json) -> None:
        self.commands += 1
        if receipt.get("replayed"):
            self.replayed += 1
            return
        for ref in receipt["created"]:
            kind = "evidence" if ref.startswith("evd_") else "entities" if ref.startswith("ent:") else "atoms"
            self.created[kind] += 1
        self.created["edges"] += len(receipt["linked"])


def load_chat(send: Send, path: Path, progress: Progress | None = None) -> LoadReport:
    """Load a file of conversations, one a line.

    A line with a fault is refused as a whole and named in the report; the others are loaded.
    Raises OSError when the file cannot be read, and AmosError when the store cannot be written.
    """
    began = time.monotonic()
    total = path.stat().st_size
    tally = _Tally()
    for line in read_lines(path):
        tally.lines += 1
        _load_line(send, line, tally)
        if progress:
            progress(Loaded(line.end, total, tally.conversations, tally.messages))
    return LoadReport(
        path=str(path),
        lines=tally.lines,
        conversations=tally.conversations,
        messages=tally.messages,
        created=dict(tally.created),
        commands=tally.commands,
        replayed=tally.replayed,
        refused=tally.refused,
        refusals=tuple(tally.refusals),
        seconds=time.monotonic() - began,
    )


def _load_line(send: Send, line: Line, tally: _Tally) -> None:
    try:
        conversation = read_conversation(line)
        batches = list(_batches(conversation))
    except AmosError as error:
        tally.refuse(line.number, error)
        return
    for payload in batches:
        try:
            receipt = send("commit", payload, f"chat-{digest(payload)[:40]}")
        except AmosError as error:
            if error.code not in _OF_THE_LINE:
                raise
            tally.refuse(line.number, error)
            return
        tally.count(receipt)
    tally.conversations += 1
    tally.messages += len(conversation.messages)


def _batches(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """The conversation as bounded commands, every record of it checked beforehand."""
    groups = [
        *((f"messages[{at}]", part) for at, part in enumerate(message_records(conversation))),
        *(("", part) for part in closing_records(conversation)),
    ]
    for at, part in groups:
        _check(part, at)
    pending: list[Records] = []
    size = 0
    for _, part in groups:
        part_bytes = len(canonical_bytes([*part.events, *part.atoms]))
        if pending and (len(pending) >= BATCH_MESSAGES or size + part_bytes > BATCH_BYTES):
            yield _payload(pending)
            pending, size = [], 0
        pending.append(part)
        size += part_bytes
    yield _payload(pending)


def _payload(parts: Sequence[Records]) -> dict[str, Any]:
    return {
        "events": [event for part in parts for event in part.events],
        "atoms": [atom for part in parts for atom in part.atoms],
    }


def _check(part: Records, at: str) -> None:
    """Raise `schema_invalid` with the place in the line for a record that the store would refuse."""
    for atom in part.atoms:
        try:
            check_atom(atom, _ANY_SCOPE, at)
        except AmosError as error:
            found = error.faults or (Fault(at, error.message),)
            faults = [Fault(_place(fault.path), fault.message) for fault in found]
            raise AmosError(error.code, f"{faults[0].path}: {faults[0].message}", faults) from error


def _place(path: str) -> str:
    """The field of the line that a field of the atom was made from."""
    for made, written in (
        (".payload.tool_result", ".content"),
        (".payload.actor", ".name"),
        (".payload", ""),
    ):
        path = path.replace(made, written, 1)
    return path.removeprefix(".")
