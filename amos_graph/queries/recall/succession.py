"""What took the place of superseded atoms: the words that led to the old one are meant for the new one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.ranking import Activation
from amos_graph.queries.recall.candidates import Gate

#: Supersessions that are followed one after the other, and what is told of one atom.
STEPS_MAX: Final = 50
WAYS_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class SuccessorRow:
    id: str
    successor: str
    confidence: float
    steps: list[dict[str, Any]]


_SUCCESSORS = procedure("recall/list_successors", SuccessorRow)


def read_successors(tx: Tx, gate: Gate, ids: Collection[str]) -> list[SuccessorRow]:
    """Everything that took the place of these atoms and may enter, nearest first."""
    if not ids or not gate.classes:
        return []
    return tx.many(
        _SUCCESSORS,
        **gate.sight(),
        ids=sorted(ids),
        states=[state for state in gate.states if state != "live"],
        at=gate.at,
        limit=WAYS_MAX,
    )


def inherited(rows: Iterable[SuccessorRow], matches: Mapping[str, float]) -> dict[str, Activation]:
    """What successors take over: the match of what they replaced × the confidence of each step.

    Of several an atom keeps the strongest, then the shortest, then that of the first id.
    """
    found: dict[str, Activation] = {}
    for row in sorted(rows, key=lambda row: (-matches[row.id] * row.confidence, len(row.steps), row.id)):
        strength = matches[row.id] * row.confidence
        if strength > 0 and row.successor not in found:
            steps = tuple({**step, "relation": "rel:supersedes", "along": False} for step in row.steps)
            found[row.successor] = Activation(strength, row.id, steps)
    return found
