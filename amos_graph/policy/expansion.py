"""How accepted beliefs widen a cue, as pure decisions.

“Postgres is a database” lets a cue about databases reach what is known of Postgres; “Lena owns Brigid” lets
a cue about Lena reach what is known of Brigid, though neither shares a word with the cue (AIMAOS, learned
concept and relation expansions). An expansion is no record of its own: it is read from the belief, so it
is journaled, explained and evidenced with it, and gone when the belief is archived or superseded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from amos_graph.domain.mentions import is_name
from amos_graph.policy.ranking import Activation

#: Relations whose subject is an instance, member or part of their object: a cue about the object widens.
INSTANCES: Final = ("rel:is_a", "rel:member_of", "rel:part_of")
#: Beliefs of one entity that widen a cue, and memories that each of them leads to, the newest.
BELIEFS_MAX: Final = 20
REACHED_MAX: Final = 10
#: What a belief leaves of the match, beside its own confidence.
DECAY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Expansion:
    """A belief that leads from an entity that the cue names to another one."""

    #: The entity that the cue names.
    ref: str
    belief: str
    relation: str
    confidence: float
    #: The entity that it leads to, and its name.
    entity: str
    name: str
    #: True from subject to object.
    along: bool
    #: Memories about that entity beside the belief, the newest first.
    atoms: tuple[str, ...] = ()


def proper(expansions: Sequence[Expansion]) -> list[Expansion]:
    """Those that lead to something with a name of its own; a single word may be written small (`redis`)."""
    return [each for each in expansions if is_name(each.name) or len(each.name.split()) == 1]


def expanded(expansions: Sequence[Expansion], matches: Mapping[str, float]) -> dict[str, Activation]:
    """What memories gain from beliefs, each by its strongest way.

    A belief passes the match of the entity that the cue names × confidence × DECAY ÷ √(beliefs that
    widen it); `matches` says how much of the cue that entity's names cover.
    """
    widened = {ref: sum(each.ref == ref for each in expansions) for ref in matches}
    best: dict[str, tuple[float, str, str, Activation]] = {}
    for each in expansions:
        strength = (
            matches.get(each.ref, 0.0) * each.confidence * DECAY / math.sqrt(widened.get(each.ref) or 1)
        )
        for atom in each.atoms:
            if strength <= 0:
                continue
            known = best.get(atom)
            if known is None or (-strength, each.belief, each.entity) < known[:3]:
                step = {"relation": each.relation, "name": each.entity, "source": each.belief, "target": atom}
                found = Activation(strength, each.belief, ({**step, "along": each.along},))
                best[atom] = (-strength, each.belief, each.entity, found)
    return {atom: found for atom, (*_, found) in best.items()}
