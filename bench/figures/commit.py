"""One journaled commit against the least that Neo4j can do: one node without an index."""

from __future__ import annotations

from typing import Final

from amos_graph.commands.execution import Context
from bench.figures import Figure, Measured, Run
from bench.measuring import Arm, alternating, ratio_row, time_row
from bench.rivals import clear, write
from bench.samples import Json, Samples
from bench.stores import Store, send

#: Atoms that stand there before; the edges of each commit lead to two of them.
POOL: Final = 1_000


def shard_with_pool(store: Store, samples: Samples, pool: int) -> tuple[Context, list[str]]:
    """A shard that is in use, and the ids of its atoms."""
    context = store.context()
    refs: list[str] = []
    for start in range(0, pool, 250):
        batch = samples.batch(f"pool{start}", min(250, pool - start), 0, [])
        send(context, batch)
        refs += [atom["id"] for atom in batch["atoms"]]
    return context, refs


def one_commit(samples: Samples, name: str, known: list[str]) -> Json:
    """An atom, its evidence, and two edges: four events, four versions, one receipt."""
    return samples.batch(name, 1, 2, known)


def _measure(run: Run) -> Measured:
    samples, graph = Samples(1), run.store.graph
    context, known = shard_with_pool(run.store, samples, run.count(POOL, 20))
    arms = alternating(
        {
            "commit": Arm(
                lambda index: one_commit(samples, f"commit{index}", known),
                lambda payload: send(context, payload),
            ),
            "bare create": Arm(
                lambda index: {"id": f"bare{index}", "text": samples.text()},
                lambda params: write(graph, "create_node", **params),
            ),
        },
        n=run.count(600, 6),
        warmup=run.count(300, 2),
        tick=run.tick("commit"),
    )
    clear(graph)
    ours, bare = arms["commit"], arms["bare create"]
    return Measured(
        rows=(
            ratio_row("commit.p50_over_bare_create", ours, bare, 50),
            time_row("commit.p50", ours, 50),
            time_row("commit.p95", ours, 95),
            time_row("commit.bare_create_p50", bare, 50),
        ),
        arms=arms,
        bars={name: times.percentile(50) * 1_000 for name, times in arms.items()},
        unit="ms p50",
    )


FIGURE: Final = Figure(
    name="commit",
    title="One commit of an atom, its evidence and two edges, against one bare node",
    needs="fresh",
    rows=("commit.p50_over_bare_create", "commit.p50", "commit.p95", "commit.bare_create_p50"),
    measure=_measure,
)
