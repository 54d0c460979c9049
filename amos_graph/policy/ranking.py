"""How recall scores: pure arithmetic over what is stored, by the table of `policy/components.py`.

score = Σ weight × component. Components are in 0..1, penalties have negative weights, and the parts of
an item add up to its score exactly (`math.fsum`), so that every rank can be recomputed by hand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from amos_graph.policy.components import CONNECTING, DIGITS, WEIGHTS
from amos_graph.policy.traits import AGENT_FIELDS, Traits

#: Days after which an atom is no longer recent, by time horizon; None is what counts without one.
RECENCY_HORIZON_DAYS: Final[Mapping[str | None, float]] = MappingProxyType(
    {None: 30.0, "immediate": 7.0, "short": 30.0, "long": 365.0}
)
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

#: How far a goal, a commitment or a task is one that still counts, by its status.
_OPEN: Final[Mapping[str, Mapping[str | None, float]]] = MappingProxyType(
    {
        "goal": {"active": 1.0, "blocked": 1.0, "paused": 0.5, "proposed": 0.5},
        "commitment": {"open": 1.0},
        "working_state": {None: 1.0},
    }
)
_STATUS: Final = {"goal": "goal_status", "commitment": "commitment_status"}
_LESSONS: Final = ("corrections", "errors", "successful_strategies", "outcome_category")
_FAILED: Final = frozenset({"failed", "partial", "blocked"})
_AGAINST: Final = frozenset({"rel:contradicts", "rel:corrects", "rel:exception_to", "rel:has_exception"})
_CLAIMED: Final = frozenset({"primary", "contributing"})


@dataclass(frozen=True, slots=True)
class Attention:
    """What is foregrounded and what is held back, as words and types."""

    focus: tuple[str, ...] = ()
    suppress: tuple[str, ...] = ()
    boost_types: frozenset[str] = frozenset()
    suppress_types: frozenset[str] = frozenset()
    #: True where what speaks against something is wanted.
    counterevidence: bool = False
    novelty: float = 0.0
    time_horizon: str | None = None
    #: Who is to be the acting agent: ids and names, folded; and the role that is taken.
    agents: frozenset[str] = frozenset()
    role: str | None = None
    #: Words of the task, goal or mission at hand.
    goal: frozenset[str] = frozenset()
    conflicts_shown: bool = True


@dataclass(frozen=True, slots=True)
class Activation:
    """The strongest activation that reached an atom, and the steps by which it came."""

    strength: float
    seed: str
    path: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Relevance:
    """What leads from a request to an atom."""

    direct: float = 0.0
    focus: float = 0.0
    similar: float = 0.0
    activation: Activation | None = None
    #: The words that did.
    matched: tuple[str, ...] = ()

    @property
    def walked(self) -> float:
        return round(min(1.0, self.activation.strength), DIGITS) if self.activation else 0.0

    @property
    def connection(self) -> float:
        """How strongly the request leads to the atom at all."""
        return max(self.direct, self.focus, self.similar, self.walked)


@dataclass(frozen=True, slots=True)
class Scored:
    """An atom with its components and its score."""

    traits: Traits
    relevance: Relevance
    #: The components that are not zero.
    counted: Mapping[str, float]
    score: float

    @property
    def id(self) -> str:
        return self.traits.id

    @property
    def components(self) -> dict[str, float]:
        """Every component."""
        return {name: self.counted.get(name, 0.0) for name in WEIGHTS}

    @property
    def parts(self) -> dict[str, float]:
        """Weight × component for every component."""
        return {name: _part(name, self.counted.get(name, 0.0)) for name in WEIGHTS}

    @property
    def connected(self) -> bool:
        """True if something of the request leads to the atom: a word, a name, an id, a meaning or a path."""
        return any(name in self.counted for name in CONNECTING)

    @property
    def relevant(self) -> float:
        """What the request alone gives it."""
        return math.fsum(_part(name, self.counted.get(name, 0.0)) for name in CONNECTING)

    def with_component(self, name: str, value: float) -> Scored:
        """The same atom with another value of one component."""
        counted = {**self.counted, name: round(value, DIGITS)}
        return replace(self, counted=counted, score=_total(counted))


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


def score(
    traits: Traits, relevance: Relevance, attention: Attention, at: datetime, valid_at: datetime | None = None
) -> Scored:
    """An atom's components and score, before it is compared with others.

    Age is counted back from `at`; what must hold, must hold at `valid_at`, which is the same unless given.
    """
    agency = agency_match(traits, attention)
    sure = traits.said.get("agency_confidence")
    values = {
        "direct_cue_match": relevance.direct,
        "semantic_similarity": relevance.similar,
        "edge_activation": relevance.walked,
        "recency": recency(traits.updated_at, at, attention.time_horizon),
        "confidence": traits.confidence,
        "utility": traits.utility,
        "salience": traits.salience,
        "goal_relevance": goal_relevance(traits, relevance),
        "procedural_applicability": relevance.connection if traits.type == "procedure" else 0.0,
        "attention_focus": relevance.focus,
        "attention_type_boost": 1.0 if traits.type in attention.boost_types else 0.0,
        "attention_counterevidence": (
            1.0 if attention.counterevidence and speaks_against(traits, relevance) else 0.0
        ),
        "attention_novelty": attention.novelty / math.sqrt(1 + traits.degree),
        "agency_match": agency,
        "attribution_confidence": agency * (traits.confidence if sure is None else sure),
        "correction_learning_relevance": relevance.connection if teaches(traits) else 0.0,
        "contradiction_penalty": contradiction(traits),
        "staleness_penalty": staleness(traits, valid_at or at),
        "attention_suppression_penalty": suppression(traits, attention),
        "over_attribution_penalty": over_attribution(traits),
        "omitted_counterevidence_penalty": 1.0 if traits.opposed and not attention.conflicts_shown else 0.0,
        "ignored_failure_penalty": ignored_failure(traits),
    }
    counted = {name: round(value, DIGITS) for name, value in values.items() if value}
    return Scored(traits, relevance, counted, _total(counted))


def place(entry: Scored) -> tuple[float, str]:
    """What the order of a packet goes by."""
    return -entry.score, entry.id


def recency(updated_at: datetime, at: datetime, time_horizon: str | None = None) -> float:
    """1 for an atom written at the instant, 0 from the horizon on; it is age that counts."""
    age_days = (at - updated_at).total_seconds() / 86_400
    return min(1.0, max(0.0, 1.0 - age_days / RECENCY_HORIZON_DAYS[time_horizon]))


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
    return OPEN_CONTRADICTION if traits.opposed else 0.0


def suppression(traits: Traits, attention: Attention) -> float:
    """What attention takes: all of a suppressed type, of others by the share of suppressed words."""
    if traits.type in attention.suppress_types:
        return 1.0
    said = [word for word in attention.suppress if word in traits.tokens]
    return len(said) / len(attention.suppress) if said else 0.0


def goal_relevance(traits: Traits, relevance: Relevance) -> float:
    """How strongly the request is connected with an open goal, or with what matters to a goal by an edge."""
    statuses = _OPEN.get(traits.type, {})
    open_ = statuses.get(traits.said.get(_STATUS.get(traits.type, "")), 0.0)
    steps = relevance.activation.path if relevance.activation else ()
    by_edge = any(step["relation"] == "rel:goal_relevance" for step in steps)
    return max(open_ * relevance.connection, relevance.walked if by_edge else 0.0)


def teaches(traits: Traits) -> bool:
    """True for what corrects or replaces another atom, and for what records a failure or a lesson."""
    if traits.corrects or traits.type == "self_assessment":
        return True
    if traits.type == "action_outcome":
        return traits.said.get("success_status") in _FAILED
    text = traits.said.get("payload")
    if (
        traits.type == "preference"
        or not isinstance(text, str)
        or not any(f'"{n}":' in text for n in _LESSONS)
    ):
        return False
    return any(traits.record().get(name) for name in _LESSONS)


def speaks_against(traits: Traits, relevance: Relevance) -> bool:
    """True for one side of a contradiction, a limit, a failure, and for what came along such an edge."""
    steps = relevance.activation.path if relevance.activation else ()
    return (
        bool(traits.opposed)
        or traits.type == "limitation"
        or (traits.type == "action_outcome" and traits.said.get("success_status") in _FAILED)
        or bool(steps and steps[-1]["relation"] in _AGAINST)
    )


def agency_match(traits: Traits, attention: Attention) -> float:
    """Whether the acting agent is the one that is asked for, by scope or by role."""
    named = {_agent(traits.said[name]) for name in AGENT_FIELDS if isinstance(traits.said.get(name), str)}
    if named & attention.agents:
        return 1.0
    role = traits.said.get("role")
    return 1.0 if isinstance(role, str) and attention.role == role.casefold() else 0.0


def agents(names: Iterable[str | None]) -> frozenset[str]:
    """Names of agents as they are compared: `ent:agent:iris` is the agent `iris`."""
    return frozenset(_agent(name) for name in names if name)


def _agent(name: str) -> str:
    bare = name.rpartition(":")[2] if name.startswith("ent:") else name
    return bare.replace("_", " ").casefold()


def over_attribution(traits: Traits) -> float:
    """How unsure it is that an agent brought about what a trace claims for it."""
    sure = traits.said.get("agency_confidence")
    if sure is None or traits.said.get("responsibility_level") not in _CLAIMED:
        return 0.0
    return 1.0 - min(1.0, max(0.0, float(sure)))


def ignored_failure(traits: Traits) -> float:
    """The part of the counted uses that failed, of what presents itself as usable."""
    usable = traits.type == "procedure" or traits.said.get("availability") == "available"
    text = traits.said.get("payload")
    if not usable or not isinstance(text, str) or '"failed_count":' not in text:
        return 0.0
    record = traits.record()
    failed, supported = record.get("failed_count") or 0, record.get("supported_count") or 0
    return failed / (failed + supported) if failed else 0.0


def _part(name: str, value: float) -> float:
    # Adding zero turns the -0.0 of an absent penalty into 0.0.
    return round(WEIGHTS[name] * value, DIGITS) + 0.0


def _total(counted: Mapping[str, float]) -> float:
    return math.fsum(_part(name, value) for name, value in counted.items())
