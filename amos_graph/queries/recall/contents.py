"""What a packet says of the atoms that it selected: content, evidence, contradictions, lineage."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from amos_graph.domain.score import with_numbers
from amos_graph.domain.times import format_time, native_text
from amos_graph.domain.trust import trust_class
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.bundle import Place
from amos_graph.policy.inhibition import Inhibition
from amos_graph.policy.ranking import Scored, holds
from amos_graph.queries.items import item_of
from amos_graph.queries.recall.candidates import Gate
from amos_graph.queries.rendering import sentence

#: Pointers of one item; its `evidence_refs` end there too.
EVIDENCE_MAX: Final = 50
CONFLICTS_MAX: Final = 20
LINEAGE_MAX: Final = 50
#: What a packet tells of a step: the edge, or the name that both ends speak of.
_STEP: Final = ("edge_id", "name", "relation", "source", "target", "along")


@dataclass(frozen=True, slots=True)
class ItemRow:
    id: str
    body: str
    event_id: str
    state_key: str
    evidence: list[dict[str, Any]]
    #: What outcomes moved, and is not in the body.
    numbers: dict[str, Any] = field(default_factory=dict[str, Any])
    #: False where the caller may not know what it rests on.
    cited: bool = True


@dataclass(frozen=True, slots=True)
class ConflictRow:
    id: str
    edge_id: str
    other_id: str
    confidence: float


@dataclass(frozen=True, slots=True)
class LineageRow:
    id: str
    edge_id: str
    relation: str
    along: bool
    other_id: str
    title: str
    version: int
    state_key: str


_ITEMS = procedure("recall/read_items", ItemRow)
_CONFLICTS = procedure("recall/list_conflicts", ConflictRow)
_LINEAGE = procedure("recall/list_lineage", LineageRow)

Stored = Mapping[str, ItemRow]


def read_contents(tx: Tx, gate: Gate, ids: Collection[str]) -> Stored:
    """The stored atoms, by id."""
    if not ids:
        return {}
    rows = tx.many(
        _ITEMS,
        shard=gate.shard,
        ids=list(ids),
        classes=list(gate.classes),
        cited=list(gate.cited),
        evidence_max=EVIDENCE_MAX,
    )
    return {row.id: row for row in rows}


def read_conflicts(tx: Tx, gate: Gate, ids: Sequence[str]) -> list[ConflictRow]:
    """The contradictions in which these atoms stand, each once, as far as the caller may see both sides."""
    if not ids:
        return []
    rows = tx.many(
        _CONFLICTS,
        **gate.sight(),
        ids=list(ids),
        limit=CONFLICTS_MAX,
    )
    return each_once(rows, ids)


def each_once(rows: Iterable[ConflictRow], ids: Sequence[str]) -> list[ConflictRow]:
    """Each contradiction once, told from the side of the atom that comes first."""
    once: dict[str, ConflictRow] = {}
    for row in sorted(rows, key=lambda row: (row.edge_id, ids.index(row.id))):
        once.setdefault(row.edge_id, row)
    return list(once.values())


def read_lineage(tx: Tx, gate: Gate, ids: Collection[str]) -> dict[str, Any]:
    """What the atoms come from and what came of them, one step; the packet's `provenance`."""
    if not ids:
        return {}
    rows = tx.many(
        _LINEAGE,
        **gate.sight(),
        ids=list(ids),
        limit=LINEAGE_MAX,
    )
    return by_atom(rows)


def by_atom(rows: Iterable[LineageRow]) -> dict[str, Any]:
    """Steps of lineage by the atom that they start from."""
    found: dict[str, Any] = {}
    for row in rows:
        found.setdefault(row.id, []).append(
            {
                "edge_id": row.edge_id,
                "relation": row.relation,
                "direction": "to" if row.along else "from",
                "atom_ref": row.other_id,
                "title": row.title,
                "version": row.version,
                "standing": row.state_key,
            }
        )
    return found


def item(
    place: Place, row: ItemRow, rank: int, held_by: Sequence[Inhibition], instants: tuple[datetime, datetime]
) -> dict[str, Any]:
    """One packet item, with the arithmetic, the path that brought it and what holds it back.

    `instants` are the one that age is counted from, and the one at which a memory must hold.
    """
    entry, body = place.entry, with_numbers(json.loads(row.body), row.numbers)
    stored = item_of(body, row.event_id, cited=row.cited)
    del stored["record"]
    evidence = _pointers(row)
    repeated = [one.inhibitor for one in held_by if one.kind == "repetition"]
    activation = entry.relevance.activation
    path = [_step(step) for step in activation.path] if activation else []
    return {
        **stored,
        "rank": rank,
        "score": entry.score,
        "activation_score": entry.score,
        "score_components": entry.components,
        "score_parts": entry.parts,
        "bundle_role": place.role,
        "reserved_place": place.reserved,
        "inhibited_by": [one.record() for one in held_by],
        "activation_path": path,
        "matched_terms": list(entry.relevance.matched),
        "rendered_content": sentence(body),
        "trust_class": _trust(body, row),
        # Only what the caller may read: the record may cite more.
        "evidence_refs": [pointer["evidence_id"] for pointer in evidence],
        "evidence": evidence,
        "freshness": _freshness(entry, *instants),
        "provenance": {
            "last_writer": body["last_writer"],
            "last_write_event_id": row.event_id,
            "supersedes": [] if not body.get("supersedes") else list(body["supersedes"]),
            "standing": row.state_key,
            **({"repeats": repeated[0]} if repeated else {}),
        },
    }


def _step(step: Mapping[str, object]) -> dict[str, object]:
    return {name: step[name] for name in _STEP if name in step}


def conflict(row: ConflictRow, stored: Stored, selected: Collection[str]) -> dict[str, Any]:
    """One contradiction with both sides: what each says, on what evidence, since when, and how it stands."""
    return {
        "edge_id": row.edge_id,
        "relation": "rel:contradicts",
        "confidence": row.confidence,
        "sides": [_side(stored[ref], ref in selected) for ref in (row.id, row.other_id)],
    }


def _side(row: ItemRow, in_packet: bool) -> dict[str, Any]:
    body = json.loads(row.body)
    return {
        "atom_ref": row.id,
        "type": body["type"],
        "version": body["version"],
        "rendered_content": sentence(body),
        "trust_class": _trust(body, row),
        "confidence": body["confidence"],
        "evidence": _pointers(row),
        "evidence_withheld": not row.cited,
        "created_at": body["created_at"],
        "observed_at": body.get("observed_at"),
        "updated_at": body["updated_at"],
        "standing": row.state_key,
        "health_status": body["health_status"],
        "in_packet": in_packet,
    }


def _pointers(row: ItemRow) -> list[dict[str, Any]]:
    # Neo4j gives the members of a map in no order that it promises.
    return [
        {
            **{name: pointer[name] for name in ("evidence_id", "source_type", "source_ref", "checksum")},
            "captured_at": native_text(pointer["captured_at"]),
        }
        for pointer in row.evidence
    ]


def _trust(body: Mapping[str, Any], row: ItemRow) -> str:
    """The trust class by the evidence that the caller may read, and by the role of whoever spoke."""
    role = f" {body['payload']['role']}" if body["type"] == "interaction_event" else ""
    return trust_class(f"{pointer['source_type']}{role}" for pointer in row.evidence)


def _freshness(entry: Scored, evaluated_at: datetime, holds_at: datetime) -> dict[str, Any]:
    traits = entry.traits
    age = (evaluated_at - traits.updated_at).total_seconds() / 86_400
    return {
        "updated_at": format_time(traits.updated_at),
        "age_days": round(max(0.0, age), 6),
        "valid_from": format_time(traits.valid_from) if traits.valid_from else None,
        "valid_until": format_time(traits.valid_until) if traits.valid_until else None,
        "holds": holds(traits, holds_at),
        # Which version of the record each derived score was computed from; none comes from an older one.
        "derived_from_version": {
            "confidence": traits.version,
            "utility": traits.version,
            "salience": traits.version,
            "words": traits.version,
            "vector": None,
        },
    }
