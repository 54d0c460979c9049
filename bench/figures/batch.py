"""Batches of 500 atoms against raw UNWIND of the same nodes and edges, and where a batch's time goes."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from amos_graph.domain import canonical
from amos_graph.graph.transactions import Graph, Tx
from bench.figures import Figure, Measured, Run
from bench.figures.commit import shard_with_pool
from bench.measuring import Arm, alternating, plain_row, rate_ratio_row, rate_row
from bench.rivals import clear, write
from bench.samples import Json, Samples
from bench.stores import send

ATOMS: Final = 500
EDGES_EACH: Final = 2


@dataclass(slots=True)
class Spent:
    """Seconds in a function and how often it was called; calls within it count once."""

    seconds: float = 0.0
    calls: int = 0
    _depth: int = 0

    def timing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return function(*args, **kwargs)
            self._depth += 1
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - began
                self.calls += 1
                self._depth -= 1

        return timed


@contextmanager
def watched(function: Callable[..., Any], spent: Spent) -> Generator[None]:
    """Time a function wherever the package has it; one thread only."""
    timed = spent.timing(function)
    name = function.__name__
    holders = [module for module in list(sys.modules.values()) if _holds(module, name, function)]
    for module in holders:
        setattr(module, name, timed)
    try:
        yield
    finally:
        for module in holders:
            setattr(module, name, function)


def _holds(module: ModuleType, name: str, function: Callable[..., Any]) -> bool:
    # Some packages put objects without a name among the modules.
    named = getattr(module, "__name__", "")
    return str(named).startswith("amos_graph") and getattr(module, name, None) is function


@contextmanager
def watched_statements(spent: Spent) -> Generator[None]:
    """Time all that is sent to Neo4j and waited for, without begin and commit."""
    names = ("_run", "send", "settle")
    plain = {name: getattr(Tx, name) for name in names}
    for name in names:
        setattr(Tx, name, spent.timing(plain[name]))
    try:
        yield
    finally:
        for name in names:
            setattr(Tx, name, plain[name])


def _raw(batch: Json) -> Json:
    """The nodes and relationships that the batch's records are about."""
    place = {atom["id"]: index for index, atom in enumerate(batch["atoms"])}
    nodes = [
        {
            "id": atom["id"],
            "type": atom["type"],
            "statement": atom["payload"]["statement"],
            "topic": atom["payload"]["topic"],
            "evidence_refs": atom["evidence_refs"],
            "confidence_score": atom["confidence"]["score"],
        }
        for atom in batch["atoms"]
    ]
    edges = [
        {
            "source": place[edge["source_ref"]],
            "target": place[edge["target_ref"]],
            "properties": {
                "relation": edge["relation"],
                "weight": edge["weight"],
                "confidence": edge["confidence"]["score"],
            },
        }
        for edge in batch["edges"]
    ]
    return {"nodes": nodes, "edges": edges}


def _measure(run: Run) -> Measured:
    samples, graph = Samples(3), run.store.graph
    atoms = run.count(ATOMS, 20)
    context, _ = shard_with_pool(run.store, samples, run.count(1_000, 20))
    numbers = itertools.count()

    def batch(_: int) -> Json:
        return samples.batch(f"batch{next(numbers)}", atoms, EDGES_EACH, [])

    arms = alternating(
        {
            "batch commit": Arm(batch, lambda payload: send(context, payload)),
            "raw UNWIND": Arm(lambda index: _raw(batch(index)), lambda params: _unwind(graph, params)),
        },
        n=run.count(30, 2),
        warmup=run.count(5, 1),
        tick=run.tick("batch"),
    )
    clear(graph)
    ours, raw = arms["batch commit"], arms["raw UNWIND"]
    canonicaliser, statements, whole = Spent(), Spent(), 0.0
    looked_at = run.count(5, 1)
    for index in range(looked_at):
        payload = batch(index)
        with watched(canonical.canonical_bytes, canonicaliser), watched_statements(statements):
            began = time.perf_counter()
            send(context, payload)
            whole += time.perf_counter() - began
    return Measured(
        rows=(
            rate_ratio_row("batch.atoms_over_raw_unwind", ours, atoms, raw, atoms),
            rate_row("batch.atoms_per_s", ours, atoms, "atoms/s"),
            rate_row("batch.raw_atoms_per_s", raw, atoms, "atoms/s"),
            plain_row("batch.canonicaliser_share", canonicaliser.seconds / whole, "of the time", looked_at),
            plain_row("batch.statements_share", statements.seconds / whole, "of the time", looked_at),
        ),
        arms=arms,
        bars={name: atoms * times.n / times.total for name, times in arms.items()},
        unit="atoms a second",
        notes=(
            f"each batch is {atoms} atoms with {EDGES_EACH} edges each, on one piece of evidence",
            f"{canonicaliser.calls / looked_at:,.0f} values are brought into canonical form for one batch",
        ),
    )


def _unwind(graph: Graph, params: Json) -> None:
    write(graph, "unwind_graph", **params)


FIGURE: Final = Figure(
    name="batch",
    title=f"Batches of {ATOMS} atoms with {EDGES_EACH} edges each, against raw UNWIND of the same",
    needs="fresh",
    rows=(
        "batch.atoms_over_raw_unwind",
        "batch.atoms_per_s",
        "batch.raw_atoms_per_s",
        "batch.canonicaliser_share",
        "batch.statements_share",
    ),
    measure=_measure,
)
