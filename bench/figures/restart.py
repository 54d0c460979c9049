"""What the first recall costs after Neo4j was restarted, and how much warming up at a start takes off it."""

from __future__ import annotations

import time
from typing import Final

from amos_graph.api.warming import warm_up
from amos_graph.commands.execution import Context
from amos_graph.queries.recall import recall
from bench import graphs
from bench.figures import Figure, Measured, Run
from bench.figures.recall import request
from bench.measuring import Arm, alternating, runs_row, time_row
from bench.samples import Samples


def _asked_ms(context: Context, cue: str) -> float:
    began = time.perf_counter()
    recall(context, request(context, cue))
    return (time.perf_counter() - began) * 1_000


def _measure(run: Run) -> Measured:
    if run.store.local is None:
        return Measured(rows=(), notes=("a server that was given is not restarted, so nothing was measured",))
    samples = Samples(5)
    rounds = run.count(5, 1)
    first, second, warming, warmed = list[float](), list[float](), list[float](), list[float]()
    graphs.small(run)
    for number in range(rounds):
        context = _restarted(run)
        first.append(_asked_ms(context, samples.cue()))
        second.append(_asked_ms(context, samples.cue()))
        context = _restarted(run)
        began = time.perf_counter()
        warm_up(context.graph, context.settings)
        warming.append((time.perf_counter() - began) * 1_000)
        warmed.append(_asked_ms(context, samples.cue()))
        run.told("restart", number + 1, rounds)
    context = graphs.small_again(run)
    warm = alternating(
        {"warm": Arm(lambda _: samples.cue(), lambda cue: recall(context, request(context, cue)))},
        n=run.count(300, 5),
        warmup=run.count(100, 2),
    )["warm"]
    rows = (
        runs_row("restart.first_recall", first, "ms"),
        runs_row("restart.second_recall", second, "ms"),
        runs_row("restart.first_recall_warmed_up", warmed, "ms"),
        runs_row("restart.warming_up", warming, "ms"),
        time_row("restart.warm_recall_p50", warm, 50),
    )
    return Measured(rows=rows, bars={row.figure.partition(".")[2]: row.value for row in rows}, unit="ms")


def _restarted(run: Run) -> Context:
    """The small graph's context on a server that has answered nothing yet but what a start asks."""
    run.store.stop()
    run.store.start()
    return graphs.small_again(run)


FIGURE: Final = Figure(
    name="restart",
    title="The first recall after a restart of Neo4j",
    needs="loaded",
    rows=(
        "restart.first_recall",
        "restart.second_recall",
        "restart.first_recall_warmed_up",
        "restart.warming_up",
        "restart.warm_recall_p50",
    ),
    measure=_measure,
)
