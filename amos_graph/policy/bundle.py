"""What is selected: a bundle across categories, not the head of one list (spec, "produce a bundle").

Most places are open: the best atoms take them, each a little less good for what it shares with those
selected before it (maximal marginal relevance). At most a third of a packet is reserved for roles that
nothing has filled by then. The order within the packet is by score alone.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from amos_graph.domain.value_kinds import ref_kind
from amos_graph.policy.inhibition import KINDS, Inhibition, below
from amos_graph.policy.ranking import Scored, place, speaks_against
from amos_graph.policy.traits import Traits

#: The part of a packet that is reserved at most; of a packet of one or two, nothing is.
RESERVED_SHARE: Final = 1 / 3
#: The part of a packet that one cluster takes at most, while others are there that matter.
CLUSTER_SHARE: Final = 2 / 3
#: What the request gives an atom, as a part of what it gives the one whose place that would take.
WORTH_A_PLACE: Final = 1 / 3
#: What an atom loses in the choice, not in its score, for sharing all its entities with a selected one.
DIVERSITY: Final = 0.02
#: Texts that share at least this part of their words are taken for the same thing said twice.
NEAR_IDENTICAL: Final = 0.9
#: What saying exactly the same again costs.
REPEATED: Final = 0.17

_ATTRIBUTIONS: Final = frozenset({"agentic_trace", "action_outcome", "capability", "self_model"})
_NEGATIONS: Final = frozenset({"no", "not", "never", "none", "nor", "t", "without", "cannot"})


#: Below it a confidence is `very_low`.
_UNCERTAIN: Final = 0.2


class Role(NamedTuple):
    """One of the spec's places: who fills it."""

    meaning: str
    fills: Callable[[Traits], bool]


def _of_type(name: str, meaning: str) -> Role:
    def fills(traits: Traits) -> bool:
        return traits.type == name

    return Role(meaning, fills)


def _applicable(traits: Traits) -> bool:
    return traits.type == "capability" and traits.said.get("availability") in {"available", "degraded"}


def _corrects_or_blocked(traits: Traits) -> bool:
    blocked = "blocked" in {traits.said.get("success_status"), traits.said.get("responsibility_level")}
    return traits.corrects or blocked


def _against_attribution(traits: Traits) -> bool:
    return not _ATTRIBUTIONS.isdisjoint(traits.opposed)


def _conflicting(traits: Traits) -> bool:
    stated = "contradicted" in {traits.health_status, *traits.health_flags}
    return stated or bool(traits.opposed) or traits.confidence < _UNCERTAIN


#: The roles of the spec's bundle, in the order in which an item is named after one.
ROLES: Final[Mapping[str, Role]] = MappingProxyType(
    {
        "active_beliefs": _of_type("belief", "a belief"),
        "active_preferences": _of_type("preference", "a preference"),
        "procedure": _of_type("procedure", "a procedure"),
        "current_self_model": _of_type("self_model", "a self-model"),
        "applicable_capabilities": Role("a capability that is available, if degraded", _applicable),
        "applicable_limitations": _of_type("limitation", "a limitation"),
        "agentic_traces": _of_type("agentic_trace", "an agentic trace"),
        "action_outcomes": _of_type("action_outcome", "an outcome of an action"),
        "semantic_claims": _of_type("semantic", "a semantic memory"),
        "recent_episode": _of_type("episode", "an episode"),
        "evidence_pointers": _of_type("interaction_event", "a source event of a conversation, in its place"),
        "corrections_or_blocked_actions": Role(
            "what corrects or supersedes another atom, and what was blocked", _corrects_or_blocked
        ),
        "attribution_counterevidence": Role(
            "what contradicts a trace, an outcome, a capability or a self-model", _against_attribution
        ),
        "conflict_or_uncertainty": Role(
            "what stands in a contradiction, and what is of very low confidence", _conflicting
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Place:
    """One selected atom, with the role that it fills and whether its place was reserved for that."""

    entry: Scored
    role: str | None
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class Bundle:
    """What is selected, best first, and what would have been but for the reserved places."""

    places: tuple[Place, ...] = ()
    displaced: tuple[str, ...] = ()
    #: Atoms that lost part of their score for repeating a selected one.
    repetitions: tuple[Inhibition, ...] = ()


def select(
    entries: Iterable[Scored],
    limit: int,
    named: Collection[str] = (),
    holding: Iterable[Inhibition] = (),
    *,
    counterevidence: bool = False,
) -> Bundle:
    """The bundle of at most `limit` atoms.

    `named` are the entities that the request itself names: what is about them is no cluster. `holding`
    is what holds the entries back already. With `counterevidence` the first reserved place goes to what
    speaks against something, however little the request gives it.
    """
    choice = _Choice(entries, limit, frozenset(named))
    plain = list(choice.best(limit))
    reserved = math.floor(limit * RESERVED_SHARE + 1e-9)
    head, tail = plain[: limit - reserved], plain[limit - reserved :]
    filled = {role for entry in head for role in roles(entry.traits)}
    places = [Place(entry, next(iter(roles(entry.traits)), None)) for entry in head]
    taken = {entry.id for entry in head}
    wanted = [_counters] if counterevidence and not any(_counters(entry) for entry in head) else []
    candidates = [*tail, *choice.rest()] if tail else []
    while tail and len(places) < len(head) + reserved:
        found = _reserved(candidates, taken, filled, tail[-1], wanted.pop() if wanted else None)
        if found is None:
            break
        entry, role = choice.settled(found[0]), found[1]
        places.append(Place(entry, role, reserved=True))
        filled.update(roles(entry.traits))
        taken.add(entry.id)
    for entry in tail:
        if len(places) < limit and entry.id not in taken:
            places.append(Place(entry, next(iter(roles(entry.traits)), None)))
            taken.add(entry.id)
    scores = below({one.entry.id: one.entry for one in places}, holding)
    places = [replace(one, entry=scores[one.entry.id]) for one in places]
    return Bundle(
        tuple(sorted(places, key=lambda one: place(one.entry))),
        tuple(entry.id for entry in tail if entry.id not in taken),
        tuple(choice.repetitions[ref] for ref in sorted(taken) if ref in choice.repetitions),
    )


def roles(traits: Traits) -> list[str]:
    """The roles that an atom fills, the one that it is named after first."""
    return [name for name, role in ROLES.items() if role.fills(traits)]


def _reserved(
    candidates: Iterable[Scored],
    taken: Collection[str],
    filled: Collection[str],
    weakest: Scored,
    wanted: Callable[[Scored], bool] | None,
) -> tuple[Scored, str | None] | None:
    """The best candidate for a reserved place, with the role that it fills and nothing has filled yet."""
    for entry in candidates:
        if entry.id in taken:
            continue
        new = [role for role in roles(entry.traits) if role not in filled]
        if wanted is not None and wanted(entry):
            return entry, next(iter([*new, *roles(entry.traits)]), None)
        if wanted is None and new and worth_a_place(entry, weakest):
            return entry, new[0]
    return None if wanted is None else _reserved(candidates, taken, filled, weakest, None)


def worth_a_place(entry: Scored, other: Scored) -> bool:
    """True if the request gives an atom enough of what it gives another one to take that one's place."""
    return entry.relevant >= WORTH_A_PLACE * other.relevant


def _counters(entry: Scored) -> bool:
    return speaks_against(entry.traits, entry.relevance)


class _Choice:
    """The choice of the best, one by one; each atom is compared once with each that is chosen."""

    def __init__(self, entries: Iterable[Scored], limit: int, named: frozenset[str]) -> None:
        self.repetitions: dict[str, Inhibition] = {}
        self._named = named
        self._cluster_max = math.ceil(limit * CLUSTER_SHARE - 1e-9)
        self._heap = [(*place(entry), entry) for entry in entries]
        heapq.heapify(self._heap)
        self._chosen: list[Scored] = []
        self._waiting: list[Scored] = []
        self._compared: dict[str, tuple[int, float]] = {}

    def best(self, limit: int) -> Iterator[Scored]:
        """The best for open places; those of a cluster that is full wait while others matter."""
        sizes: Counter[tuple[str, str]] = Counter()
        while len(self._chosen) < limit and (self._heap or self._waiting):
            entry = self._next() if self._heap else None
            cluster = self._cluster(entry) if entry else None
            if entry is None or (self._waiting and not worth_a_place(entry, self._waiting[0])):
                if entry is not None:
                    heapq.heappush(self._heap, (*place(entry), entry))
                entry = self._waiting.pop(0)
            elif cluster and sizes[cluster] >= self._cluster_max:
                self._waiting.append(entry)
                continue
            entry = self.settled(entry)
            cluster = self._cluster(entry)
            if cluster:
                sizes[cluster] += 1
            self._chosen.append(entry)
            yield entry

    def rest(self) -> list[Scored]:
        """What was not chosen, best first."""
        return sorted([*(entry for _, _, entry in self._heap), *self._waiting], key=place)

    def settled(self, entry: Scored) -> Scored:
        """The entry, less good if it says nearly the same as one that is chosen."""
        compared, shared = self._compared.get(entry.id, (0, 0.0))
        known = self.repetitions.get(entry.id)
        like, other = (known.strength, known.inhibitor) if known else (0.0, None)
        for chosen in self._chosen[compared:]:
            if chosen.id == entry.id:
                continue
            alike = likeness(entry.traits, chosen.traits)
            if alike > like:
                like, other = alike, chosen.id
            shared = max(shared, self._shared(entry.traits, chosen.traits))
        self._compared[entry.id] = (len(self._chosen), shared)
        if other is None:
            return entry
        self.repetitions[entry.id] = Inhibition("repetition", entry.id, other, like)
        component = KINDS["repetition"].component
        value = max(entry.counted.get(component, 0.0), REPEATED * like)
        return entry.with_component(component, value)

    def _next(self) -> Scored:
        """The entry that is worth most now. A worth only falls, so one that is still on top is the best."""
        while True:
            _, ref, entry = heapq.heappop(self._heap)
            entry = self.settled(entry)
            worth = entry.score - DIVERSITY * self._compared[ref][1]
            if not self._heap or (-worth, ref) <= self._heap[0][:2]:
                return entry
            heapq.heappush(self._heap, (-worth, ref, entry))

    def _shared(self, one: Traits, other: Traits) -> float:
        """The part of their entities that two atoms share, of those that the request does not name."""
        mine, theirs = one.entities - self._named, other.entities - self._named
        return len(mine & theirs) / len(mine | theirs) if mine and theirs else 0.0

    def _cluster(self, entry: Scored) -> tuple[str, str] | None:
        """What an atom is one of many of: memories of one type about one thing, or neighbours of one seed."""
        about = next((entry.traits.said[name] for name in _ABOUT if name in entry.traits.said), None)
        if isinstance(about, str) and ref_kind(about) == "entity" and about not in self._named:
            return entry.traits.type, about
        relevance = entry.relevance
        if relevance.activation and not (relevance.direct or relevance.focus or relevance.similar):
            return "seed", relevance.activation.seed
        return None


#: Fields by which a payload says what it is about.
_ABOUT: Final = ("subject", "holder", "owner", "agent", "subject_agent")


def likeness(one: Traits, other: Traits) -> float:
    """The part of their words that two atoms share, if they say nearly the same; else 0.

    Texts that differ in a number or in a negation say different things.
    """
    mine, theirs = one.content, other.content
    if one.type != other.type or not mine or not theirs:
        return 0.0
    small, large = sorted((len(mine), len(theirs)))
    if small < NEAR_IDENTICAL * large:
        return 0.0
    shared = len(mine & theirs)
    alike = shared / (len(mine) + len(theirs) - shared)
    if alike < NEAR_IDENTICAL or any(_changes(word) for word in mine ^ theirs):
        return 0.0
    return alike


def _changes(word: str) -> bool:
    return word in _NEGATIONS or any(letter.isdigit() for letter in word)
