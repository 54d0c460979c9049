"""What the messages of a conversation become: source events, interaction events, outcomes, an episode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from amos_graph.domain.captions import clip
from amos_graph.domain.ids import derived_id
from amos_graph.upkeep.transcripts import Call, Conversation, Message

#: How much of a tool's answer or of the first request is repeated where a line of it is enough.
EXCERPT_MAX: Final = 300
#: Outcomes that the episode of a conversation points at.
OUTCOMES_LINKED_MAX: Final = 90

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@/+\-]{0,149}")
_ERROR = re.compile(r"\W*(error|exception|failed|failure|traceback)\b", re.IGNORECASE)
_STATUS_CONFIDENCE: Final[Mapping[str, str]] = {"failed": "high", "succeeded": "medium", "unknown": "low"}


@dataclass(frozen=True, slots=True)
class Records:
    """Source events and the atoms that rest on them."""

    events: tuple[dict[str, Any], ...]
    atoms: tuple[dict[str, Any], ...]


def event_ref(conversation_id: str, sequence: int) -> str:
    """The atom id of a message."""
    return f"chat/{conversation_id}/{sequence}"


def outcome_ref(conversation_id: str, sequence: int) -> str:
    """The atom id of what a tool's answer says about the call."""
    return f"chat/{conversation_id}/{sequence}/outcome"


def episode_ref(conversation_id: str) -> str:
    """The atom id of a conversation that was judged."""
    return f"chat/{conversation_id}/episode"


def evidence_ref(conversation_id: str, place: int | str) -> str:
    """The evidence id of a message, or of the judgment."""
    return derived_id("evd_", ["chat", conversation_id, place])


def message_records(conversation: Conversation) -> Iterator[Records]:
    """The records of each message in turn: its evidence, its event, and an outcome if a tool answers."""
    open_calls: list[tuple[int, Call]] = []
    for sequence, message in enumerate(conversation.messages, start=1):
        proof = evidence_ref(conversation.id, sequence)
        source = {
            "evidence_id": proof,
            "source_type": _source_type(message),
            "source_ref": f"chat:{conversation.id}#{sequence}",
            # One level down, so that no field of a stranger's message is taken for one of ours.
            "payload": {"message": dict(message.source)},
        }
        atoms = [_event(conversation, sequence, message, proof)]
        if message.role == "tool":
            atoms.append(_outcome(conversation, sequence, message, _answered(open_calls, message)))
        open_calls += [(sequence, call) for call in message.calls]
        yield Records((source,), tuple(atoms))


def _source_type(message: Message) -> str:
    if message.role == "tool":
        return "tool_result"
    return "tool_call" if message.calls else "conversation_turn"


def _answered(open_calls: list[tuple[int, Call]], message: Message) -> tuple[int, Call] | None:
    """The call that an answer is for; ids are reused in practice, so the oldest open one is meant."""
    for entry in open_calls:
        _, call = entry
        same = call.id == message.call_id if message.call_id else call.name == message.name
        if same:
            open_calls.remove(entry)
            return entry
    return None


def _event(conversation: Conversation, sequence: int, message: Message, proof: str) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "conversation_id": conversation.id,
        "sequence": sequence,
        "actor": _actor(message),
        "role": message.role,
    }
    if message.text is not None:
        payload["content"] = message.text
    if sequence > 1:
        payload["reply_to"] = event_ref(conversation.id, sequence - 1)
    if message.calls:
        payload["tool_calls"] = [_call(call) for call in message.calls]
    if message.role == "tool":
        optional = {
            "tool_call_id": message.call_id,
            "tool_name": message.name,
            "tool_result": message.result,
            "is_error": True if success_status(message) == "failed" else None,
        }
        payload |= {name: value for name, value in optional.items() if value is not None}
    return {
        "id": event_ref(conversation.id, sequence),
        "type": "interaction_event",
        "payload": payload,
        "evidence_refs": [proof],
        "confidence": {"level": "very_high", "basis": {"source_type": "transcript"}},
        "salience": 0.3,
        "layer": "session",
        "retention_class": "recent",
    }


def _call(call: Call) -> dict[str, Any]:
    record = {"id": call.id, "name": call.name, "arguments": call.arguments}
    return {name: value for name, value in record.items() if value is not None}


def _actor(message: Message) -> Any:
    if message.role == "tool":
        return _tool(message.name or "tool")
    return _literal(message.name or message.role)


def _tool(name: str) -> Any:
    """A tool as an entity, so that what became of its calls is found in one place."""
    return f"ent:tool:{name}" if _SLUG.fullmatch(name) else _literal(name)


def _literal(text: str) -> dict[str, Any]:
    """Text of a stranger's as text, whatever it begins with."""
    return {"value_type": "string_literal", "value": text}


def _outcome(
    conversation: Conversation, sequence: int, message: Message, answered: tuple[int, Call] | None
) -> dict[str, Any]:
    status = success_status(message)
    made_from = [sequence, answered[0]] if answered else [sequence]
    name = message.name or (answered[1].name if answered else "tool")
    said = clip(_said(message), EXCERPT_MAX)
    payload: dict[str, Any] = {
        "subject_agent": "assistant",
        "action_type": "tool_call",
        "tool_ref": _tool(name),
        "success_status": status,
        "graph_relations": [
            {
                "relation": "rel:derived_from",
                "target_ref": event_ref(conversation.id, place),
                "evidence_refs": [evidence_ref(conversation.id, place)],
            }
            for place in made_from
        ],
    }
    if said:
        payload["actual_outcome"] = _literal(said)
    return {
        "id": outcome_ref(conversation.id, sequence),
        "type": "action_outcome",
        "payload": payload,
        "evidence_refs": [evidence_ref(conversation.id, place) for place in made_from],
        "confidence": {"level": _STATUS_CONFIDENCE[status], "basis": {"source_type": "tool_result"}},
        "layer": "recent_episodic",
        "retention_class": "recent",
    }


def _said(message: Message) -> str:
    if message.text is not None:
        return message.text
    content = message.source.get("content")
    return content if isinstance(content, str) else ""


def success_status(message: Message) -> str:
    """What a tool's answer says about its call: failed, succeeded, or unknown where it says nothing."""
    if message.is_error is not None:
        return "failed" if message.is_error else "succeeded"
    result = cast("object", message.result)
    if isinstance(result, dict):
        members = cast("dict[str, Any]", result)
        stated = members.get("success", members.get("ok"))
        failed = members.get("error") or members.get("errors") or stated is False
        return "failed" if failed else "succeeded"
    if result is not None:
        return "succeeded"
    text = (message.text or "").strip()
    if not text:
        return "unknown"
    return "failed" if _ERROR.match(text) else "succeeded"


def closing_records(conversation: Conversation) -> Iterator[Records]:
    """The judgment of a conversation that was judged, and the episode that it is about."""
    if conversation.reward is None:
        return
    proof = evidence_ref(conversation.id, "evaluation")
    last = len(conversation.messages)
    judged = {
        "evidence_id": proof,
        "source_type": "evaluator_result",
        "source_ref": f"chat:{conversation.id}#evaluation",
        "payload": {"about": dict(conversation.about), "messages": last},
    }
    answers = [
        (sequence, message)
        for sequence, message in enumerate(conversation.messages, start=1)
        if message.role == "tool"
    ]
    failed = [_failure(message) for _, message in answers if success_status(message) == "failed"]
    linked = [
        *dict.fromkeys((event_ref(conversation.id, 1), event_ref(conversation.id, last))),
        *(outcome_ref(conversation.id, sequence) for sequence, _ in answers[-OUTCOMES_LINKED_MAX:]),
    ]
    payload: dict[str, Any] = {
        "task": _literal(_first_request(conversation)),
        "context": _context(conversation),
        "outcome": _literal(f"reward {conversation.reward:g}"),
        "raw_event_range": {"from": event_ref(conversation.id, 1), "to": event_ref(conversation.id, last)},
        "graph_relations": [{"relation": "rel:derived_from", "target_ref": ref} for ref in linked],
    }
    if failed:
        payload["errors"] = [_literal(text) for text in failed[:100]]
    episode = {
        "id": episode_ref(conversation.id),
        "type": "episode",
        "payload": payload,
        "evidence_refs": [proof],
        "confidence": {"level": "high", "basis": {"source_type": "evaluator_result"}},
        "layer": "recent_episodic",
        "retention_class": "recent",
    }
    yield Records((judged,), (episode,))


def _failure(message: Message) -> str:
    return clip(f"{message.name or 'tool'}: {_said(message)}", EXCERPT_MAX)


def _first_request(conversation: Conversation) -> str:
    for message in conversation.messages:
        if message.role == "user" and message.text:
            return clip(message.text, EXCERPT_MAX) or conversation.id
    return conversation.id


def _context(conversation: Conversation) -> dict[str, Any]:
    context: dict[str, Any] = {
        "conversation": _literal(conversation.id),
        "messages": len(conversation.messages),
        "reward": conversation.reward,
    }
    if conversation.task_id is not None:
        context["task_id"] = _literal(conversation.task_id)
    return context
