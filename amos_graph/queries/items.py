"""One shape for an atom in every answer: the spec's MemoryPacketItem and the whole record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def item_of(body: Mapping[str, Any], event_id: str) -> dict[str, Any]:
    """The item of a stored body, with the aliases that the spec keeps for older callers."""
    return {
        "atom_ref": body["id"],
        "item_ref": body["id"],
        "atom_id": body["id"],
        "item_kind": "atom",
        "type": body["type"],
        "atom_type": body["type"],
        "payload": body["payload"],
        "lifecycle_state": body["lifecycle_state"],
        "health_status": body["health_status"],
        "confidence": body["confidence"],
        "salience": body["salience"],
        "utility": body["utility"],
        "evidence_refs": body["evidence_refs"],
        "access_decision": "allow",
        "scope": body["scope"],
        "updated_at": body["updated_at"],
        "version": body["version"],
        "record": {**body, "last_write_event_id": event_id},
    }
