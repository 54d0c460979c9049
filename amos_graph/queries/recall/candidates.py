"""What could matter: atoms found by words, by names, by ids, or by their newness; indexes only propose."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from amos_graph.domain.ids import shard_key, slug_of
from amos_graph.domain.tokens import tokens_of
from amos_graph.domain.value_kinds import is_entity
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.entity_links import Link, Named, linked
from amos_graph.queries.recall.cues import Names, Terms, text_queries

#: Atoms that words propose; hits that are looked at for them, plainly and under a filter.
TEXT_MAX: Final = 250
SCAN_MAX: Final = 2_000
SCAN_FILTERED_MAX: Final = 20_000
#: Atoms that one entity proposes, newest first, and entities that one request may name.
ABOUT_MAX: Final = 100
ENTITIES_MAX: Final = 100
ENTITY_HITS_MAX: Final = 100
#: Atoms that a request without cues ranks.
BROWSE_MAX: Final = 200
#: Atoms that were found and held back, of which a packet speaks.
SUPPRESSED_MAX: Final = 100

#: States that ordinary recall holds back, each let in by its own flag of the request.
LOW_HEALTH: Final = ("stale", "redundant", "incoherent", "orphaned", "confounding", "underspecified")


@dataclass(frozen=True, slots=True)
class TextRow:
    found: list[dict[str, str]]
    expired: list[str]
    filtered: int
    scanned: int


@dataclass(frozen=True, slots=True)
class EntityRow:
    entity_id: str
    keys: list[str]
    names: list[str]
    merged_ids: list[str]


@dataclass(frozen=True, slots=True)
class NamedRow:
    ref: str
    ids: list[str]
    scanned: int


@dataclass(frozen=True, slots=True)
class BrowsedRow:
    ids: list[str]


_TEXT = procedure("recall/find_text", TextRow)
_ENTITIES = procedure("recall/find_entities", EntityRow)
_NAMED = procedure("recall/find_named", NamedRow)
_BROWSE = procedure("recall/browse_atoms", BrowsedRow)


@dataclass(frozen=True, slots=True)
class Gate:
    """What may enter a packet at all; every statement asks it before any limit."""

    shard: str
    classes: Sequence[str]
    targeted: Sequence[str]
    cited: Sequence[str]
    states: Sequence[str]
    #: The instant at which a memory must hold.
    at: datetime
    #: True if that instant was asked for: then what was superseded since enters if it held.
    then: bool = False
    types: Sequence[str] = ()
    #: Lifted property → the values of which it must have one.
    payload_filter: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])

    def sight(self) -> dict[str, Any]:
        """The parameters of statements that read around an atom: the shard, and what is seen of it."""
        return {"shard": self.shard, "classes": list(self.classes), "targeted": list(self.targeted)}

    def filters(self) -> dict[str, Any]:
        """The parameters that finding statements share."""
        return {
            "classes": list(self.classes),
            "targeted": list(self.targeted),
            "at": self.at,
            "types": list(self.types),
            "payload_filter": {name: list(values) for name, values in self.payload_filter.items()},
        }

    def held(self) -> list[str]:
        """The states that hold an atom back and of which a packet speaks."""
        return [state for state in (*LOW_HEALTH, "superseded") if state not in self.states]

    @property
    def narrow(self) -> bool:
        return bool(self.types or self.payload_filter)


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, with the words that a name accounts for, and what is known to be missing."""

    ids: tuple[str, ...] = ()
    #: Atoms whose own id the cue names.
    exact: frozenset[str] = frozenset()
    #: Atom → words of the cue that name an entity that it refers to.
    named: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    #: Entity → ids that it stands for, after merges.
    entities: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    #: What the cue says of entities, of those of `entities` alone.
    links: tuple[Link, ...] = ()
    #: Every entity that is named, also where nothing about it may be seen, with its words and ids.
    said: Mapping[str, tuple[frozenset[str], tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[frozenset[str], tuple[str, ...]]]
    )
    expired: tuple[str, ...] = ()
    truncated: bool = False
    #: State → atoms that words matched and that the state holds back.
    suppressed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    #: How many atoms words matched that the request's own filters keep out.
    filtered: int = 0
    #: Atom → nearness of meaning to the cue, in 0..1.
    similar: Mapping[str, float] = field(default_factory=dict[str, float])
    #: True if records that have no vector yet were not compared.
    stale: bool = False

    def naming(self, words: Mapping[str, frozenset[str]]) -> Found:
        """The same, with further words that atoms are named by."""
        also = {ref: self.named.get(ref, frozenset()) | more for ref, more in words.items()}
        return replace(self, named={**self.named, **also})


def filtered(gate: Gate, stands_for: Callable[[str], Sequence[str]]) -> Gate:
    """The gate whose filters take every id that means the entity which they name."""
    accepted = {
        name: [same for value in values for same in (stands_for(value) if is_entity(value) else [value])]
        for name, values in gate.payload_filter.items()
    }
    return replace(gate, payload_filter=accepted)


def resolved(tx: Tx, gate: Gate) -> Gate:
    """`filtered` by the merges and splits of now."""
    named = [value for values in gate.payload_filter.values() for value in values if is_entity(value)]
    same = same_entities(tx, gate.shard, named)
    return filtered(gate, same.__getitem__)


def same_entities(tx: Tx, shard: str, entity_ids: Collection[str]) -> dict[str, list[str]]:
    """Each entity → every id that stands for it now: merged into the same one, or its parts."""
    rows = _entities(tx, shard, Names((), tuple(dict.fromkeys(entity_ids)), ()))
    found = {row.entity_id: row.merged_ids for row in rows}
    return {ref: sorted({ref, *found.get(ref, ())}) for ref in entity_ids}


def find(tx: Tx, gate: Gate, terms: Terms, names: Names) -> Found:
    """The candidates for cues (or attention): by words, by entities that they name, by ids."""
    return found_by(
        gate,
        names,
        text=_by_words(tx, gate, terms, gate.states, TEXT_MAX),
        suppressed=_by_words(tx, gate, terms, gate.held(), SUPPRESSED_MAX),
        entities=_entities(tx, gate.shard, names),
        by_name=lambda atom_ids, entity_ids: by_name(tx, gate, atom_ids, entity_ids),
    )


def found_by(
    gate: Gate,
    names: Names,
    *,
    text: TextRow,
    suppressed: TextRow,
    entities: Sequence[EntityRow],
    by_name: Callable[[Sequence[str], Sequence[str]], Sequence[NamedRow]],
) -> Found:
    """Candidates put together from what words and names brought; the order is by the cue, not by a score."""
    links = linked(names.stretches, [_named(row) for row in entities])
    said = _said(names, entities, links)
    covered: dict[str, frozenset[str]] = {}
    for words, members in said.values():
        for member in members:
            covered[member] = covered.get(member, frozenset()) | words
    exact: list[str] = []
    named: dict[str, frozenset[str]] = {}
    spoken_of: set[str] = set()
    hits = text.found[:TEXT_MAX]
    truncated = text.scanned >= _scan_max(gate) or len(hits) >= TEXT_MAX
    for row in by_name(names.atom_ids, list(covered)):
        truncated = truncated or row.scanned > ABOUT_MAX
        spoken_of.add(row.ref)
        for atom in row.ids:
            if row.ref in covered:
                named[atom] = named.get(atom, frozenset()) | covered[row.ref]
            else:
                exact.append(atom)
    # An entity of which the caller may see nothing is not told of.
    told = {ref: members for ref, (_, members) in said.items() if not spoken_of.isdisjoint(members)}
    return Found(
        ids=tuple(dict.fromkeys([*exact, *named, *(hit["id"] for hit in hits)])),
        exact=frozenset(exact),
        named=named,
        entities=told,
        links=tuple(link for link in links if link.entity in told),
        said=said,
        expired=tuple(text.expired[:TEXT_MAX]),
        filtered=text.filtered,
        truncated=truncated,
        suppressed=_by_state(suppressed),
    )


def browse(tx: Tx, gate: Gate) -> Found:
    """The newest atoms that may enter, for a request that names nothing."""
    if not gate.classes:
        return Found()
    row = tx.one(_BROWSE, shard=gate.shard, states=list(gate.states), limit=BROWSE_MAX + 1, **gate.filters())
    return Found(ids=tuple(row.ids[:BROWSE_MAX]), truncated=len(row.ids) > BROWSE_MAX)


def fitting(tx: Tx, gate: Gate, ids: Sequence[str]) -> list[str]:
    """Those of the atoms that pass the request's own filters; the walk passes through the others."""
    if not gate.narrow:
        return list(ids)
    return [atom for row in by_name(tx, gate, ids, ()) for atom in row.ids]


def _by_words(tx: Tx, gate: Gate, terms: Terms, states: Sequence[str], limit: int) -> TextRow:
    queries = text_queries(shard_key(gate.shard), terms, states, gate.classes)
    if not queries:
        return TextRow([], [], 0, 0)
    words = list(terms.tokens)
    return tx.one(
        _TEXT, queries=queries, words=words, scan_max=_scan_max(gate), limit=limit, **gate.filters()
    )


def _scan_max(gate: Gate) -> int:
    return SCAN_FILTERED_MAX if gate.narrow else SCAN_MAX


def _by_state(text: TextRow) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for hit in text.found[:SUPPRESSED_MAX]:
        found[hit["state_key"]] = (*found.get(hit["state_key"], ()), hit["id"])
    return found


def by_name(tx: Tx, gate: Gate, atom_ids: Sequence[str], entity_ids: Sequence[str]) -> list[NamedRow]:
    """The atoms of these ids, and the newest about these entities, that pass the gate and its filters."""
    if not gate.classes or not (atom_ids or entity_ids):
        return []
    return tx.many(
        _NAMED,
        shard=gate.shard,
        atom_ids=list(atom_ids),
        entity_ids=list(entity_ids),
        states=list(gate.states),
        limit=ABOUT_MAX,
        **gate.filters(),
    )


def _entities(tx: Tx, shard: str, names: Names) -> list[EntityRow]:
    keys = list(dict.fromkeys(stretch.key for stretch in names.stretches))
    if not keys and not names.entity_ids:
        return []
    return tx.many(
        _ENTITIES, shard=shard, keys=keys, entity_ids=list(names.entity_ids), limit=ENTITY_HITS_MAX
    )


def _named(row: EntityRow) -> Named:
    same = frozenset(row.merged_ids or (row.entity_id,))
    return Named(row.entity_id, row.keys, frozenset(row.names), same)


def _said(
    names: Names, rows: Sequence[EntityRow], links: Sequence[Link]
) -> dict[str, tuple[frozenset[str], tuple[str, ...]]]:
    """Each entity that is named, with the words that name it and the ids that it stands for."""
    spoken: dict[str, frozenset[str]] = {}
    for link in links:
        spoken[link.entity] = spoken.get(link.entity, frozenset()) | link.tokens
    for ref in names.entity_ids:
        spoken[ref] = spoken.get(ref, frozenset()) | frozenset(tokens_of(slug_of(ref)))
    meant = [row for row in rows if row.entity_id in spoken][:ENTITIES_MAX]
    return {
        row.entity_id: (spoken[row.entity_id], tuple(row.merged_ids) or (row.entity_id,)) for row in meant
    }
