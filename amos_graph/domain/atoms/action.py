"""What is done: procedures, episodes, the outcomes of actions, and the work at hand."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from amos_graph.domain.atoms.payload import ITEMS_MAX, AtomRefs, Details, Learned, Payload, Refs, lift
from amos_graph.domain.ids import ID_LENGTH_MAX, EntityId, Identifier
from amos_graph.domain.model import Strict
from amos_graph.domain.values import AtomValue, Condition, Detail, ValueRecord

SuccessStatus = Literal["succeeded", "failed", "partial", "blocked", "unknown"]

_PROCEDURE = re.compile(r"proc:[A-Za-z0-9][A-Za-z0-9_.:@/+\-]*")


def _procedure_name(text: str) -> str:
    if len(text) > ID_LENGTH_MAX or not _PROCEDURE.fullmatch(text):
        raise ValueError("not a procedure name (proc:<slug>)")
    return text


ProcedureName = Annotated[str, AfterValidator(_procedure_name)]


class Procedure(Learned):
    """How something is done: when it applies, its steps, and how it fails (spec, "ProcedureAtom payload")."""

    atom_type = "procedure"
    label = "Procedure"
    lifted = lift("name", "owner")
    slot = ("name",)
    role_text = "{name}"

    name: ProcedureName
    trigger_context: Condition
    steps: Annotated[list[Detail], Field(min_length=1, max_length=ITEMS_MAX)]
    preconditions: Details | None = None
    tool_affordances: Details | None = None
    expected_outputs: Details | None = None
    known_failure_modes: Details | None = None
    recovery_strategies: Details | None = None
    owner: AtomValue | None = None

    def title(self) -> str:
        return super().title().removeprefix("proc:")


class EventRange(Strict):
    """The first and the last raw event of an episode."""

    from_: Identifier = Field(alias="from")
    to: Identifier


class Episode(Payload):
    """A compressed trace of meaningful activity; the raw transcript stays evidence (spec, Episode)."""

    atom_type = "episode"
    label = "Episode"
    lifted = lift("task", "outcome")
    role_text = "{task}: {outcome}"

    task: Detail
    context: ValueRecord | None = None
    actions_taken: Details | None = None
    decisions: Details | None = None
    outcome: Detail | None = None
    errors: Details | None = None
    corrections: Details | None = None
    successful_strategies: Details | None = None
    linked_beliefs: AtomRefs | None = None
    linked_procedures: Refs | None = None
    raw_event_range: EventRange | None = None

    def title(self) -> str:
        return super().title().removesuffix(":")


class ActionOutcome(Payload):
    """What became of an action or a decision, failures and blocked actions included (spec, ActionOutcome).

    The record's `scope` and `observed_at` are the envelope's.
    """

    atom_type = "action_outcome"
    label = "ActionOutcome"
    lifted = lift("action_id", "subject_agent", "action_type", "tool_ref", "success_status")
    role_text = "{subject_agent} {action_type}: {success_status}"

    action_id: Identifier | None = None
    subject_agent: AtomValue
    action_type: AtomValue
    decision_ref: Identifier | None = None
    tool_ref: AtomValue | None = None
    expected_outcome: Detail | None = None
    actual_outcome: Detail | None = None
    success_status: SuccessStatus
    error_refs: Refs | None = None
    correction_refs: Refs | None = None
    learning_refs: Refs | None = None


class WorkingState(Payload):
    """The task at hand: its state, plan, constraints, questions and entities (spec, "Working memory")."""

    atom_type = "working_state"
    label = "WorkingState"
    lifted = lift("subject_agent", "task", "active_entities")
    slot = ("subject_agent", "task")
    role_text = "{subject_agent} works on {task}"
    defaults = MappingProxyType({"layer": "working", "retention_class": "session"})

    subject_agent: EntityId | None = None
    task: Detail
    task_state: Detail | None = None
    current_plan: Details | None = None
    constraints: Details | None = None
    open_questions: Details | None = None
    active_entities: Annotated[list[EntityId], Field(max_length=ITEMS_MAX)] | None = None
