"""One shape for an atom in every answer: the spec's MemoryPacketItem and the whole record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def item_of(body: Mapping[str, Any], event_id: str, *, cited: bool = True) -> dict[str, Any]:
    """The item of a stored body, with the aliases that the spec keeps for older callers.

    Where the caller may not know what it rests on (`cited`), it says so, and names no evidence.
    """
    if not cited:
        body = _uncited(body)
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
        "evidence_withheld": not cited,
        "access_decision": "allow",
        "scope": body["scope"],
        "updated_at": body["updated_at"],
        "version": body["version"],
        "record": {**body, "last_write_event_id": event_id},
    }


def _uncited(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body without what it rests on, and without what the associations of its payload do."""
    payload = dict(body["payload"])
    if payload.get("graph_relations"):
        payload["graph_relations"] = [
            {name: value for name, value in relation.items() if name != "evidence_refs"}
            for relation in payload["graph_relations"]
        ]
    return {**body, "payload": payload, "evidence_refs": []}
