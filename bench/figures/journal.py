"""Events per second of what reads a whole journal: verify, export, check, restore and replay."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final

from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.verify import verify
from amos_graph.upkeep.export import export
from amos_graph.upkeep.replay import Store as JournalStore
from amos_graph.upkeep.replay import replay
from amos_graph.upkeep.restore import check_file, restore
from bench.figures import Figure, Measured, Run
from bench.graphs import require
from bench.measuring import Times, rate_row
from bench.samples import batches
from bench.stores import Store, opened, send

SHARDS: Final = 3
EDGES_EACH: Final = 3


def _measure(run: Run) -> Measured:
    atoms = run.count(2_000, 20)
    tenants = [_load(run, f"bench_journal_{number}", atoms) for number in range(SHARDS)]
    line_max = run.store.settings.journal_line_bytes_max
    graph, archive = run.store.graph, Archive(run.store.settings.archive_folder)
    shards = [tenant for tenant, _ in tenants]
    events = tenants[0][1]
    taken: dict[str, list[float]] = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        began = time.perf_counter()
        work()
        taken.setdefault(name, []).append(time.perf_counter() - began)

    with tempfile.TemporaryDirectory(prefix="amos-bench-") as folder:
        files = [Path(folder) / f"{number}.jsonl" for number in range(SHARDS)]
        for shard, file in zip(shards, files, strict=True):
            timed("verify", partial(_verified, graph, shard))
            timed("export", partial(export, graph, archive, [shard], file, line_bytes_max=line_max))
            timed("check_file", partial(check_file, file, line_bytes_max=line_max))
            run.told("verify and export", len(taken["export"]), SHARDS)
        if run.store.local is not None:
            with _another(run) as target:
                other = Archive(target.settings.archive_folder)
                for file in files[1:]:
                    timed("restore", partial(restore, target.graph, other, file, line_bytes_max=line_max))
                    run.told("restore", len(taken["restore"]), SHARDS - 1)
                source = JournalStore(graph, archive)
                timed("replay", partial(_replayed, source, JournalStore(target.graph, other), shards[0]))
    rows = [
        rate_row(f"journal.{name}_events_per_s", Times(tuple(seconds)), events, "events/s")
        for name, seconds in taken.items()
    ]
    return Measured(
        rows=tuple(rows),
        bars={row.figure.partition(".")[2]: row.value for row in rows},
        unit="events a second",
        notes=(
            f"{SHARDS} shards of {events:,} events each",
            "replay reads one store, writes another, and compares the graphs of both",
        ),
    )


def _another(run: Run) -> AbstractContextManager[Store]:
    """A second, empty server, beside the one that is measured."""
    settings = run.store.settings.model_copy(update={"neo4j_uri": None, "archive": None})
    return opened(settings, None, small=run.small)


def _load(run: Run, tenant: str, atoms: int) -> tuple[str, int]:
    """A shard of its own, and how many events it has."""
    context = run.store.context(tenant)
    version = 0
    for batch in batches(7, "j", atoms, EDGES_EACH):
        version = send(context, batch).graph_version
        run.told(f"load {tenant}", version, atoms * (1 + EDGES_EACH))
    return context.scope.shard, version


def _verified(graph: Graph, shard: str) -> None:
    require(verify(graph, shard).ok, "verification found a fault")


def _replayed(source: JournalStore, target: JournalStore, shard: str) -> None:
    done = replay(source, target, [shard])
    require(done[0].equal is True, "the graphs of source and target differ")


FIGURE: Final = Figure(
    name="journal",
    title="Verify, export, restore and replay",
    needs="fresh",
    rows=tuple(
        f"journal.{name}_events_per_s" for name in ("verify", "export", "check_file", "restore", "replay")
    ),
    measure=_measure,
)
