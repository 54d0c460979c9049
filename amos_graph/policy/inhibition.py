"""What holds what back: pure decisions over the atoms of one search (spec, "inhibition").

Some inhibitions lower an atom by a measure. Others put an atom in another one's place: then the
inhibited one stands below its inhibitor, whatever else speaks for it. Either shows in a penalty of the
score, so that the arithmetic of an item stays whole.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from amos_graph.domain.dictionary import RELATIONS
from amos_graph.domain.tokens import STOP_WORDS, tokens_of
from amos_graph.domain.values import skeleton, words
from amos_graph.policy.ranking import DIGITS, Attention, Scored, Traits, place


class Kind(NamedTuple):
    """What an inhibition does."""

    component: str
    #: True if the inhibited atom is to stand below its inhibitor.
    below: bool
    meaning: str


_SUPPRESSION: Final = "attention_suppression_penalty"
_REDUNDANCY: Final = "redundancy_penalty"

#: The kinds, those that put an atom in another's place in the order in which they are heard.
KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "supersession": Kind(_REDUNDANCY, True, "a successor among the candidates stands in its place"),
        "correction": Kind(
            _REDUNDANCY,
            True,
            "another atom corrects it by an edge, or observed what it only infers of one single-valued "
            "relation, and later",
        ),
        "scoped_preference": Kind(
            _REDUNDANCY, True, "a preference of the same holder and target is narrower and applies"
        ),
        "strong_procedure": Kind(
            _REDUNDANCY, True, "a procedure of high confidence covers the task of a less certain episode"
        ),
        "repetition": Kind(_REDUNDANCY, False, "a selected atom says nearly the same"),
        "inhibiting_edge": Kind(
            _SUPPRESSION, False, "an activated atom inhibits it: activation × weight × confidence"
        ),
        "active_goal": Kind(
            _SUPPRESSION, False, "the active goal has nothing to do with what only association brought"
        ),
        "attention": Kind(_SUPPRESSION, False, "the request suppresses its words or its type"),
        "standing": Kind("staleness_penalty", False, "its health, its state or its validity takes from it"),
    }
)

#: What standing in another's place costs at least.
PLACE_TAKEN: Final = 0.15
#: How far below its inhibitor such an atom stands at least.
MARGIN: Final = 1e-6
#: Confidence from which a procedure stands for the episodes of its task, and a preference for a wider one.
STRONG: Final = 0.7
CREDIBLE: Final = 0.4
#: The part of a task's words that a procedure's trigger must share, and the other way round.
SAME_TASK: Final = 0.6
#: The part of attention's goal words by which a stored goal is the one at hand.
AT_HAND: Final = 0.5
#: What the goal at hand takes from what is nothing to it.
ELSEWHERE: Final = 0.5

_INFERRED: Final = frozenset({"inferred", "predicted", "system_derived"})
_WITNESSED: Final = frozenset({"observed", "user_stated"})
#: Words by which an applicability says that there is no condition.
_ANYWHERE: Final = frozenset(
    {"all", "always", "any", "anywhere", "default", "everything", "everywhere", "general", "generally"}
    | {"generic", "global", "globally"}
)
_SINGLE: Final = frozenset(ref for ref, relation in RELATIONS.items() if relation.single_valued)
_BY_EDGE: Final = {"rel:supersedes": "supersession", "rel:corrects": "correction"}


@dataclass(frozen=True, slots=True)
class Inhibition:
    """One atom holds another back, or the request does (`inhibitor` is None)."""

    kind: str
    inhibited: str
    inhibitor: str | None
    strength: float
    edge_id: str | None = None

    def record(self) -> dict[str, Any]:
        """As a packet tells it."""
        return {
            "kind": self.kind,
            "inhibitor": self.inhibitor,
            "inhibited": self.inhibited,
            "strength": round(self.strength, DIGITS),
            "edge_id": self.edge_id,
            "reason": KINDS[self.kind].meaning,
        }


def lowered(activation: Mapping[str, float], traits: Mapping[str, Traits]) -> dict[str, float]:
    """Seeds as they enter the walk: less by what another seed takes over a `rel:inhibits` edge.

    All inhibitors act at once, with the activation that the request gave them.
    """
    taken = dict.fromkeys(activation, 0.0)
    for inhibition in by_edges(traits.values(), activation):
        if inhibition.kind == "inhibiting_edge" and inhibition.inhibited in taken:
            taken[inhibition.inhibited] = max(taken[inhibition.inhibited], inhibition.strength)
    return {ref: max(0.0, value - taken[ref]) for ref, value in activation.items()}


def inhibitions(
    entries: Collection[Scored],
    activation: Mapping[str, float],
    attention: Attention,
    words_asked: Collection[str],
) -> list[Inhibition]:
    """Everything that holds one of the entries back, except repetition, which depends on what is selected.

    `activation` is that of every atom which the request reached, those that its filters keep out included.
    """
    by_id = {entry.id: entry for entry in entries}
    found = [
        *(
            inhibition
            for inhibition in by_edges((entry.traits for entry in entries), activation)
            if inhibition.kind == "inhibiting_edge" or inhibition.inhibitor in by_id
        ),
        *_corrections(entries),
        *_preferences(entries, frozenset(words_asked)),
        *_procedures(entries),
        *_goals(entries, attention),
        *_by_request(entries),
    ]
    order = {kind: number for number, kind in enumerate(KINDS)}
    unique = {(one.kind, one.inhibited, one.inhibitor): one for one in reversed(found)}
    return sorted(unique.values(), key=lambda one: (one.inhibited, order[one.kind], one.inhibitor or ""))


def by_edges(traits: Iterable[Traits], activation: Mapping[str, float]) -> Iterator[Inhibition]:
    """What edges say: activated atoms over `rel:inhibits`, successors and corrections by being there."""
    for inhibited in traits:
        for hold in inhibited.held:
            kind = _BY_EDGE.get(hold.relation, "inhibiting_edge")
            strength = 1.0
            if kind == "inhibiting_edge":
                strength = min(1.0, activation.get(hold.source, 0.0)) * hold.strength
            if strength > 0:
                yield Inhibition(kind, inhibited.id, hold.source, strength, hold.edge_id)


def inhibited(entries: Collection[Scored], found: Iterable[Inhibition]) -> dict[str, Scored]:
    """The entries with what holds them back in their scores."""
    settled = {entry.id: entry for entry in entries}
    places: list[Inhibition] = []
    for one in found:
        kind, entry = KINDS[one.kind], settled[one.inhibited]
        if kind.below:
            places.append(one)
        value = PLACE_TAKEN * one.strength if kind.below else one.strength
        if value > entry.counted.get(kind.component, 0.0):
            settled[one.inhibited] = entry.with_component(kind.component, value)
    return below(settled, places)


def below(entries: Mapping[str, Scored], found: Iterable[Inhibition]) -> dict[str, Scored]:
    """The entries with each that another one stands in for below that one.

    Of inhibitions that lead in a circle the one whose kind is heard first counts.
    """
    settled = dict(entries)
    order = {kind: number for number, kind in enumerate(KINDS)}
    inhibitors: dict[str, set[str]] = {}
    for one in sorted(found, key=lambda one: (order[one.kind], one.inhibited, one.inhibitor or "")):
        if not KINDS[one.kind].below or one.inhibitor not in settled or one.inhibited not in settled:
            continue
        if not _leads(inhibitors, one.inhibitor, one.inhibited):
            inhibitors.setdefault(one.inhibited, set()).add(one.inhibitor)
    for ref in TopologicalSorter(inhibitors).static_order():
        for inhibitor in sorted(inhibitors.get(ref, ())):
            entry, above = settled[ref], settled[inhibitor].score
            if entry.score > above - MARGIN:
                has = entry.counted.get(_REDUNDANCY, 0.0)
                lacks = math.ceil((entry.score - above + MARGIN) * 10**DIGITS) / 10**DIGITS
                settled[ref] = entry.with_component(_REDUNDANCY, min(1.0, has + lacks))
    return settled


def _leads(inhibitors: Mapping[str, Collection[str]], start: str, goal: str) -> bool:
    """True if `goal` holds `start` back already, directly or through others."""
    pending, seen = [start], {start}
    while pending:
        for ref in inhibitors.get(pending.pop(), ()):
            if ref not in seen:
                seen.add(ref)
                pending.append(ref)
    return goal in seen


def _corrections(entries: Iterable[Scored]) -> Iterator[Inhibition]:
    """A belief that somebody saw or said over an older one that was only inferred, of one value at a time."""
    slots: dict[tuple[str, str], list[Traits]] = {}
    for entry in entries:
        said = entry.traits.said
        if entry.traits.type == "belief" and said.get("relation") in _SINGLE and "object" in said:
            slots.setdefault((str(skeleton(said.get("subject"))), said["relation"]), []).append(entry.traits)
    for claims in slots.values():
        for one in claims:
            for other in claims:
                if (
                    other.said.get("modality") in _INFERRED
                    and one.said.get("modality") in _WITNESSED
                    and other.updated_at < one.updated_at
                    and skeleton(one.said["object"]) != skeleton(other.said["object"])
                ):
                    yield Inhibition("correction", other.id, one.id, 1.0)


@dataclass(frozen=True, slots=True)
class _Preference:
    traits: Traits
    scope: frozenset[str]
    applies_to: frozenset[str]


def _preferences(entries: Iterable[Scored], asked: frozenset[str]) -> Iterator[Inhibition]:
    """A narrower preference that applies here over a wider one of the same holder and target."""
    targets: dict[str, list[_Preference]] = {}
    for entry in entries:
        if entry.traits.type != "preference":
            continue
        record = entry.traits.record()
        scope = frozenset(
            name
            for name, value in entry.traits.said.items()
            if name.startswith("scope_") and value is not None
        )
        condition = _words(record.get("applicability_scope")) - _ANYWHERE
        key = str([skeleton(record.get("holder")), skeleton(record.get("target"))])
        targets.setdefault(key, []).append(_Preference(entry.traits, scope, condition))
    for alike in targets.values():
        for one in alike:
            applies = not one.applies_to or not one.applies_to.isdisjoint(asked)
            if not applies or one.traits.confidence < CREDIBLE:
                continue
            for other in alike:
                if _narrower(one, other):
                    yield Inhibition("scoped_preference", other.traits.id, one.traits.id, 1.0)


def _narrower(one: _Preference, other: _Preference) -> bool:
    if not one.scope >= other.scope:
        return False
    if one.applies_to == other.applies_to:
        return one.scope > other.scope
    if not other.applies_to:
        return True
    return one.applies_to > other.applies_to


def _procedures(entries: Collection[Scored]) -> Iterator[Inhibition]:
    """A procedure of high confidence over the episodes of its task that are less certain."""
    strong = [e.traits for e in entries if e.traits.type == "procedure" and e.traits.confidence >= STRONG]
    if not strong:
        return
    triggers = {one.id: _words(one.record().get("trigger_context")) for one in strong}
    for entry in entries:
        if entry.traits.type != "episode":
            continue
        record = entry.traits.record()
        task, linked = _words(record.get("task")), record.get("linked_procedures") or ()
        for one in strong:
            named = one.id in linked or one.said.get("name") in linked
            if one.confidence > entry.traits.confidence and (named or _same_task(task, triggers[one.id])):
                yield Inhibition("strong_procedure", entry.id, one.id, 1.0)


def _same_task(task: Collection[str], trigger: Collection[str]) -> bool:
    shared = len(frozenset(task) & frozenset(trigger))
    return shared >= SAME_TASK * max(len(task), len(trigger), 1)


def _goals(entries: Collection[Scored], attention: Attention) -> Iterator[Inhibition]:
    """The goal at hand over what only association brought and what has nothing to do with it."""
    if not attention.goal:
        return
    at_hand = [
        (len(attention.goal & entry.traits.tokens) / len(attention.goal), entry)
        for entry in entries
        if (entry.traits.type == "goal" and entry.traits.said.get("goal_status") == "active")
        or entry.traits.type == "working_state"
    ]
    goals = [(share, entry) for share, entry in at_hand if share >= AT_HAND]
    if not goals:
        return
    share, strongest = min(goals, key=lambda goal: (-goal[0], *place(goal[1])))
    for entry in entries:
        if not any(_concerns(entry, goal) for _, goal in goals):
            yield Inhibition("active_goal", entry.id, strongest.id, ELSEWHERE * share)


def _concerns(entry: Scored, goal: Scored) -> bool:
    """True unless only association or similarity brought it, past the goal, and it shares nothing with it."""
    relevance = entry.relevance
    if entry.id == goal.id or relevance.direct or relevance.focus or not entry.connected:
        return True
    activation = relevance.activation
    if activation and goal.id in {activation.seed, *(step["source"] for step in activation.path)}:
        return True
    shared = (entry.traits.content & goal.traits.content) - STOP_WORDS
    return bool(shared) or not entry.traits.entities.isdisjoint(goal.traits.entities)


def _by_request(entries: Iterable[Scored]) -> Iterator[Inhibition]:
    """What attention and the atom's own standing take, as it stands in the score already."""
    for entry in entries:
        for kind in ("attention", "standing"):
            taken = entry.counted.get(KINDS[kind].component, 0.0)
            if taken:
                yield Inhibition(kind, entry.id, None, taken)


def _words(value: Any) -> frozenset[str]:
    return frozenset(tokens_of(" ".join(words(value)))) - STOP_WORDS if value is not None else frozenset()
