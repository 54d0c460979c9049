"""Restore: a journal file back into a store, after the whole file was found sound (reliability T29, T31)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from amos_graph.domain.journal_check import check_lines
from amos_graph.domain.journal_file import JournalEvent, Line, ShardEnd, ShardStart, place, read_lines
from amos_graph.errors import AmosError, invalid
from amos_graph.graph.archive import Archive
from amos_graph.graph.migrations import migrate
from amos_graph.graph.transactions import Graph
from amos_graph.upkeep.reading import Progress
from amos_graph.upkeep.rebuilding import Prefix, Rebuilt, Writer


@dataclass(frozen=True, slots=True)
class Checked:
    """What a sound file holds."""

    lines: int
    shards: tuple[ShardEnd, ...]

    def record(self) -> dict[str, Any]:
        return {"lines": self.lines, "shards": [shard.end.record() for shard in self.shards]}


def check_file(path: Path, *, line_bytes_max: int, progress: Progress | None = None) -> Checked:
    """Read a journal file from its first line to its last, without any store.

    Raises `schema_invalid` with the number of the first line that is not as an export wrote it, and
    `unavailable` when the file cannot be read.
    """
    return _check(path, line_bytes_max, progress, _nothing)


def restore(
    graph: Graph,
    archive: Archive,
    path: Path,
    *,
    line_bytes_max: int,
    progress: Progress | None = None,
) -> list[Rebuilt]:
    """Bring a store to what a journal file holds; run again it goes on, and adds nothing twice.

    Nothing is written before the whole file was read and compared with the store. Raises as
    `check_file`, and `expected_version_conflict` when the store's shard is another history, is ahead,
    or is written to meanwhile.
    """
    prefixes: dict[str, Prefix] = {}

    def compare(line: Line) -> None:
        entry = line.entry
        if isinstance(entry, ShardStart):
            prefixes[entry.shard] = Prefix(graph, entry)
        elif isinstance(entry, JournalEvent):
            prefixes[entry.event["shard"]].skips(entry.event)

    _check(path, line_bytes_max, progress, compare)
    migrate(graph)
    done: list[Rebuilt] = []
    writer: Writer | None = None
    with _opened(path) as file:
        # Read and checked once more: the file may have been changed since.
        for line in check_lines(read_lines(_raw_lines(file, line_bytes_max))):
            entry = line.entry
            if isinstance(entry, ShardStart):
                writer = Writer(graph, archive, Prefix(graph, entry))
            if writer is None:
                raise AmosError("internal", "a line stands before its shard")
            rebuilt = writer.take(entry)
            if rebuilt is not None:
                done.append(rebuilt)
            if progress and isinstance(entry, JournalEvent):
                progress("restored", entry.event["graph_version"], writer.prefix.start.graph_version)
    return done


def _check(
    path: Path, line_bytes_max: int, progress: Progress | None, see: Callable[[Line], None]
) -> Checked:
    shards: list[ShardEnd] = []
    total = number = 0
    with _opened(path) as file:
        for line in check_lines(read_lines(_raw_lines(file, line_bytes_max))):
            see(line)
            number = line.number
            if isinstance(line.entry, ShardStart):
                total = line.entry.graph_version
            elif isinstance(line.entry, ShardEnd):
                shards.append(line.entry)
            elif progress and isinstance(line.entry, JournalEvent):
                progress("checked", line.entry.event["graph_version"], total)
    return Checked(number, tuple(shards))


def _nothing(_: Line) -> None:
    """Without a store there is nothing to compare with."""


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise AmosError("unavailable", f"{path} cannot be read: {error.strerror}") from error


def _raw_lines(file: BinaryIO, line_bytes_max: int) -> Iterator[bytes]:
    """Lines as they are, none of them longer than the limit; a longer one is not read to its end."""
    number = 0
    while True:
        try:
            line = file.readline(line_bytes_max + 1)
        except OSError as error:
            raise AmosError("unavailable", f"the file cannot be read: {error.strerror}") from error
        if not line:
            return
        number += 1
        if len(line) > line_bytes_max:
            raise invalid(
                place(number),
                f"it is longer than {line_bytes_max} bytes (AMOS_JOURNAL_LINE_BYTES_MAX)",
            )
        yield line
