"""The words in which the story is written: chapters, and short forms of their records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = Mapping[str, Any]
Records = tuple[dict[str, Any], ...]


IRIS, BRUNO, MARA, OTTO = "ent:agent:iris", "ent:agent:bruno", "ent:agent:mara", "ent:agent:otto"
LENA: Final = "ent:person:lena_hartmann"
FERRYTIME: Final = "ent:project:ferrytime"
FEED: Final = "ent:service:tide_feed"
NORRHAVN: Final = "ent:place:norrhavn"

GOAL: Final = "story/goal/beta"
WARN_BY_MAIL: Final = "story/preference/incidents-1"
WARN_BY_CALL: Final = "story/preference/incidents-2"
DEPLOY_OLD: Final = "story/procedure/deploy-1"
DEPLOY_NEW: Final = "story/procedure/deploy-2"
FAILED_DEPLOY: Final = "story/outcome/deploy-2"
BAD_THURSDAY: Final = "story/episode/bad-thursday"
IMPORT: Final = "story/commitment/import"
ASK_SUPPLIER: Final = "story/commitment/ask-supplier"
COVERED: Final = "story/belief/norrhavn-covered"
NOT_COVERED: Final = "story/belief/norrhavn-silent"


@dataclass(frozen=True, slots=True)
class Chapter:
    """What became known on one day, as one commit."""

    name: str
    title: str
    events: Records = ()
    atoms: Records = ()
    edges: Records = ()
    entities: Records = ()
    relations: Records = ()

    def payload(self) -> dict[str, Any]:
        """The commit request."""
        lists = {
            "events": self.events,
            "entities": self.entities,
            "relations": self.relations,
            "atoms": self.atoms,
            "edges": self.edges,
        }
        return {name: list(records) for name, records in lists.items() if records}


def day(date: str, clock: str = "09:00") -> str:
    """An instant of the story's autumn."""
    return f"2026-{date}T{clock}:00Z"


def entity(ref: str, name: str, *aliases: str) -> dict[str, Any]:
    """Somebody or something, with the other names that it goes by."""
    return {"id": ref, "type": ref.split(":")[1], "canonical_name": name, "aliases": list(aliases)}


def predicate(name: str, description: str) -> dict[str, Any]:
    """A relation of the story's own, of which a subject has one value at a time."""
    return {"id": f"rel:{name}", "kind": "payload", "description": description, "single_valued": True}


def source(name: str, source_type: str, ref: str, at: str, **payload: Any) -> dict[str, Any]:
    """A source event, under an id of the story's."""
    return {
        "evidence_id": f"evd_story_{name}",
        "source_type": source_type,
        "source_ref": ref,
        "captured_at": at,
        "payload": payload,
    }


def atom(
    ref: str, payload: Json, *proofs: str, at: str, level: str = "high", **envelope: Any
) -> dict[str, Any]:
    """An atom whose type its id tells (`story/belief/…`)."""
    kind = ref.split("/")[1]
    return {
        "id": ref,
        "type": {"outcome": "action_outcome"}.get(kind, kind),
        "payload": dict(payload),
        "evidence_refs": [f"evd_story_{proof}" for proof in proofs],
        "confidence": {"level": level},
        "observed_at": at,
        **envelope,
    }


def edge(source: str, relation: str, target: str, *proofs: str, level: str = "high") -> dict[str, Any]:
    """An edge between two atoms."""
    return {
        "source_ref": source,
        "relation": f"rel:{relation}",
        "target_ref": target,
        "evidence_refs": [f"evd_story_{proof}" for proof in proofs],
        "confidence": {"level": level},
    }


def talk(
    conversation: str, *turns: tuple[str, str, str]
) -> tuple[tuple[dict[str, Any], dict[str, Any]], ...]:
    """The turns of a conversation, each as its evidence and its event."""
    told: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for sequence, (actor, at, text) in enumerate(turns, start=1):
        name = f"{conversation}_{sequence}"
        payload: dict[str, Any] = {
            "conversation_id": f"story-{conversation}",
            "sequence": sequence,
            "actor": actor,
            "role": "agent" if actor.startswith("ent:agent:") else "user",
            "content": text,
        }
        if sequence > 1:
            payload["reply_to"] = f"story/talk/{conversation}/{sequence - 1}"
        event = {
            "id": f"story/talk/{conversation}/{sequence}",
            "type": "interaction_event",
            "payload": payload,
            "evidence_refs": [f"evd_story_{name}"],
            "confidence": {"level": "very_high"},
            "observed_at": at,
            "salience": 0.3,
            "layer": "session",
        }
        ref = f"chat://ferrytime/{conversation}#{sequence}"
        told.append((source(name, "conversation_turn", ref, at, text=text), event))
    return tuple(told)
