"""What a request tells of its situation: what to foreground, and the task that is worked on.

Neither replaces cues. Both are policy of one request and no memory (spec, "AttentionContext", and the
cues that it lists for retrieval).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from amos_graph.domain.model import Strict

RiskPosture = Literal["normal", "cautious", "high_risk"]
TimeHorizon = Literal["immediate", "short", "long"]
RiskLevel = Literal["low", "medium", "high"]

#: The posture that a task's risk asks for, where attention names none.
_POSTURES: Final[Mapping[RiskLevel, RiskPosture]] = MappingProxyType(
    {"low": "normal", "medium": "cautious", "high": "high_risk"}
)


def said(text: str) -> str:
    """The text, which must say something. For validators."""
    if not text.strip():
        raise ValueError("says nothing")
    return text


Phrase = Annotated[
    str,
    Field(max_length=2_000),
    AfterValidator(said),
    WithJsonSchema({"type": "string", "pattern": r"\S", "maxLength": 2_000}),
]
Phrases = Annotated[list[Phrase], Field(max_length=50)]
TypeNames = Annotated[list[str], Field(max_length=100)]


class AttentionContext(Strict):
    """What is to be foregrounded or held back while answering; it never replaces cues."""

    active_task: Phrase | None = None
    mission: Phrase | None = None
    goal: Phrase | None = None
    role: Phrase | None = None
    risk_posture: RiskPosture | None = None
    time_horizon: TimeHorizon | None = None
    focus_terms: Phrases = Field(default_factory=list[str])
    suppress_terms: Phrases = Field(default_factory=list[str])
    boost_memory_types: TypeNames = Field(default_factory=list[str])
    suppress_memory_types: TypeNames = Field(default_factory=list[str])
    counterevidence_required: bool | None = None
    #: 0 asks for none; 1 for as much as the component gives.
    novelty_preference: Annotated[float, Field(ge=0, le=1)] | None = None

    @property
    def focus(self) -> list[str]:
        """Every text that focuses: the terms themselves, and task, mission, goal and role."""
        stated = (self.active_task, self.mission, self.goal, self.role)
        return [*self.focus_terms, *(text for text in stated if text)]


class TaskContext(Strict):
    """The task that is worked on. Its words focus; its risk and horizon set the posture."""

    task_type: Phrase | None = None
    goal: Phrase | None = None
    active_project: Phrase | None = None
    #: Names or ids of what the task is about.
    entities: Phrases = Field(default_factory=list[str])
    constraints: Phrases = Field(default_factory=list[str])
    recent_instructions: Phrases = Field(default_factory=list[str])
    recent_failures: Phrases = Field(default_factory=list[str])
    recent_corrections: Phrases = Field(default_factory=list[str])
    available_capabilities: Phrases = Field(default_factory=list[str])
    denied_capabilities: Phrases = Field(default_factory=list[str])
    known_limitations: Phrases = Field(default_factory=list[str])
    tool_state: Phrases = Field(default_factory=list[str])
    #: Ids of atoms, each of which is a candidate.
    decision_refs: Phrases = Field(default_factory=list[str])
    action_refs: Phrases = Field(default_factory=list[str])
    outcome_refs: Phrases = Field(default_factory=list[str])
    desired_output_type: Phrase | None = None
    risk_level: RiskLevel | None = None
    time_horizon: TimeHorizon | None = None

    @property
    def focus(self) -> list[str]:
        """Every text of it whose words look for candidates and foreground them."""
        stated = (self.task_type, self.goal, self.active_project, self.desired_output_type)
        lists = (
            self.entities,
            self.constraints,
            self.recent_instructions,
            self.recent_failures,
            self.recent_corrections,
            self.available_capabilities,
            self.denied_capabilities,
            self.known_limitations,
            self.tool_state,
            self.decision_refs,
            self.action_refs,
            self.outcome_refs,
        )
        return [*(text for text in stated if text), *(text for texts in lists for text in texts)]


def settled_attention(attention: AttentionContext, task: TaskContext | None) -> AttentionContext:
    """Attention with the posture and the horizon of the task where it names none itself."""
    if task is None:
        return attention
    posture = attention.risk_posture or (_POSTURES[task.risk_level] if task.risk_level else None)
    horizon = attention.time_horizon or task.time_horizon
    return attention.model_copy(update={"risk_posture": posture, "time_horizon": horizon})
