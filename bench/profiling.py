"""Where the time of one kind of command goes: by statement, by Python function, and in all."""

from __future__ import annotations

import cProfile
import io
import pstats
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from amos_graph.commands.execution import Context
from amos_graph.graph.admission import Admission
from amos_graph.graph.procedures import Procedure
from amos_graph.graph.transactions import Tx
from amos_graph.queries.recall import recall
from bench.figures import Run
from bench.figures.commit import one_commit, shard_with_pool
from bench.figures.groups import one_atom
from bench.figures.recall import request
from bench.samples import Json, Samples
from bench.stores import send

#: What can be profiled: repetitions, in full and small, that are looked at after as many to warm up.
KINDS: Final = {"commit": (200, 3), "group": (60, 2), "batch": (5, 1), "recall": (100, 3)}
_FUNCTIONS: Final = 30
#: Commands of a group: as many as meet when 32 writers wait for one shard.
_GROUP: Final = 16


@dataclass(slots=True)
class _Statement:
    calls: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@contextmanager
def _statements(found: dict[str, _Statement]) -> Generator[None]:
    """Count and time each statement: until its last row is here, and how much of that Python works.

    Each is waited for, also those that an ordinary command sends one behind the other.
    """
    run, send = Tx._run, Tx.send  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    @contextmanager
    def timed(procedure: Procedure[Any]) -> Generator[None]:
        entry = found.setdefault(procedure.name, _Statement())
        began, cpu = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            entry.calls += 1
            entry.seconds += time.perf_counter() - began
            entry.cpu_seconds += time.thread_time() - cpu

    def timed_run(self: Tx, procedure: Procedure[Any], verb: Any, params: dict[str, Any]) -> list[Any]:
        with timed(procedure):
            return run(self, procedure, verb, params)

    def timed_send(self: Tx, procedure: Procedure[Any], *rest: Any, **params: Any) -> None:
        with timed(procedure):
            send(self, procedure, *rest, **params)
            self.settle()

    Tx._run, Tx.send = timed_run, timed_send  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        Tx._run, Tx.send = run, send  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]


def profile(run: Run, kind: str, out: Console) -> None:
    """Print where the time of one kind of command goes."""
    full, small = KINDS[kind]
    repetitions = run.count(full, small)
    work = _work(run, kind)
    for index in range(repetitions):
        work(index)
    found: dict[str, _Statement] = {}
    began, cpu = time.perf_counter(), time.process_time()
    with _statements(found):
        for index in range(repetitions, 2 * repetitions):
            work(index)
    taken, worked = time.perf_counter() - began, time.process_time() - cpu
    out.print(_table(kind, found, repetitions, taken, worked))
    began = time.perf_counter()
    for index in range(2 * repetitions, 3 * repetitions):
        work(index)
    plain = (time.perf_counter() - began) * 1_000 / repetitions
    out.print(f"{plain:.2f} ms each without waiting for every statement")
    profiler = cProfile.Profile()
    profiler.enable()
    for index in range(3 * repetitions, 4 * repetitions):
        work(index)
    profiler.disable()
    for order in ("tottime", "cumtime"):
        text = io.StringIO()
        pstats.Stats(profiler, stream=text).strip_dirs().sort_stats(order).print_stats(_FUNCTIONS)
        out.print(text.getvalue(), markup=False, highlight=False, soft_wrap=True)


def _work(run: Run, kind: str) -> Callable[[int], object]:
    samples = Samples(8)
    context, known = shard_with_pool(run.store, samples, run.count(1_000, 20))
    if kind == "commit":
        return lambda index: send(context, one_commit(samples, f"profile{index}", known))
    if kind == "group":
        return lambda index: _group(
            context, [one_atom(samples, f"profile{index}-{k}", "evd_pool0") for k in range(_GROUP)]
        )
    if kind == "batch":
        return lambda index: send(context, samples.batch(f"profile{index}", run.count(500, 20), 2, []))
    return lambda _: recall(context, request(context, samples.cue()))


class _Gathering(Admission[Any, Any]):
    """Takes commands as they come and does their work as one group, in one thread that can be profiled."""

    def __init__(self) -> None:
        super().__init__()
        self.gathered: list[Any] = []

    def submit(self, shard: str, work: Any, run: Any, **limits: int) -> Any:
        del shard, limits
        self.gathered.append((work, run))
        raise _GatheredError


class _GatheredError(Exception):
    """A command waits for the others of its group."""


def _group(context: Context, payloads: Sequence[Json]) -> None:
    graph, gathering = context.graph, _Gathering()
    queue, graph.writers = graph.writers, gathering
    try:
        for payload in payloads:
            with suppress(_GatheredError):
                send(context, payload)
    finally:
        graph.writers = queue
    run = gathering.gathered[0][1]
    for outcome in run([work for work, _ in gathering.gathered]):
        if isinstance(outcome, Exception):
            raise outcome


def _table(kind: str, found: dict[str, _Statement], repetitions: int, taken: float, worked: float) -> Table:
    each = 1_000 / repetitions
    table = Table(title=f"{kind}: one of {repetitions}", title_justify="left")
    table.add_column("statement")
    for name in ("calls", "ms", "of which Python works"):
        table.add_column(name, justify="right")
    for name, entry in sorted(found.items(), key=lambda pair: -pair[1].seconds):
        calls = f"{entry.calls / repetitions:.1f}"
        table.add_row(name, calls, f"{entry.seconds * each:.2f}", f"{entry.cpu_seconds * each:.2f}")
    statements = sum(entry.seconds for entry in found.values())
    inside = sum(entry.cpu_seconds for entry in found.values())
    rest = "begin, commit, and Python beside them"
    for name, wall, cpu in ((rest, taken - statements, worked - inside), ("in all", taken, worked)):
        table.add_row(name, "", f"{wall * each:.2f}", f"{cpu * each:.2f}")
    return table
