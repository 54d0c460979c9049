"""How recall ranks: the table of weights, and pure arithmetic over what is stored (spec, "score_components").

score = Σ weight × component. Components are in 0..1, penalties have negative weights, and the parts of
an item add up to its score exactly (`math.fsum`), so that every rank can be recomputed by hand.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Final

#: The identity of this table and of the arithmetic below; packets name it.
POLICY_ID: Final = "amos.recall.1"

#: Component → weight. What is gained adds up to 1; a penalty at its full takes what stands here.
WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "direct_cue_match": 0.45,
        "edge_activation": 0.20,
        "attention_focus": 0.10,
        "attention_type_boost": 0.05,
        "recency": 0.05,
        "confidence": 0.05,
        "utility": 0.05,
        "salience": 0.05,
        "staleness_penalty": -0.15,
        "contradiction_penalty": -0.10,
        "redundancy_penalty": -0.25,
        "attention_suppression_penalty": -0.30,
    }
)

RECENCY_HORIZON_DAYS: Final = 30.0
#: Texts that share at least this part of their words are taken for the same thing said twice.
NEAR_IDENTICAL: Final = 0.9
#: Digits of a component. Fixed, so that equal inputs give equal text whatever computed them.
DIGITS: Final = 9

#: What an atom's standing takes from it: health that is let in on request or down-ranked, and archiving.
STANDING_PENALTY: Final[Mapping[str, float]] = MappingProxyType(
    {
        "stale": 1.0,
        "redundant": 1.0,
        "incoherent": 1.0,
        "confounding": 1.0,
        "superseded": 1.0,
        "orphaned": 0.5,
        "underspecified": 0.5,
        "overgeneralized": 0.5,
        "low_utility": 0.5,
        "archived": 0.5,
    }
)
#: A contradiction by a visible edge, and one that the atom's health states.
OPEN_CONTRADICTION: Final = 0.5
STATED_CONTRADICTION: Final = 1.0


@dataclass(frozen=True, slots=True)
class Traits:
    """What an atom is scored by, as stored."""

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
    contradictions: int
    #: The words of the search text, and those of them that are not the atom's own id.
    tokens: frozenset[str]
    content: frozenset[str]


@dataclass(frozen=True, slots=True)
class Attention:
    """What is foregrounded and what is held back, as words and types."""

    focus: tuple[str, ...] = ()
    suppress: tuple[str, ...] = ()
    boost_types: frozenset[str] = frozenset()
    suppress_types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Activation:
    """The strongest activation that reached an atom, and the steps by which it came."""

    strength: float
    seed: str
    path: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """An atom with its components, their parts and its score."""

    traits: Traits
    components: Mapping[str, float]
    parts: Mapping[str, float]
    score: float
    activation: Activation | None = None
    matched: tuple[str, ...] = ()
    #: The higher ranked atom that says nearly the same.
    repeats: str | None = None


@dataclass(frozen=True, slots=True)
class Rarity:
    """How telling each word of a query is among the atoms that were found and may be seen."""

    weights: Mapping[str, float] = field(default_factory=dict[str, float])

    def share(self, matched: Collection[str]) -> float:
        """The part of the query, weighted by rarity, that `matched` covers."""
        total = math.fsum(self.weights.values())
        if not total:
            return 0.0
        return round(min(1.0, math.fsum(self.weights[word] for word in matched) / total), DIGITS)


def rarity(words: Sequence[str], found: Iterable[Collection[str]]) -> Rarity:
    """Weigh query words by how few of the found atoms they match; a word that none matches is rarest."""
    matches = list(found)
    counts = Counter(word for matched in matches for word in set(matched))
    return Rarity({word: math.log1p((len(matches) + 1) / (counts[word] + 1)) for word in words})


def recency(updated_at: datetime, at: datetime) -> float:
    """1 for an atom written at the instant, 0 from thirty days on; it is age that counts."""
    age_days = (at - updated_at).total_seconds() / 86_400
    return round(min(1.0, max(0.0, 1.0 - age_days / RECENCY_HORIZON_DAYS)), DIGITS)


def holds(traits: Traits, at: datetime) -> bool:
    """True if the atom's validity interval covers the instant; an atom without one always holds."""
    return (traits.valid_from is None or traits.valid_from <= at) and (
        traits.valid_until is None or at < traits.valid_until
    )


def staleness(traits: Traits, at: datetime) -> float:
    """What standing and age of validity take; superseded atoms that held at the instant lose nothing."""
    dated = traits.valid_from is not None or traits.valid_until is not None
    if traits.state_key == "superseded" and dated and holds(traits, at):
        return 0.0
    flagged = max((STANDING_PENALTY.get(flag, 0.0) / 2 for flag in traits.health_flags), default=0.0)
    stands = max(STANDING_PENALTY.get(name, 0.0) for name in (traits.state_key, traits.health_status))
    return max(stands, flagged, 0.0 if holds(traits, at) else 1.0)


def contradiction(traits: Traits) -> float:
    """What contradictions take: all if the atom's health states one, half while one is open."""
    if traits.health_status == "contradicted" or "contradicted" in traits.health_flags:
        return STATED_CONTRADICTION
    return OPEN_CONTRADICTION if traits.contradictions else 0.0


def score(
    traits: Traits,
    *,
    at: datetime,
    direct: float,
    focus: float,
    attention: Attention,
    activation: Activation | None,
    matched: tuple[str, ...] = (),
    valid_at: datetime | None = None,
) -> Scored:
    """An atom's components and score, before it is compared with others.

    Age is counted back from `at`; what must hold, must hold at `valid_at`, which is the same unless given.
    """
    suppressed = [word for word in attention.suppress if word in traits.tokens]
    share = len(suppressed) / len(attention.suppress) if attention.suppress else 0.0
    components = {
        "direct_cue_match": direct,
        "edge_activation": round(min(1.0, activation.strength), DIGITS) if activation else 0.0,
        "attention_focus": focus,
        "attention_type_boost": 1.0 if traits.type in attention.boost_types else 0.0,
        "recency": recency(traits.updated_at, at),
        "confidence": traits.confidence,
        "utility": traits.utility,
        "salience": traits.salience,
        "staleness_penalty": staleness(traits, valid_at or at),
        "contradiction_penalty": contradiction(traits),
        "redundancy_penalty": 0.0,
        "attention_suppression_penalty": (
            1.0 if traits.type in attention.suppress_types else round(share, DIGITS)
        ),
    }
    return _scored(traits, components, activation, matched)


def rank(scored: Iterable[Scored], limit: int) -> list[Scored]:
    """The best `limit`, after what nearly repeats a higher ranked atom has paid for it; ties go by id.

    A penalty only lowers, so once `limit` settled atoms stand above the next one's full score, the rest
    cannot change the answer.
    """
    ordered = sorted(scored, key=place)
    settled: list[Scored] = []
    places: list[tuple[float, str]] = []
    for entry in ordered:
        if len(places) >= limit and places[limit - 1] <= place(entry):
            break
        likeness, other = _closest(entry, settled)
        final = entry
        if other is not None:
            components = {**entry.components, "redundancy_penalty": round(likeness, DIGITS)}
            final = _scored(entry.traits, components, entry.activation, entry.matched, other)
        settled.append(final)
        insort(places, place(final))
    return sorted(settled, key=place)[:limit]


def place(entry: Scored) -> tuple[float, str]:
    """What the order of a packet goes by."""
    return -entry.score, entry.traits.id


def _scored(
    traits: Traits,
    components: Mapping[str, float],
    activation: Activation | None,
    matched: tuple[str, ...],
    repeats: str | None = None,
) -> Scored:
    # Adding zero turns the -0.0 of an absent penalty into 0.0.
    parts = {name: round(WEIGHTS[name] * value, DIGITS) + 0.0 for name, value in components.items()}
    return Scored(traits, components, parts, math.fsum(parts.values()), activation, matched, repeats)


def _closest(entry: Scored, above: Sequence[Scored]) -> tuple[float, str | None]:
    """The most alike atom of the same type above, if it is nearly identical."""
    best, closest = 0.0, None
    mine = entry.traits.content
    for other in above:
        theirs = other.traits.content
        if other.traits.type != entry.traits.type or not mine or not theirs:
            continue
        small, large = sorted((len(mine), len(theirs)))
        if small < NEAR_IDENTICAL * large:
            continue
        shared = len(mine & theirs)
        likeness = shared / (len(mine) + len(theirs) - shared)
        if likeness >= NEAR_IDENTICAL and likeness > best:
            best, closest = likeness, other.traits.id
    return best, closest
