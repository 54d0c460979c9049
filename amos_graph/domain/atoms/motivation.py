"""What is wanted, valued and promised: preferences, values, goals and commitments."""

from __future__ import annotations

from typing import Literal

from amos_graph.domain.atoms.payload import Details, Payload, lift
from amos_graph.domain.ids import Identifier
from amos_graph.domain.times import Timestamp
from amos_graph.domain.values import AtomValue, Condition, Detail

Polarity = Literal["prefers", "avoids", "requires", "forbids"]
Strength = Literal["very_low", "low", "medium", "high", "very_high"]
Priority = Literal["low", "medium", "high", "critical"]
GoalStatus = Literal["proposed", "active", "paused", "satisfied", "abandoned", "blocked"]
CommitmentStatus = Literal["open", "fulfilled", "failed", "cancelled", "superseded"]


class Preference(Payload):
    """What somebody prefers, avoids, requires or forbids, and where that applies (spec, PreferenceAtom)."""

    atom_type = "preference"
    label = "Preference"
    lifted = lift("holder", "polarity", "target", "strength")
    slot = ("holder", "target")
    role_text = "{holder} {polarity} {target}"

    holder: AtomValue
    polarity: Polarity
    target: AtomValue
    applicability_scope: Condition
    strength: Strength
    exceptions: Details | None = None


class Value(Payload):
    """What somebody holds to be worth pursuing, how strongly, and what it is at odds with (design §7)."""

    atom_type = "value"
    label = "Value"
    lifted = lift("holder", "value", "strength")
    slot = ("holder", "value")
    role_text = "{holder} values {value} ({strength})"

    holder: AtomValue
    value: Detail
    strength: Strength
    applicability_scope: Condition | None = None
    tensions: Details | None = None


class Goal(Payload):
    """A state that somebody wants to reach, and how far it is (spec, "Goal payload")."""

    atom_type = "goal"
    label = "Goal"
    lifted = lift("owner", "desired_state", "goal_status", "priority", "deadline")
    slot = ("owner", "desired_state")
    role_text = "{owner} wants {desired_state} ({goal_status})"

    owner: AtomValue
    desired_state: Detail
    goal_status: GoalStatus
    priority: Priority | None = None
    deadline: Timestamp | None = None
    dependencies: Details | None = None
    blockers: Details | None = None


class Commitment(Payload):
    """An action that an agent promised, and whether it was done (spec, "Commitment payload")."""

    atom_type = "commitment"
    label = "Commitment"
    lifted = lift("agent", "promised_action", "recipient", "commitment_status")
    slot = ("agent", "promised_action")
    role_text = "{agent} promised {promised_action} ({commitment_status})"

    agent: AtomValue
    promised_action: Detail
    commitment_status: CommitmentStatus
    recipient: AtomValue | None = None
    due_condition: Condition | None = None
    source_event: Identifier | None = None
