"""What an atom is scored by: its envelope, what counts of its payload, and the edges around it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

#: Fields by which a payload names who acted.
AGENT_FIELDS: Final = ("subject_agent", "agent_id", "agent", "actor")
_SCOPED: Final = tuple(
    f"scope_{name}"
    for name in ("project_id", "user_id", "agent_id", "session_id", "task_id", "tool_environment_id")
)
#: Atom type → native properties of it that count here. `payload` is the whole, as canonical JSON.
SAID: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "belief": ("subject", "relation", "object", "modality"),
        "semantic": ("subject",),
        "preference": ("holder", "payload", *_SCOPED),
        "goal": ("owner", "goal_status"),
        "commitment": ("agent", "commitment_status"),
        "procedure": ("owner", "name", "payload"),
        "episode": ("payload",),
        "action_outcome": ("subject_agent", "success_status"),
        "interaction_event": ("actor",),
        "self_model": ("subject_agent", "role"),
        "capability": ("subject_agent", "availability", "payload"),
        "limitation": ("subject_agent",),
        "agentic_trace": ("subject_agent", "responsibility_level", "agency_confidence"),
        "runtime_state": ("agent_id",),
        "self_assessment": ("subject_agent",),
        "working_state": ("subject_agent",),
    }
)
#: A longer payload is not looked into.
SAID_LENGTH_MAX: Final = 20_000
#: Degrees above it are all as familiar.
DEGREE_MAX: Final = 400


class Hold(NamedTuple):
    """An edge by which another atom holds this one back: `rel:inhibits`, `rel:corrects`, `rel:supersedes`."""

    source: str
    relation: str
    edge_id: str
    #: Weight × confidence.
    strength: float


@dataclass(frozen=True, slots=True)
class Traits:
    """What an atom is scored by, as stored; edges and neighbours as far as the caller may see them."""

    id: str
    type: str
    state_key: str
    health_status: str
    health_flags: Sequence[str]
    confidence: float
    utility: float
    salience: float
    updated_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    #: The words of the search text, and those of them that are not the atom's own id.
    tokens: frozenset[str]
    content: frozenset[str]
    version: int = 1
    #: What `SAID` names of it.
    said: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: The types of the atoms that contradict it, one for each contradiction.
    opposed: tuple[str, ...] = ()
    held: tuple[Hold, ...] = ()
    #: True if it corrects or supersedes another atom.
    corrects: bool = False
    #: Associations that may be walked; read only where novelty is preferred.
    degree: int = 0
    entities: frozenset[str] = frozenset()

    def record(self) -> Mapping[str, Any]:
        """The payload, where `SAID` reads it and it is not too long."""
        text = self.said.get("payload")
        return cast("dict[str, Any]", json.loads(text)) if isinstance(text, str) else {}
