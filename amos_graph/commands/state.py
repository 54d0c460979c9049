"""Reads what a command mentions, under the lock, and parts what the caller may see from what not."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from amos_graph.domain.ids import RecordKind, kind_of
from amos_graph.domain.scope import Identity, Scope
from amos_graph.domain.state import Current, State, StreamHead
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.access import may_read_body


@dataclass(frozen=True, slots=True)
class RecordRow:
    ref: str
    kind: RecordKind
    version: int
    state_key: str | None
    event_id: str
    body: str


@dataclass(frozen=True, slots=True)
class ContentRow:
    content_digest: str
    atom_id: str


@dataclass(frozen=True, slots=True)
class EdgeRow:
    ref: str
    version: int
    event_id: str
    body: str


@dataclass(frozen=True, slots=True)
class HeadRow:
    stream_id: str
    version: int
    head_ref: str


_READ = procedure("journal/read_records", RecordRow)
_SAME = procedure("journal/find_same_content", ContentRow)
_EDGES = procedure("journal/read_edges_of", EdgeRow)
_HEADS = procedure("journal/read_stream_heads", HeadRow)

_PARAMETERS: Final[Mapping[RecordKind, str]] = {
    "atom": "atom_ids",
    "edge": "edge_ids",
    "entity": "entity_ids",
    "relation": "relation_ids",
    "enum": "enum_ids",
    "evidence": "evidence_ids",
    "client": "client_ids",
}


def read_records(tx: Tx, shard: str, refs: Iterable[str]) -> list[Current]:
    """The newest versions of the records that exist among `refs`."""
    asked: dict[str, list[str]] = {name: [] for name in _PARAMETERS.values()}
    for ref in dict.fromkeys(refs):
        asked[_PARAMETERS[kind_of(ref)]].append(ref)
    if not any(asked.values()):
        return []
    rows = tx.many(_READ, shard=shard, **asked)
    return [
        Current(row.kind, row.ref, row.version, row.event_id, json.loads(row.body), row.state_key)
        for row in rows
    ]


def read_state(
    tx: Tx,
    identity: Identity,
    scope: Scope,
    refs: Iterable[str],
    *,
    digests: Collection[str] = (),
    digest_states: Collection[str] = ("active",),
    stream_ids: Collection[str] = (),
    owners: Collection[str] = (),
    edges_max: int = 20_000,
) -> State:
    """The part of the shard that a command mentions.

    `digests` are looked up among atoms of the given lifecycle states; `owners` are atoms whose own
    edges are wanted. Proposals are visible to stewards and, where `digest_states` names them, to
    whoever proposes; clients to no command of this kind.
    """
    shard = scope.shard
    same = (
        {
            row.content_digest: row.atom_id
            for row in tx.many(_SAME, shard=shard, digests=list(digests), states=list(digest_states))
        }
        if digests
        else {}
    )
    records = read_records(tx, shard, [*refs, *same.values()])
    proposals = identity.may("memory.steward") or "proposed" in digest_states
    seen = {
        record.ref
        for record in records
        if record.kind != "client"
        and (proposals or record.body.get("lifecycle_state") != "proposed")
        and may_read_body(identity, scope, record.body)
    }
    return State(
        visible={record.ref: record for record in records if record.ref in seen},
        hidden=frozenset(record.ref for record in records if record.ref not in seen),
        same_content={digest: ref for digest, ref in same.items() if ref in seen},
        streams=_streams(tx, shard, stream_ids),
        own_edges=_own(edges_of(tx, shard, owners, ("active", "detached"), edges_max), owners),
    )


def edges_of(
    tx: Tx, shard: str, atom_ids: Collection[str], states: Collection[str], limit: int
) -> list[Current]:
    """The edges at these atoms, in the given lifecycle states."""
    if not atom_ids:
        return []
    rows = tx.many(_EDGES, shard=shard, atom_ids=list(atom_ids), states=list(states), limit=limit)
    return [Current("edge", row.ref, row.version, row.event_id, json.loads(row.body)) for row in rows]


def _own(edges: Iterable[Current], owners: Collection[str]) -> dict[str, tuple[Current, ...]]:
    own: dict[str, tuple[Current, ...]] = {}
    for edge in edges:
        source = edge.body["source_ref"]
        if source in owners and edge.body["derivation"] != "submitted":
            own[source] = (*own.get(source, ()), edge)
    return own


def _streams(tx: Tx, shard: str, stream_ids: Collection[str]) -> dict[str, StreamHead]:
    if not stream_ids:
        return {}
    rows = tx.many(_HEADS, shard=shard, stream_ids=list(stream_ids))
    return {row.stream_id: StreamHead(row.version, row.head_ref) for row in rows}
