"""The beliefs by which the entities that a cue names widen it, with what they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.expansion import BELIEFS_MAX, INSTANCES, REACHED_MAX, Expansion, proper
from amos_graph.queries.recall.candidates import Gate, NamedRow, same_entities


@dataclass(frozen=True, slots=True)
class ExpansionRow:
    ref: str
    beliefs: list[dict[str, Any]]


_EXPANSIONS = procedure("recall/list_expansions", ExpansionRow)


def read_expansions(
    tx: Tx,
    gate: Gate,
    named: Mapping[str, Sequence[str]],
    about: Callable[[Sequence[str]], Sequence[NamedRow]],
) -> list[Expansion]:
    """The expansions of entities (id → ids that it stands for) with the memories about what they lead to."""
    if not named or not gate.classes:
        return []
    entities = [{"ref": ref, "ids": list(ids)} for ref, ids in sorted(named.items())]
    rows = tx.many(
        _EXPANSIONS,
        **gate.sight(),
        entities=entities,
        at=gate.at,
        instances=list(INSTANCES),
        limit=BELIEFS_MAX,
    )
    kept = proper([Expansion(row.ref, **belief) for row in rows for belief in row.beliefs])
    same = same_entities(tx, gate.shard, [each.entity for each in kept])
    return with_atoms(kept, same, about)


def with_atoms(
    expansions: Iterable[Expansion],
    same: Mapping[str, Sequence[str]],
    about: Callable[[Sequence[str]], Sequence[NamedRow]],
) -> list[Expansion]:
    """The expansions with the newest memories about every id of the entity that they lead to."""
    kept = list(expansions)
    wanted = sorted({ref for each in kept for ref in same[each.entity]})
    atoms = {row.ref: row.ids for row in about(wanted)} if wanted else {}
    return [replace(each, atoms=tuple(_others(each, same[each.entity], atoms))) for each in kept]


def _others(expansion: Expansion, same: Sequence[str], atoms: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """The newest memories about an entity, by any of its ids, beside the belief that leads to it."""
    return dict.fromkeys(
        atom
        for ref in same
        for atom in [found for found in atoms.get(ref, ()) if found != expansion.belief][:REACHED_MAX]
    )
