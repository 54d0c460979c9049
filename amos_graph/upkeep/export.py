"""Export: the verifiable journal as lines of JSON, which is the online backup (reliability T29, N16)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from amos_graph.domain.journal_file import LineWriter, ShardEnd, ShardStart
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.journal import demand_head, list_shards
from amos_graph.upkeep.reading import Progress, shard_entries, shard_start


@dataclass(frozen=True, slots=True)
class Exported:
    """One shard as it stands in the file."""

    start: ShardStart
    end: ShardEnd

    def record(self) -> dict[str, Any]:
        return {**self.end.end.record(), "store_id": self.start.store_id}


def export(
    graph: Graph,
    archive: Archive,
    shards: Sequence[str],
    path: Path,
    *,
    line_bytes_max: int,
    progress: Progress | None = None,
) -> list[Exported]:
    """Write the journals of these shards to a file, readable by its owner only, while writers go on.

    The file appears whole or not at all, in place of one of the same name. Raises `not_found` for a
    shard without a journal, `internal` with the first fault of a journal, `capacity_limited` for an
    event larger than a line may be, and `unavailable` when the disk refuses.
    """
    starts = [
        shard_start(shard, demand_head(graph, shard), part, len(shards))
        for part, shard in enumerate(shards, start=1)
    ]
    with _replacing(path) as file:
        writer = LineWriter()
        done: list[Exported] = []
        for start in starts:
            end = None
            for entry in shard_entries(graph, archive, start, progress):
                line = writer.line(entry)
                if len(line) > line_bytes_max:
                    raise AmosError(
                        "capacity_limited",
                        f"line {writer.number} has {len(line)} bytes, and AMOS_JOURNAL_LINE_BYTES_MAX is "
                        f"{line_bytes_max}: raise it, for the restore too",
                    )
                file.write(line)
                end = entry if isinstance(entry, ShardEnd) else None
            if end is None:
                raise AmosError("internal", f"the entries of {start.shard} have no end")
            done.append(Exported(start, end))
    return done


def all_shards(graph: Graph) -> list[str]:
    """Every shard that has a journal. Raises `not_found` when there is none."""
    shards = [row.shard for row in list_shards(graph) if row.graph_version > 0]
    if not shards:
        raise AmosError("not_found", "this store has no journal yet")
    return shards


@contextmanager
def _replacing(path: Path) -> Generator[BinaryIO]:
    """A file that takes the place of `path` when all of it is on the disk, and otherwise leaves nothing."""
    try:
        # Beside it, because a rename is one step only within a file system; with mode 0600, because it
        # holds every text and every salt.
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        partial = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise AmosError("unavailable", f"{path} cannot be written: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    """Make the new name durable too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
