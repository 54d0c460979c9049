"""The bounded walk: activation spreads from the atoms that the cue found over at most two associations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.ids import relationship_type
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.ranking import Activation
from amos_graph.queries.recall.candidates import Gate


@dataclass(frozen=True, slots=True)
class ReachedRow:
    #: Id, activation, seed and path of each atom, strongest first.
    reached: list[tuple[str, float, str, list[dict[str, Any]]]]


_SPREAD = procedure("recall/spread_activation", ReachedRow)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far activation may spread."""

    seeds: int = 50
    fan_out: int = 20
    frontier: int = 100
    reached: int = 300
    decay: float = 0.5


BOUNDS: Final = Bounds()


def spread(
    tx: Tx,
    gate: Gate,
    activation: Mapping[str, float],
    asked: Collection[str] = frozenset(),
    bounds: Bounds = BOUNDS,
) -> dict[str, Activation]:
    """The strongest activation that reaches each atom from the strongest seeds, with its path.

    A step passes activation × weight × confidence × decay ÷ √degree, along or against the edge. Degree,
    fan-out and frontier count only edges and atoms that the gate lets in; each bound keeps the
    strongest, ties by id. Edges of a relation in `asked` come before others, and their degree counts
    such edges alone: what was asked for is not one of many. No path leads back to its seed. Of several
    activations an atom keeps the greatest, then the one with the fewer steps.
    """
    strongest = sorted(
        ((value, ref) for ref, value in activation.items() if value > 0), key=lambda pair: (-pair[0], pair[1])
    )
    seeds: list[dict[str, Any]] = [
        {"id": ref, "seed": ref, "activation": value, "path": []} for value, ref in strongest[: bounds.seeds]
    ]
    if not seeds or not gate.classes:
        return {}
    row = tx.one(
        _SPREAD,
        **gate.sight(),
        seeds=seeds,
        states=[state for state in gate.states if state != "live"],
        at=gate.at,
        asked=sorted(relationship_type(ref) for ref in asked),
        decay=bounds.decay,
        fan_out=bounds.fan_out,
        frontier=bounds.frontier,
        limit=bounds.reached,
    )
    return {ref: Activation(strength, seed, tuple(path)) for ref, strength, seed, path in row.reached}
