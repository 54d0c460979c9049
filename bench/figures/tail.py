"""Recall behind the index: a full tail of records without vectors against none, and what writers leave."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.encoding import open_encoder
from amos_graph.queries.recall import recall
from amos_graph.upkeep.indexing import index_marks, keep_indexing
from bench.figures import Figure, Measured, Run
from bench.figures.recall import asking, request
from bench.graphs import BATCH, EDGES_EACH, indexed, require, uncached
from bench.measuring import Arm, Times, alternating, plain_row, ratio_row, time_row
from bench.samples import Json, Samples
from bench.stores import send

#: Atoms of either shard before the tail: few, so that the tail weighs much.
ATOMS: Final = 2_000
WRITERS: Final = 4
SUSTAINED_S: Final = 60


def _measure(run: Run) -> Measured:
    samples = Samples(9)
    tail = run.count(uncached(run.store.context()).settings.tail_max, 20)
    level, behind = (_shard(run, samples, name, tail, whole=name == "level") for name in ("level", "behind"))
    cues = [samples.cue() for _ in range(run.count(550, 8))]
    arms = alternating(
        {
            "no tail": Arm(cues.__getitem__, asking(level)),
            "full tail": Arm(cues.__getitem__, asking(behind)),
        },
        n=run.count(400, 6),
        warmup=run.count(150, 2),
        tick=run.tick("tail"),
    )
    lag = _recalled(run, level, samples)
    commits, longest, seconds = _sustained(run, level, samples)
    none, full = arms["no tail"], arms["full tail"]
    return Measured(
        rows=(
            ratio_row("tail.recall_p95_full_over_none", full, none, 95),
            ratio_row("tail.recall_p50_full_over_none", full, none, 50),
            time_row("tail.recall_p95_none", none, 95),
            time_row("tail.recall_p95_full", full, 95),
            time_row("tail.written_and_recalled_p50", lag, 50),
            plain_row("tail.longest", longest, "records", commits),
            plain_row("tail.commits_per_s", commits / seconds, "commits/s", commits),
        ),
        arms=arms,
        bars={name: times.percentile(95) * 1_000 for name, times in arms.items()},
        unit="ms p95",
        notes=(
            f"the tail is {tail} atoms without vectors, all that a packet looks at;",
            f"its longest is that of {SUSTAINED_S} s of commits by {WRITERS} writers beside the index worker",
        ),
    )


def _shard(run: Run, samples: Samples, name: str, tail: int, *, whole: bool) -> Context:
    """A shard of its own, with vectors of all its atoms, or of all but the last ones."""
    context = uncached(run.store.context())
    atoms, known = run.count(ATOMS, 40), list[str]()
    for start in range(0, atoms, BATCH):
        known += _batch(context, samples, f"{name}{start}", min(BATCH, atoms - start), known)
        run.told(f"load {name}", start, atoms)
    if not whole:
        indexed(run, context)
    _batch(context, samples, f"{name}tail", tail, known)
    return indexed(run, context) if whole else context


def _batch(context: Context, samples: Samples, name: str, atoms: int, known: list[str]) -> list[str]:
    payload = samples.batch(name, atoms, EDGES_EACH, known)
    send(context, payload)
    return [atom["id"] for atom in payload["atoms"]]


def _recalled(run: Run, context: Context, samples: Samples) -> Times:
    """Seconds from sending a memory until a packet that holds it is there."""
    seconds: list[float] = []
    for number in range(run.count(300, 3)):
        atom = samples.atom(f"fresh{number}", "evd_level0")
        began = time.perf_counter()
        send(context, {"atoms": [atom]})
        packet = recall(context, request(context, atom["payload"]["statement"]))
        seconds.append(time.perf_counter() - began)
        found = {item["atom_ref"] for item in packet["items"]}
        require(atom["id"] in found, f"{atom['id']} was written and not recalled")
    return Times(tuple(seconds))


def _sustained(run: Run, context: Context, samples: Samples) -> tuple[int, int, float]:
    """Commits that were made, the longest tail seen meanwhile, and the seconds that it took."""
    indexed(run, context)
    stopping, ended = threading.Event(), threading.Event()
    encoder = open_encoder(context.settings.encoder)
    worker = threading.Thread(
        target=keep_indexing, args=(context.graph, encoder, context.settings.index_interval_s, stopping)
    )
    lock, longest = threading.Lock(), 0

    def write(writer: int) -> int:
        number = 0
        while not ended.is_set():
            with lock:
                atom: Json = samples.atom(f"steady{writer}-{number}", "evd_level0")
            send(context, {"atoms": [atom]})
            number += 1
        return number

    worker.start()
    began = time.perf_counter()
    lasting = run.count(SUSTAINED_S, 2)
    try:
        with ThreadPoolExecutor(WRITERS) as pool:
            writing: list[Any] = [pool.submit(write, writer) for writer in range(WRITERS)]
            while (passed := time.perf_counter() - began) < lasting:
                longest = max(longest, _behind(context))
                run.told("sustained", int(passed), lasting)
                time.sleep(0.25)
            ended.set()
            commits = sum(done.result() for done in writing)
    finally:
        ended.set()
        stopping.set()
        worker.join()
    return commits, longest, time.perf_counter() - began


def _behind(context: Context) -> int:
    """Records that were written and that the index does not reach yet."""
    marks = {mark.shard: mark for mark in index_marks(context.graph)}
    mark = marks[context.scope.shard]
    return mark.head - mark.indexed


FIGURE: Final = Figure(
    name="tail",
    title="Recall with a full tail of records without vectors, and the tail that writers leave",
    needs="fresh",
    rows=(
        "tail.recall_p95_full_over_none",
        "tail.recall_p50_full_over_none",
        "tail.recall_p95_none",
        "tail.recall_p95_full",
        "tail.written_and_recalled_p50",
        "tail.longest",
        "tail.commits_per_s",
    ),
    measure=_measure,
)
