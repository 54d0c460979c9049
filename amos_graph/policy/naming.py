"""How activation passes between memories that speak of the same thing, as pure arithmetic.

A memory about one thing is found by words; the next one often shares no word with the cue, and is found
because it speaks of something that the first one names. So activation passes over shared names, in at
most two steps, and less the more memories a name joins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from amos_graph.policy.ranking import Activation

#: Memories from which a step starts, the strongest ones.
STARTS_MAX: Final = 10
#: Memories up to which a name joins those that speak of it; beyond, it tells nothing of any of them.
COMMON_MAX: Final = 30
#: What the second step leaves of an activation.
SECOND_STEP: Final = 0.5
#: A start counts by this power of its part of the best one's strength: the path of a poor match is no answer.
SHARPNESS: Final = 3
#: How the packet names such a step: the relation by which edges say the same.
CO_REFERS: Final = "rel:co_refers"


@dataclass(frozen=True, slots=True)
class Shared:
    """Something that several memories speak of: those that were asked about it, and all that may be seen."""

    #: The key of a name, or the id of an entity.
    key: str
    sources: Sequence[str]
    atoms: Sequence[str]


def starts(matches: Mapping[str, float]) -> dict[str, Activation]:
    """The strongest matches as beginnings of a walk, each weakened by how far it is from the best."""
    best = max(matches.values(), default=0.0)
    ordered = sorted(((-value, ref) for ref, value in matches.items() if value > 0))
    return {
        ref: Activation(-value * (-value / best) ** SHARPNESS, ref) for value, ref in ordered[:STARTS_MAX]
    }


def further(reached: Mapping[str, Activation]) -> dict[str, Activation]:
    """The strongest of what a step reached, as beginnings of the next."""
    ordered = sorted(reached.items(), key=lambda pair: (-pair[1].strength, pair[0]))
    return {
        ref: Activation(found.strength * SECOND_STEP, found.seed, found.path)
        for ref, found in ordered[:STARTS_MAX]
    }


def step(begin: Mapping[str, Activation], shared: Iterable[Shared]) -> dict[str, Activation]:
    """What one step over shared names reaches, each by its strongest way.

    A step passes activation ÷ √(memories that speak of the name). No way leads back to its seed; of two
    that are equally strong the one with the lesser seed and names counts.
    """
    best: dict[str, tuple[float, str, list[str], Activation]] = {}
    for thing in shared:
        degree = len(thing.atoms)
        if not 1 < degree <= COMMON_MAX:
            continue
        for source in thing.sources:
            start = begin.get(source)
            if start is None:
                continue
            strength = start.strength / math.sqrt(degree)
            ways = [*(str(passed["name"]) for passed in start.path), thing.key]
            for ref in thing.atoms:
                if ref in (source, start.seed):
                    continue
                known = best.get(ref)
                if known is None or (-strength, start.seed, ways) < known[:3]:
                    taken = {"relation": CO_REFERS, "name": thing.key, "source": source, "target": ref}
                    path = (*start.path, {**taken, "along": True})
                    best[ref] = (-strength, start.seed, ways, Activation(strength, start.seed, path))
    return {ref: found for ref, (*_, found) in best.items()}


def stronger(one: Mapping[str, Activation], other: Mapping[str, Activation]) -> dict[str, Activation]:
    """The activations of both, of two for one atom the stronger, and of equals the first."""
    return {
        **one,
        **{
            ref: found for ref, found in other.items() if ref not in one or found.strength > one[ref].strength
        },
    }
