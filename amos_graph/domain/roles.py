"""The roles of connected processes, as sets of capabilities (spec, "ClientIdentity")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from amos_graph.domain.scope import CAPABILITIES, TRUST_MAX


@dataclass(frozen=True, slots=True)
class Role:
    """What a process of this type may do unless its registration says otherwise."""

    capabilities: frozenset[str]
    trust_level: int
    #: The sentence that the documents show.
    meaning: str


_READS: Final = frozenset({"memory.read"})
_STEWARDS: Final = frozenset(
    {
        "atom.commit",
        "atom.archive",
        "atom.govern",
        "memory.steward",
        "memory.verify",
        "review.decide",
        "artifact.record",
    }
)

#: Process type → role; a process of another type states its capabilities itself.
ROLES: Final[Mapping[str, Role]] = MappingProxyType(
    {
        "reasoner": Role(
            _READS | {"atom.propose", "outcome.record"}, 1, "reads packets, proposes beliefs, tells outcomes"
        ),
        "planner": Role(_READS | {"atom.propose"}, 1, "reads, and proposes changes of goals and plans"),
        "executor": Role(
            _READS | {"event.capture", "outcome.record"}, 1, "reads procedures, captures what tools did"
        ),
        "critic": Role(
            _READS | {"atom.propose", "outcome.record", "memory.verify"},
            2,
            "reads evidence and telemetry, flags contradictions and failures",
        ),
        "steward": Role(
            _READS | _STEWARDS | {"event.capture", "atom.propose", "outcome.record"},
            5,
            "keeps the memory: commits, archives, governs, decides reviews",
        ),
        "user_interface": Role(
            _READS | {"event.capture", "atom.propose", "atom.archive", "atom.govern", "review.decide"},
            3,
            "shows memory to people, who correct, pin and approve",
        ),
        "admin": Role(frozenset(CAPABILITIES), TRUST_MAX, "everything"),
    }
)
