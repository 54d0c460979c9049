"""Load the history, count what came of it, and check it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from amos_graph.commands.execution import Context
from amos_graph.domain.canonical import canonical_bytes, digest
from amos_graph.encoding import open_encoder
from amos_graph.queries.verify import verify
from amos_graph.queries.versions import head_version
from amos_graph.upkeep.indexing import Indexer
from amos_graph.upkeep.sending import in_process
from bench.real import checks, questions
from bench.real.checks import require
from bench.real.history import (
    Command,
    change_commands,
    document_commands,
    edge_commands,
    read_changes,
    read_documents,
)
from bench.real.oracle import Oracle

CHANGES: Final = Path("peps") / "pep-changes.jsonl"
DOCUMENTS: Final = Path("peps") / "peps.jsonl"

Told = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of the run: what it did, and how long that took."""

    name: str
    count: int
    what: str
    seconds: float

    @property
    def rate(self) -> float:
        return self.count / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load sent and what the store made of it."""

    commands: int
    replayed: int
    lines: int


def silent(_name: str, _done: int, _total: int) -> None:
    """Tell nobody."""


def commands(folder: Path, limit: int | None) -> dict[str, list[Command]]:
    """Everything that is sent, by stage."""
    changes = read_changes(folder / CHANGES, limit)
    among = None if limit is None else {change.pep for change in changes}
    documents = read_documents(folder / DOCUMENTS, among)
    return {
        "changes": list(change_commands(changes)),
        "documents": list(document_commands(documents)),
        "edges": list(edge_commands(documents, changes)),
    }


def send_all(context: Context, name: str, batch: Iterable[Command], told: Told = silent) -> Loaded:
    """Send the commands in order; the same ones sent again answer with their first receipts."""
    send = in_process(context)
    rows = list(batch)
    total = sum(command.count for command in rows)
    done = replayed = 0
    for command in rows:
        key = f"real-{digest(command.payload)[:40]}"
        receipt = send("commit", command.payload, key, command.expected_versions)
        done += command.count
        replayed += bool(receipt["replayed"])
        told(name, done, total)
    return Loaded(len(rows), replayed, done)


def head(context: Context) -> int:
    """The shard's graph version."""
    return context.graph.read("bench", lambda tx: head_version(tx, context.scope.shard))


def run(context: Context, folder: Path, limit: int | None = None, told: Told = silent) -> list[Stage]:
    """Load, load again, check and verify; the stages with their figures.

    Raises CheckError with the first sentence that is not true.
    """
    stages: list[Stage] = []
    sent = commands(folder, limit)
    for name, batch in sent.items():
        began = time.monotonic()
        loaded = send_all(context, name, batch, told)
        seconds = time.monotonic() - began
        size = sum(len(canonical_bytes(command.payload)) for command in batch) / 1e6
        stages.append(
            Stage(f"load {name}", loaded.lines, f"{loaded.commands} commands, {size:.1f} MB", seconds)
        )
    stages.append(_again(context, sent, told))
    oracle = Oracle(folder / CHANGES, folder / DOCUMENTS, limit)
    asked = (
        questions.check_what_replaced,
        questions.check_what_was_needed,
        questions.check_status_in_a_year,
    )
    plain = (
        checks.check_statuses,
        checks.check_one_document,
        checks.check_courses,
        checks.check_succession,
        checks.check_two_clocks,
    )
    stages += _checked(context, oracle, (*plain, *asked), told)
    # A service beside this may have indexed some of it by now; what is true holds with all of it indexed.
    stages.append(_indexed(context, told))
    stages += _checked(context, oracle, asked, told)
    stages.append(_verified(context, told))
    return stages


def _checked(
    context: Context, oracle: Oracle, listed: Iterable[Callable[[Context, Oracle], str]], told: Told
) -> list[Stage]:
    stages: list[Stage] = []
    for check in listed:
        name = check.__name__.replace("_", " ")
        began = time.monotonic()
        told(name, 0, 1)
        stages.append(Stage(name, 0, check(context, oracle), time.monotonic() - began))
    return stages


def _indexed(context: Context, told: Told) -> Stage:
    began = time.monotonic()
    encoder = open_encoder(context.settings.encoder)
    Indexer(context.graph, encoder).catch_up(context.scope.shard, count=True, tell=told)
    return Stage("index", 0, f"vectors of {encoder.model.key}", time.monotonic() - began)


def _again(context: Context, sent: dict[str, list[Command]], told: Told) -> Stage:
    before, began = head(context), time.monotonic()
    total = 0
    for name, batch in sent.items():
        loaded = send_all(context, f"{name} again", batch, told)
        require(loaded.replayed == loaded.commands, f"{name}: a command was carried out twice")
        total += loaded.lines
    require(head(context) == before, "loading twice added something")
    return Stage("load all again", total, "nothing was added", time.monotonic() - began)


def _verified(context: Context, told: Told) -> Stage:
    began = time.monotonic()
    report = verify(context.graph, context.scope.shard, progress=told).record()
    require(report["ok"], f"verification found {report['faults'][:3]}")
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in report["records"].items())
    return Stage("verify", report["events"], f"events, no fault; {kinds}", time.monotonic() - began)
