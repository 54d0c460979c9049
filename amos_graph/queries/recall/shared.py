"""The walk over shared names: from what a request matches to what speaks of the same things."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.naming import COMMON_MAX, Shared, further, starts, step, stronger
from amos_graph.policy.ranking import Activation
from amos_graph.queries.recall.candidates import Gate


@dataclass(frozen=True, slots=True)
class SharedRow:
    key: str
    sources: list[str]
    atoms: list[str]


_SHARED = procedure("recall/list_shared_names", SharedRow)


@dataclass(frozen=True, slots=True)
class Walked:
    """What was reached over shared names, and every atom that was counted on the way."""

    reached: Mapping[str, Activation]
    counted: frozenset[str]


def walk(read: Callable[[Collection[str]], Sequence[Shared]], matches: Mapping[str, float]) -> Walked:
    """Two steps over shared names from the strongest matches; `read` tells what some atoms speak of."""
    begin = starts(matches)
    if not begin:
        return Walked({}, frozenset())
    first = read(begin)
    near = step(begin, first)
    beyond = further(near)
    second: Sequence[Shared] = read(beyond) if beyond else ()
    counted = frozenset(ref for thing in (*first, *second) for ref in thing.atoms)
    return Walked(stronger(near, step(beyond, second)), counted)


def read_shared(tx: Tx, gate: Gate, ids: Collection[str]) -> list[Shared]:
    """What these atoms speak of together with others, as far as the gate lets them in."""
    if not ids or not gate.classes:
        return []
    rows = tx.many(
        _SHARED,
        **gate.sight(),
        ids=sorted(ids),
        states=list(gate.states),
        at=gate.at,
        common_max=COMMON_MAX,
    )
    return [Shared(row.key, row.sources, row.atoms) for row in rows]
