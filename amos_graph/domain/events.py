"""The journal's entries: what they hold, how they are chained, and how they lie in Neo4j.

An event holds ids, enums and digests, never the text of a memory: bodies live in Versions, and the
event keeps only the salted digest of each. So a body can be erased and the chain still verifies.
Source: spec, "EventJournalEntry" and "Canonical stored shape"; design §3.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from amos_graph.domain.canonical import canonical_object, canonical_text, digest
from amos_graph.domain.ids import RecordKind
from amos_graph.domain.times import native_text, parse_time

SCHEMA_VERSION: Final = "amos.v1"
#: The predecessor of the first event.
GENESIS: Final = "sha256:" + "0" * 64

#: Event type → kinds of record that it may write. `atom_committed`, `atom_updated` and
#: `evidence_captured` are the spec's names; the others are formed like them.
EVENT_TYPES: Final[Mapping[str, frozenset[RecordKind]]] = {
    "evidence_captured": frozenset({"evidence"}),
    "atom_proposed": frozenset({"atom"}),
    "atom_committed": frozenset({"atom"}),
    "atom_updated": frozenset({"atom"}),
    "atom_governed": frozenset({"atom"}),
    "constitution_founded": frozenset({"atom"}),
    "proposal_ratified": frozenset({"atom"}),
    "proposal_resolved": frozenset({"atom"}),
    "constitutional_record_replaced": frozenset({"atom"}),
    "atom_archived": frozenset({"atom", "edge"}),
    "atom_restored": frozenset({"atom", "edge"}),
    "edge_committed": frozenset({"edge"}),
    "edge_updated": frozenset({"edge"}),
    "entity_committed": frozenset({"entity"}),
    "entity_updated": frozenset({"entity"}),
    "entity_merged": frozenset({"entity"}),
    "entity_split": frozenset({"entity"}),
    "relation_defined": frozenset({"relation"}),
    "enum_defined": frozenset({"enum"}),
    "artifact_recorded": frozenset({"artifact"}),
    "artifact_archived": frozenset({"artifact"}),
    "client_registered": frozenset({"client"}),
    "client_revoked": frozenset({"client"}),
    "command_rejected": frozenset({"refusal"}),
    "refusal_decided": frozenset({"refusal"}),
    "refusal_used": frozenset({"refusal"}),
    "retrieval_outcome_recorded": frozenset({"score"}),
}


@dataclass(frozen=True, slots=True)
class Write:
    """One record at one new version."""

    kind: RecordKind
    ref: str
    version: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it has its place in the chain."""

    event_type: str
    operation: str
    writes: tuple[Write, ...]
    evidence_refs: tuple[str, ...] = ()
    payload_refs: tuple[str, ...] = ()
    #: Further ids and enums for the event's payload.
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Stamp:
    """What all events of one command share, made before the transaction so that a retry writes the same."""

    actor: str
    accepted_at: str
    occurred_at: str
    seed: bytes
    command_id: uuid.UUID
    idempotency_key: str | None
    payload_digest: str
    causal_parent_ids: tuple[str, ...]
    expected_versions: Mapping[str, int]
    authorization_context: Mapping[str, Any]

    def event_id(self, index: int) -> str:
        """The id of the command's n-th event."""
        return f"evt_{uuid.uuid5(self.command_id, str(index)).hex}"

    def salt(self, ref: str) -> str:
        """The secret salt of one body; without it an erased text cannot be guessed from its digest."""
        return hmac.digest(self.seed, ref.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class Sealed:
    """An event in the chain, with the rows of the Versions that it wrote."""

    event: dict[str, Any]
    versions: list[dict[str, Any]]
    writes: tuple[Write, ...]
    #: The canonical text of each nested field, where it was made already.
    texts: Mapping[str, str] = field(default_factory=dict[str, str])


def body_digest(salt: str, body: str) -> str:
    """The digest that an event keeps of a body."""
    return "sha256:" + hashlib.sha256(salt.encode() + body.encode()).hexdigest()


def checksum(event: Mapping[str, Any]) -> str:
    """The checksum of an event: SHA-256 of its canonical JSON without the checksum itself."""
    return "sha256:" + digest({name: value for name, value in event.items() if name != "checksum"})


def seal(
    shard: str, drafts: Sequence[Draft], stamp: Stamp, graph_version: int, head_hash: str
) -> list[Sealed]:
    """Chain drafts onto the head of a shard: one graph version each."""
    sealed: list[Sealed] = []
    # Only the end of a command is a readable version (design §4), so each event knows where it ends.
    command = {"first": graph_version + 1, "last": graph_version + len(drafts)}
    shared = _shared(shard, stamp)
    # Brought into canonical form once, and not with each event's checksum anew.
    shared_texts = {name: canonical_text(value) for name, value in shared.items()}
    for index, draft in enumerate(drafts):
        graph_version += 1
        versions = [_version_row(shard, write, graph_version, stamp) for write in draft.writes]
        # Ids and hashes of ours, and numbers, are their own canonical form.
        named = {
            "event_id": stamp.event_id(index),
            "event_type": draft.event_type,
            "previous_event_hash": head_hash,
        }
        said: dict[str, Any] = {
            "target_refs": [write.ref for write in draft.writes],
            "payload": {
                "operation": draft.operation,
                "writes": _written(versions),
                "command": command,
                **draft.extra,
            },
            "payload_refs": list(draft.payload_refs),
            "evidence_refs": list(draft.evidence_refs),
        }
        texts = {
            **shared_texts,
            **{name: f'"{value}"' for name, value in named.items()},
            **{name: canonical_text(value) for name, value in said.items()},
            "graph_version": str(graph_version),
        }
        head_hash = "sha256:" + hashlib.sha256(canonical_object(texts).encode()).hexdigest()
        event = {**shared, **named, **said, "graph_version": graph_version, "checksum": head_hash}
        sealed.append(Sealed(event, versions, draft.writes, {name: texts[name] for name in _NESTED}))
    return sealed


def _shared(shard: str, stamp: Stamp) -> dict[str, Any]:
    """The fields that all events of one command have in common."""
    return {
        "schema_version": SCHEMA_VERSION,
        "actor": stamp.actor,
        "idempotency_key": stamp.idempotency_key,
        "payload_digest": stamp.payload_digest,
        "causal_parent_ids": list(stamp.causal_parent_ids),
        "expected_versions": dict(stamp.expected_versions),
        "authorization_context": dict(stamp.authorization_context),
        "occurred_at": stamp.occurred_at,
        "accepted_at": stamp.accepted_at,
        "result_status": "accepted",
        "projection_status": "projected",
        "shard": shard,
    }


def _version_row(shard: str, write: Write, graph_version: int, stamp: Stamp) -> dict[str, Any]:
    return {
        "shard": shard,
        "ref": write.ref,
        "version": write.version,
        "kind": write.kind,
        "graph_version": graph_version,
        "recorded_at": stamp.accepted_at,
        "body": canonical_text(write.body),
        "salt": stamp.salt(write.ref),
        "codec": "json",
    }


def _written(versions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "ref": row["ref"],
            "kind": row["kind"],
            "version": row["version"],
            "digest": body_digest(row["salt"], row["body"]),
        }
        for row in versions
    ]


#: Event fields that Neo4j cannot hold as they are; stored as canonical JSON text.
_NESTED: Final = ("payload", "expected_versions", "authorization_context")
_TIMES: Final = ("occurred_at", "accepted_at")


def event_node(event: Mapping[str, Any]) -> dict[str, Any]:
    """The native properties of an event."""
    properties = event_row(event)
    for name in _TIMES:
        properties[name] = parse_time(event[name])
    return properties


def event_row(event: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The native properties of an event with its times as text, as cypher/journal/append_events takes them.

    `texts` are the canonical texts of nested fields that are known already.
    """
    known = texts or {}
    properties = {name: value for name, value in event.items() if value is not None}
    for name in _NESTED:
        properties[name] = known.get(name) or canonical_text(event[name])
    properties["title"] = f"{event['graph_version']} {event['event_type']}"
    return properties


def event_record(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The event that native properties stand for; the inverse of `event_node`.

    Raises ValueError or AttributeError when a field is not what `event_node` makes of it, which
    verification reports as tampering.
    """
    event = {name: value for name, value in properties.items() if name != "title"}
    for name in _NESTED:
        event[name] = json.loads(event.get(name, "null"))
    for name in _TIMES:
        event[name] = native_text(event[name])
    event.setdefault("idempotency_key", None)
    return event
