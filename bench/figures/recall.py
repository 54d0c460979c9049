"""Recall on a large graph, a small one, and one with a hub, against the bare text index."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.domain.packets import check_request
from amos_graph.domain.times import now
from amos_graph.graph.transactions import Graph
from amos_graph.queries.recall import recall
from amos_graph.queries.recall.packet import settled
from bench import graphs
from bench.figures import Figure, Measured, Run
from bench.graphs import require
from bench.measuring import Arm, Times, alternating, plain_row, ratio_row, time_row
from bench.rivals import read
from bench.samples import Samples

ITEMS: Final = 20


def request(context: Context, cue: str) -> dict[str, Any]:
    """What an agent asks: a cue, and 20 memories."""
    return {
        "cues": [cue],
        "scope": context.scope.record(),
        "target_processor": "reasoner",
        "max_items": ITEMS,
    }


def asking(context: Context) -> Callable[[str], object]:
    """Recall for a cue, in this context."""
    return lambda cue: recall(context, request(context, cue))


def full_text(graph: Graph, cue: str) -> list[dict[str, Any]]:
    """The rival: the same words, the same index, 50 ids by its own score."""
    return read(graph, "find_text", query=" ".join(f"search_text:{word}" for word in cue.split()))


def _measure(run: Run) -> Measured:
    large, small, hub = graphs.large(run), graphs.small(run), graphs.with_hub(run)
    graph = run.store.graph
    cues = _cues(run.count(600, 12))
    _check(hub, large, cues[: run.count(20, 3)])
    arms = alternating(
        {
            "recall, large": Arm(cues.__getitem__, asking(large)),
            "full text, top 50": Arm(cues.__getitem__, lambda cue: full_text(graph, cue)),
            "recall, small": Arm(cues.__getitem__, asking(small)),
            "recall, with hub": Arm(cues.__getitem__, asking(hub)),
        },
        n=run.count(400, 6),
        warmup=run.count(150, 2),
        tick=run.tick("recall"),
    )
    hit, trip = _cached(run, small, cues)
    crowd = _crowd(large, cues)
    found = [len(recall(large, request(large, cue))["items"]) for cue in cues[: run.count(50, 3)]]
    big, text, little, hubbed = arms.values()
    return Measured(
        rows=(
            ratio_row("recall.p95_over_full_text", big, text, 95),
            ratio_row("recall.p50_large_over_small", big, little, 50),
            ratio_row("recall.p95_hub_over_plain", hubbed, little, 95),
            ratio_row("recall.p50_over_full_text", big, text, 50),
            time_row("recall.large_p50", big, 50),
            time_row("recall.large_p95", big, 95),
            time_row("recall.small_p50", little, 50),
            time_row("recall.small_p95", little, 95),
            time_row("recall.hub_p95", hubbed, 95),
            time_row("recall.full_text_p50", text, 50),
            time_row("recall.full_text_p95", text, 95),
            ratio_row("recall.cache_hit_over_round_trip", hit, trip, 50),
            time_row("recall.cache_hit_p50", hit, 50),
            plain_row("recall.packets_per_s_8_clients", len(cues) / crowd, "packets/s", len(cues)),
            plain_row("recall.items", sum(found) / len(found), "items", len(found)),
        ),
        arms=arms,
        bars={name: times.percentile(95) * 1_000 for name, times in arms.items()},
        unit="ms p95",
    )


def _cached(run: Run, context: Context, cues: list[str]) -> tuple[Times, Times]:
    """A packet that was asked for just now, against the least that can be asked of Neo4j."""
    plenty = context.settings.model_copy(update={"packet_cache_bytes_max": 100_000_000})
    cached = replace(context, settings=plenty)
    asked = {**request(cached, cues[0]), "evaluated_at": now()}
    arms = alternating(
        {
            "cache hit": Arm(lambda _: asked, lambda again: recall(cached, again)),
            "round trip": Arm(lambda _: None, lambda _: read(cached.graph, "round_trip")),
        },
        n=run.count(400, 6),
        warmup=run.count(50, 2),
        tick=run.tick("cache"),
    )
    return arms["cache hit"], arms["round trip"]


def _crowd(context: Context, cues: list[str]) -> float:
    """Seconds in which eight callers, each sending when it was answered, ask all of these."""
    with ThreadPoolExecutor(8) as pool:
        began = time.perf_counter()
        list(pool.map(asking(context), cues))
        return time.perf_counter() - began


def _cues(count: int) -> list[str]:
    samples = Samples(4)
    return [samples.cue() for _ in range(count)]


def _check(hub: Context, large: Context, cues: list[str]) -> None:
    """The hub is where it should be, and nowhere else."""
    for context, expected in ((hub, True), (large, False)):
        reached = {_reaches_hub(context, cue) for cue in cues} - {None}
        require(reached == {expected}, "the hub takes part in the walk of the wrong graph")


def _reaches_hub(context: Context, cue: str) -> bool | None:
    """Whether the hub takes part in the walk; None for a cue that finds nothing and walks nowhere."""
    asked = check_request(request(context, cue), context.scope, now(), context.settings.items_max)
    read = settled(context, asked).search.read
    return graphs.HUB in read if read else None


FIGURE: Final = Figure(
    name="recall",
    title=f"Recall of {ITEMS} at {graphs.LARGE:,} atoms and {graphs.LARGE * graphs.EDGES_EACH:,} edges",
    needs="loaded",
    rows=(
        "recall.p95_over_full_text",
        "recall.p50_large_over_small",
        "recall.p95_hub_over_plain",
        "recall.p50_over_full_text",
        "recall.large_p50",
        "recall.large_p95",
        "recall.small_p50",
        "recall.small_p95",
        "recall.hub_p95",
        "recall.full_text_p50",
        "recall.full_text_p95",
        "recall.cache_hit_over_round_trip",
        "recall.cache_hit_p50",
        "recall.packets_per_s_8_clients",
        "recall.items",
    ),
    measure=_measure,
)
