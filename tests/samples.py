"""Small records for tests: valid as they are, changed by keyword."""

from __future__ import annotations

from typing import Any


def source_event(evidence_id: str = "evd_turn1", **changes: Any) -> dict[str, Any]:
    """A conversation turn as a source event."""
    return {
        "evidence_id": evidence_id,
        "source_type": "conversation_turn",
        "source_ref": f"archive://session/1/{evidence_id}",
        "payload": {"text": "I am working on Amos."},
        **changes,
    }


def belief(**changes: Any) -> dict[str, Any]:
    """A belief that the user works on Amos."""
    payload = {
        "subject": "ent:user:primary",
        "relation": "rel:working_on",
        "object": "ent:project:amos",
        "modality": "observed",
        **changes.pop("payload", {}),
    }
    return {
        "type": "belief",
        "payload": payload,
        "evidence_refs": ["evd_turn1"],
        "confidence": {"level": "high", "score": 0.9},
        **changes,
    }


def interaction(conversation: str, sequence: int, **changes: Any) -> dict[str, Any]:
    """One event of a conversation."""
    payload = {
        "conversation_id": conversation,
        "sequence": sequence,
        "actor": "ent:user:primary",
        "role": "user",
        "content": f"message {sequence}",
        **changes.pop("payload", {}),
    }
    return {
        "type": "interaction_event",
        "payload": payload,
        "evidence_refs": ["evd_turn1"],
        "confidence": {"score": 1.0},
        **changes,
    }
