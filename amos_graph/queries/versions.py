"""Records at a version of the graph: what was known then (design §3, "two clocks")."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.projection import class_of
from amos_graph.domain.times import native_text
from amos_graph.errors import invalid
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx

#: Revisions and supersessions that one read lists.
HISTORY_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class HeadRow:
    graph_version: int
    head_hash: str


@dataclass(frozen=True, slots=True)
class HeldRow:
    graph_version: int


@dataclass(frozen=True, slots=True)
class EventRow:
    event_id: str
    payload: str


@dataclass(frozen=True, slots=True)
class VersionRow:
    version: int
    body: str | None
    event_id: str
    actor: str
    graph_version: int


@dataclass(frozen=True, slots=True)
class RevisionRow:
    version: int
    graph_version: int
    event_id: str
    event_type: str
    actor: str
    accepted_at: Any


@dataclass(frozen=True, slots=True)
class SupersessionRow:
    edge_id: str
    source_ref: str
    target_ref: str
    body: str | None


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    evidence_id: str
    source_type: str
    source_ref: str
    checksum: str
    captured_at: Any


_HEAD = procedure("journal/read_head", HeadRow)
_HOLD = procedure("journal/hold_shard", HeldRow)
_EVENT = procedure("journal/read_event", EventRow)
_VERSION = procedure("provenance/read_version", VersionRow)
_REVISIONS = procedure("provenance/list_revisions", RevisionRow)
_SUPERSESSIONS = procedure("provenance/list_supersessions", SupersessionRow)
_EVIDENCE = procedure("provenance/read_evidence", EvidenceRow)


def head_version(tx: Tx, shard: str) -> int:
    """The shard's graph version; 0 where nobody wrote yet."""
    head = tx.maybe(_HEAD, shard=shard)
    return head.graph_version if head else 0


def hold_shard(tx: Tx, shard: str) -> int:
    """Hold the shard's lock until the transaction ends; its graph version, 0 where nobody wrote yet."""
    held = tx.maybe(_HOLD, shard=shard, lock_token=secrets.token_hex(8))
    return held.graph_version if held else 0


def readable_version(tx: Tx, shard: str, as_of: int | None, at: str = "as_of_version") -> int:
    """The version that a read works at: the head, or the last end of a command at or before `as_of`.

    Raises `schema_invalid` for a version that the shard has not reached.
    """
    head = head_version(tx, shard)
    if as_of is None or as_of == head:
        return head
    if as_of > head:
        raise invalid(at, f"this shard is at graph version {head}")
    event = tx.maybe(_EVENT, shard=shard, graph_version=as_of)
    if event is None:
        return 0
    command = json.loads(event.payload)["command"]
    return as_of if command["last"] == as_of else command["first"] - 1


def read_version(tx: Tx, shard: str, ref: str, as_of: int) -> VersionRow | None:
    """A record's newest version at or before `as_of`."""
    return tx.maybe(_VERSION, shard=shard, ref=ref, as_of=as_of)


def revisions(tx: Tx, shard: str, ref: str, as_of: int) -> list[dict[str, Any]]:
    """The envelope's revision_history: newest first, at most HISTORY_MAX entries."""
    rows = tx.many(_REVISIONS, shard=shard, ref=ref, as_of=as_of, limit=HISTORY_MAX)
    return [
        {
            "version": row.version,
            "graph_version": row.graph_version,
            "event_id": row.event_id,
            "event_type": row.event_type,
            "actor": row.actor,
            "accepted_at": native_text(row.accepted_at),
        }
        for row in rows
    ]


def superseding(tx: Tx, shard: str, ref: str, as_of: int, classes: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether an atom was superseded at `as_of`, and by which atoms as far as the caller may see the edge."""
    rows = tx.many(_SUPERSESSIONS, shard=shard, ref=ref, as_of=as_of, limit=HISTORY_MAX)
    bodies: list[Mapping[str, Any]] = [
        json.loads(row.body) for row in rows if row.body is not None and row.target_ref == ref
    ]
    active = [body for body in bodies if body["lifecycle_state"] == "active"]
    return bool(active), sorted(body["source_ref"] for body in active if class_of(body) in set(classes))


def evidence_pointers(
    tx: Tx, shard: str, evidence_ids: Sequence[str], classes: Sequence[str]
) -> list[dict[str, Any]]:
    """Pointers to the evidence that the caller may read, in the order asked."""
    if not evidence_ids:
        return []
    rows = tx.many(_EVIDENCE, shard=shard, evidence_ids=list(evidence_ids), classes=list(classes))
    return [
        {
            "evidence_id": row.evidence_id,
            "source_type": row.source_type,
            "source_ref": row.source_ref,
            "checksum": row.checksum,
            "captured_at": native_text(row.captured_at),
        }
        for row in rows
    ]
