"""What was said and called in a conversation, event by event, and what its discussions have come to."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from amos_graph.domain.atoms.payload import ITEMS_MAX, AtomRefs, Details, Payload, Refs, lift
from amos_graph.domain.canonical import INTEGER_MAX
from amos_graph.domain.captions import clip
from amos_graph.domain.ids import AtomId, Identifier
from amos_graph.domain.model import Strict
from amos_graph.domain.value_kinds import check_data, fault
from amos_graph.domain.values import (
    AtomValue,
    Data,
    Detail,
    Name,
    Prose,
    ValueRecord,
)

Role = Literal["user", "assistant", "system", "developer", "tool", "agent", "environment"]
#: The application's own mark of who was meant to hear it; access is decided by the envelope alone.
Visibility = Literal["all", "participants", "internal", "private"]

ThreadStatus = Literal["open", "closed"]
Participants = Annotated[list[AtomValue], Field(min_length=1, max_length=ITEMS_MAX)]

#: JSON as a tool took or gave it. Nothing in it is typed or a reference.
ToolData = Annotated[Any, AfterValidator(check_data), Data()]


class ToolCall(Strict):
    """One call that an event asks for; arguments as the model wrote them (text) or as an object."""

    id: Name | None = None
    name: Name
    arguments: ToolData = None


class InteractionEvent(Payload):
    """One immutable source event of a conversation, in its place (spec, "interaction_event")."""

    atom_type = "interaction_event"
    label = "InteractionEvent"
    lifted = lift(
        "conversation_id", "sequence", "actor", "role", "visibility", "reply_to", "tool_name", "tool_call_id"
    )
    role_text = "{role} {sequence}"
    immutable = True

    conversation_id: Identifier
    sequence: int = Field(ge=1, le=INTEGER_MAX)
    actor: AtomValue
    role: Role
    content: Prose | None = None
    visibility: Visibility | None = None
    reply_to: AtomId | None = None
    discourse_thread_refs: AtomRefs | None = None
    tool_calls: Annotated[list[ToolCall], Field(max_length=ITEMS_MAX), Data()] | None = None
    tool_call_id: Name | None = None
    tool_name: Name | None = None
    tool_result: ToolData = None
    is_error: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> InteractionEvent:
        if self.content is None and not self.tool_calls and self.tool_result is None:
            raise fault("an event has content, tool_calls or a tool_result", "content")
        for name in ("tool_call_id", "tool_name", "tool_result", "is_error"):
            if getattr(self, name) is not None and self.role != "tool":
                raise fault("only an event of role tool carries a tool's answer", name)
        if self.tool_calls and self.role == "tool":
            raise fault("a tool's answer calls no tools", "tool_calls")
        return self

    def title(self) -> str:
        called = ", ".join(call.name for call in self.tool_calls or ())
        said = (self.content or "").strip() or (f"calls {called}" if called else "answers")
        who = f"{self.role} {self.tool_name}" if self.tool_name else self.role
        return clip(f"{who}: {said}")


class DiscourseThread(Payload):
    """The stable identity of one bounded discussion (spec, "discourse_thread")."""

    atom_type = "discourse_thread"
    label = "DiscourseThread"
    lifted = lift("thread_id", "conversation_id", "opened_by_event_ref")
    slot = ("thread_id",)
    role_text = "{thread_id}: {topic}"

    thread_id: Identifier
    conversation_id: Identifier
    opened_by_event_ref: AtomId
    participants: Participants
    topic: Detail | None = None

    def title(self) -> str:
        return super().title().removesuffix(":")


class StateEntry(Strict):
    """One thing that a discussion has come to: the caller's class of it, its authority and its basis."""

    key: Name
    state_class: Name
    value: Detail
    authority: ValueRecord
    basis_refs: Annotated[Refs, Field(min_length=1)]


class DiscourseState(Payload):
    """One interpreted revision of a discussion's state (spec, "discourse_state head").

    A revision is never changed; the next one supersedes it.
    """

    atom_type = "discourse_state"
    label = "DiscourseState"
    lifted = lift("thread_id", "revision", "thread_status")
    slot = ("thread_id",)
    role_text = "{thread_id}, revision {revision}: {summary}"
    immutable = True

    thread_id: Identifier
    revision: int = Field(ge=1, le=INTEGER_MAX)
    entries: Annotated[list[StateEntry], Field(max_length=ITEMS_MAX)]
    thread_status: ThreadStatus | None = None
    summary: Prose | None = None
    participants: Participants | None = None
    head_event_refs: AtomRefs | None = None
    source_event_refs: AtomRefs | None = None
    unresolved_items: Details | None = None

    @model_validator(mode="after")
    def _each_key_once(self) -> DiscourseState:
        seen: set[str] = set()
        for index, entry in enumerate(self.entries):
            if entry.key in seen:
                raise fault("stands twice in this revision", "entries", index, "key")
            seen.add(entry.key)
        return self

    def title(self) -> str:
        return super().title().removesuffix(":")
