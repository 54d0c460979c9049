"""What an agent knows of itself: its model, abilities, limits, state, assessments and traces."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from amos_graph.domain.atoms.payload import (
    ITEMS_MAX,
    AtomRefs,
    Details,
    Experience,
    Payload,
    Refs,
    lift,
)
from amos_graph.domain.ids import EntityId, Identifier
from amos_graph.domain.model import Strict
from amos_graph.domain.times import Timestamp
from amos_graph.domain.value_kinds import fault
from amos_graph.domain.values import AtomValue, Condition, Detail, Statement, ValueRecord

GrantedBy = Literal["policy", "user_instruction", "system_configuration"]
CapabilityType = Literal["tool", "model", "memory", "planning", "execution", "communication", "analysis"]
Availability = Literal["available", "unavailable", "degraded", "unknown"]
LimitationType = Literal[
    "policy", "permission", "resource", "knowledge", "model", "tool", "environment", "reliability"
]
Severity = Literal["low", "medium", "high", "critical"]
ResponsibilityLevel = Literal["primary", "contributing", "reviewing", "observing", "blocked"]
AgencyAttribution = Literal["self", "other_agent", "shared_system", "external", "unknown"]


def _packet_id(text: str) -> str:
    if not text.startswith("pkt_"):
        raise ValueError("not a packet id (pkt_…)")
    return text


PacketId = Annotated[Identifier, AfterValidator(_packet_id)]


class DelegatedAuthority(Strict):
    """One authority that an agent was given: by what kind of source, and where that is written."""

    authority: Detail
    granted_by: GrantedBy
    basis_refs: Annotated[Refs, Field(min_length=1)]


class SelfModel(Payload):
    """What an agent knows of itself as a participant (spec, "SelfModelAtom payload").

    `self_description` is a rendering for people; the other fields are what counts, so it is no search text.
    """

    atom_type = "self_model"
    label = "SelfModel"
    lifted = lift("subject_agent", "role", "operating_mode")
    slot = ("subject_agent",)
    role_text = "{subject_agent}: {role}"
    apart = Payload.apart | {"self_description"}

    subject_agent: EntityId
    role: Detail
    owner_scope: Condition | None = None
    operating_mode: AtomValue | None = None
    delegated_authority: Annotated[list[DelegatedAuthority], Field(max_length=ITEMS_MAX)] | None = None
    current_objectives: Details | None = None
    active_constraints: Details | None = None
    known_dependencies: Details | None = None
    self_description: Statement | None = None


class Capability(Experience):
    """What an agent can do at present or has shown that it can (spec, "CapabilityAtom payload")."""

    atom_type = "capability"
    label = "Capability"
    lifted = lift("subject_agent", "capability", "capability_type", "availability", "last_verified_at")
    slot = ("subject_agent", "capability")
    role_text = "{subject_agent} can {capability} ({availability})"

    subject_agent: EntityId
    capability: Detail
    capability_type: CapabilityType
    availability: Availability
    preconditions: Details | None = None
    required_permissions: Details | None = None
    operational_limits: ValueRecord | None = None
    verification_method: Detail | None = None
    last_verified_at: Timestamp | None = None


class Limitation(Experience):
    """What an agent cannot or may not do, or does not know (spec, "LimitationAtom payload").

    `scope` says where the limitation applies; who may read of it is the envelope's matter.
    """

    atom_type = "limitation"
    label = "Limitation"
    lifted = lift("subject_agent", "limitation", "limitation_type", "severity", "last_verified_at")
    slot = ("subject_agent", "limitation")
    role_text = "{subject_agent} is limited: {limitation}"

    subject_agent: EntityId
    limitation: Detail
    limitation_type: LimitationType
    scope: Condition | None = None
    severity: Severity | None = None
    workaround: Detail | None = None
    verification_method: Detail | None = None
    last_verified_at: Timestamp | None = None


class RuntimeState(Payload):
    """The state of a running client at one moment, until it expires (spec, "RuntimeStateSnapshot").

    It holds from `captured_at` until `expires_at`, so that what has expired is not recalled as current,
    and is no long-term memory unless its envelope says so. `agent_id` to `load` are what
    `POST /v1/runtime-state` takes.
    """

    atom_type = "runtime_state"
    label = "RuntimeState"
    lifted = lift("snapshot_id", "client_identity", "agent_id", "current_task")
    role_text = "{client_identity} {agent_id} at {captured_at}"
    holds = ("captured_at", "expires_at")
    defaults = MappingProxyType({"layer": "immediate", "retention_class": "ephemeral"})
    immutable = True

    snapshot_id: Identifier | None = None
    client_identity: Identifier | None = None
    scope: Condition | None = None
    current_task: Detail | None = None
    active_plan: Details | None = None
    active_goal_refs: AtomRefs | None = None
    open_commitment_refs: AtomRefs | None = None
    available_tools: Details | None = None
    denied_tools: Details | None = None
    resource_budgets: ValueRecord | None = None
    execution_environment: Detail | None = None
    recent_errors: Details | None = None
    current_uncertainties: Details | None = None
    agent_id: Identifier | None = None
    capabilities: Details | None = None
    denied_capabilities: Details | None = None
    constraints: Details | None = None
    load: ValueRecord | None = None
    captured_at: Timestamp
    expires_at: Timestamp

    @model_validator(mode="after")
    def _of_somebody_for_a_while(self) -> RuntimeState:
        if self.client_identity is None and self.agent_id is None:
            raise fault("a state is that of a client or of an agent", "client_identity")
        # Canonical times compare as text.
        if self.expires_at <= self.captured_at:
            raise fault("is not after captured_at", "expires_at")
        return self


class SelfAssessment(Payload):
    """How an agent judges what it did lately (spec, "SelfAssessmentRecord").

    `claim` and `calibration` are what `POST /v1/self-assessments` takes.
    """

    atom_type = "self_assessment"
    label = "SelfAssessment"
    lifted = lift("assessment_id", "subject_agent", "task_ref", "calibration_delta", "assessed_at")
    role_text = "{subject_agent} assessed itself at {assessed_at}"

    assessment_id: Identifier | None = None
    subject_agent: EntityId
    task_ref: Identifier | None = None
    packet_refs: Annotated[list[PacketId], Field(max_length=ITEMS_MAX)] | None = None
    claimed_capabilities: Details | None = None
    capabilities_used: Details | None = None
    commitments_made: Details | None = None
    commitments_satisfied: Details | None = None
    uncertainties_declared: Details | None = None
    errors_observed: Details | None = None
    corrections_received: Details | None = None
    calibration_delta: float | None = Field(default=None, ge=-1, le=1)
    recommended_memory_updates: Details | None = None
    claim: Statement | None = None
    calibration: ValueRecord | None = None
    assessed_at: Timestamp


#: The levels that say of an agent that it brought about what came of a task.
_CLAIMED = frozenset({"primary", "contributing"})
#: Who caused it, where that is not the agent itself: then the agent was not the primary one.
_OTHERS = frozenset({"other_agent", "external", "unknown"})


class AgenticTrace(Payload):
    """From an agent's intentions through its actions to what came of them (spec, "AgenticTrace").

    Responsibility is told from what the agent did: an outcome alone claims nothing. A primary
    responsibility names the evidence against it, or says with an empty list that none was found.
    """

    atom_type = "agentic_trace"
    label = "AgenticTrace"
    lifted = lift(
        "trace_id",
        "subject_agent",
        "task_ref",
        "responsibility_level",
        "agency_confidence",
        "agency_attribution",
        "assessed_at",
    )
    role_text = "{subject_agent} {responsibility_level} in {task_ref}"

    trace_id: Identifier | None = None
    subject_agent: EntityId
    scope: Condition | None = None
    task_ref: Identifier
    intent_refs: Refs | None = None
    decision_refs: Refs | None = None
    action_refs: Refs | None = None
    tool_event_refs: Refs | None = None
    outcome_refs: Refs | None = None
    correction_refs: Refs | None = None
    limitation_refs: Refs | None = None
    responsibility_level: ResponsibilityLevel
    agency_confidence: float | None = Field(default=None, ge=0, le=1)
    agency_attribution: AgencyAttribution | None = None
    external_constraints: Details | None = None
    counterevidence_refs: Refs | None = None
    assessed_at: Timestamp | None = None

    @model_validator(mode="after")
    def _earned(self) -> AgenticTrace:
        level = "responsibility_level"
        did = self.decision_refs or self.action_refs or self.tool_event_refs
        if self.responsibility_level in _CLAIMED and not did:
            raise fault("needs a decision, an action or a tool event; an outcome is no evidence of it", level)
        if self.responsibility_level == "primary":
            if self.agency_attribution in _OTHERS:
                raise fault(f"is not primary where the cause is {self.agency_attribution}", level)
            if self.counterevidence_refs is None:
                raise fault(
                    "a primary responsibility names what speaks against it, or []", "counterevidence_refs"
                )
        return self
