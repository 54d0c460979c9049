"""What atoms are scored by, read natively: one statement for all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from amos_graph.domain.tokens import tokens_of
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.traits import DEGREE_MAX, SAID, SAID_LENGTH_MAX, Hold, Traits
from amos_graph.queries.recall.candidates import Gate

#: Edges of one kind, and entities, that are told of one atom.
EDGES_MAX: Final = 20

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TraitsRow:
    #: For each atom what `_PLAIN` names, three times in microseconds since 1970, and what `Around` holds.
    traits: list[list[Any]]


_TRAITS = procedure("recall/read_traits", TraitsRow)
#: The first columns of cypher/recall/read_traits.
_PLAIN: Final = (
    "id",
    "type",
    "state_key",
    "health_status",
    "health_flags",
    "confidence_score",
    "utility",
    "salience",
    "version",
)


@dataclass(frozen=True, slots=True)
class Around:
    """The edges and entities of an atom, as far as the caller may see them."""

    opposed: Sequence[str]
    #: Source, relation, edge and weight × confidence of what holds the atom back.
    held: Sequence[tuple[str, str, str, float]]
    corrects: bool
    degree: int
    entities: Sequence[str]


def read_traits(tx: Tx, gate: Gate, ids: Collection[str], *, with_degree: bool = False) -> dict[str, Traits]:
    """What atoms are scored by, by id; the degree, which costs a look around each, where it is wanted."""
    if not ids:
        return {}
    row = tx.one(
        _TRAITS,
        **gate.sight(),
        ids=list(ids),
        said={name: list(properties) for name, properties in SAID.items()},
        said_max=SAID_LENGTH_MAX,
        edges_max=EDGES_MAX,
        degree_max=DEGREE_MAX if with_degree else 0,
    )
    return {stored[0]: _traits(stored) for stored in row.traits}


def traits_of(stored: Mapping[str, Any], said: Mapping[str, Any], around: Around) -> Traits:
    """Traits from an atom's native properties, its times as datetimes."""
    tokens = frozenset(tokens_of(stored["search_text"]))
    return Traits(
        id=stored["id"],
        type=stored["type"],
        state_key=stored["state_key"],
        health_status=stored["health_status"],
        health_flags=stored["health_flags"],
        confidence=stored["confidence_score"],
        utility=stored["utility"],
        salience=stored["salience"],
        version=stored["version"],
        updated_at=stored["updated_at"],
        valid_from=stored.get("valid_from"),
        valid_until=stored.get("valid_until"),
        tokens=tokens,
        content=tokens - frozenset(tokens_of(stored["id"])),
        said={name: value for name, value in said.items() if value is not None},
        opposed=tuple(around.opposed),
        held=tuple(Hold(*hold) for hold in around.held),
        corrects=around.corrects,
        degree=around.degree,
        entities=frozenset(around.entities),
    )


def said_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What counts of an atom's payload, from its native properties."""
    said = {name: stored.get(name) for name in SAID.get(stored["type"], ())}
    # Neo4j counts a text in UTF-16 units.
    if len(str(said.get("payload") or "").encode("utf-16-le")) > 2 * SAID_LENGTH_MAX:
        said["payload"] = None
    return said


def _traits(stored: Sequence[Any]) -> Traits:
    plain = dict(zip(_PLAIN, stored, strict=False))
    updated_at, valid_from, valid_until, search_text, said, *around = stored[len(_PLAIN) :]
    properties = plain | {
        "updated_at": _moment(updated_at),
        "valid_from": None if valid_from is None else _moment(valid_from),
        "valid_until": None if valid_until is None else _moment(valid_until),
        "search_text": search_text,
    }
    names = SAID.get(plain["type"], ())
    return traits_of(properties, dict(zip(names, said or (), strict=bool(names))), Around(*around))


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
