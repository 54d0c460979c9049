"""One search of one graph in one transaction: gate → candidates → walk → components → inhibition → bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from amos_graph.commands.execution import Context
from amos_graph.domain.packets import Asked
from amos_graph.domain.times import parse_time
from amos_graph.domain.tokens import tokens_of
from amos_graph.encoding import Corpus
from amos_graph.graph.transactions import Tx
from amos_graph.policy.asking import About, answered, asked_relations
from amos_graph.policy.bundle import Bundle, select
from amos_graph.policy.expansion import expanded
from amos_graph.policy.inhibition import Inhibition, inhibited, inhibitions, lowered
from amos_graph.policy.naming import stronger
from amos_graph.policy.ranking import (
    Activation,
    Attention,
    Rarity,
    Relevance,
    Scored,
    agents,
    place,
    rarity,
    score,
)
from amos_graph.policy.traits import Traits
from amos_graph.queries.recall.candidates import LOW_HEALTH, Found, Gate
from amos_graph.queries.recall.cues import Terms, joined, names_of, terms_of
from amos_graph.queries.recall.shared import walk
from amos_graph.queries.recall.source import Source
from amos_graph.queries.recall.spread import BOUNDS
from amos_graph.queries.recall.succession import inherited
from amos_graph.queries.visibility import visible_classes

#: Atoms without room that a packet names.
BEYOND_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked for: the words of the cues, the words of attention, and both as they are judged."""

    cue: Terms
    focus: Terms
    attention: Attention

    @property
    def terms(self) -> Terms:
        return joined(self.cue, self.focus)

    @property
    def relations(self) -> dict[str, frozenset[str]]:
        """The relations that the cues ask for, with the words that do."""
        return asked_relations(self.cue.tokens)


@dataclass(frozen=True, slots=True)
class Search:
    """The outcome: what was selected in order, and what is known of the rest."""

    gate: Gate
    looked: Looked
    found: Found
    browsed: bool
    #: The cues, and then the texts of attention.
    texts: tuple[str, ...] = ()
    bundle: Bundle = field(default_factory=Bundle)
    #: How many atoms were ranked, selected ones included, and the first that found no room.
    ranked: int = 0
    beyond: tuple[str, ...] = ()
    #: Everything that holds back a ranked atom, of selected ones first.
    inhibitions: tuple[Inhibition, ...] = ()
    #: Candidates to which nothing of the request leads after all.
    unconnected: int = 0
    #: Health → atoms that this request holds back for it, best first.
    withheld: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    #: Every atom that was read, seeds and passed ones included.
    read: frozenset[str] = field(default_factory=frozenset[str])
    #: True if the walk could not tell everything that it reached.
    cut: bool = False
    #: The relations that the cues asked for and that the walk took.
    asked_for: frozenset[str] = field(default_factory=frozenset[str])

    @property
    def selected(self) -> tuple[Scored, ...]:
        """The selected atoms, best first."""
        return tuple(one.entry for one in self.bundle.places)


def look(asked: Asked) -> Looked:
    """What a request looks for."""
    attention, task = asked.attention, asked.request.task_context
    focus = terms_of(asked.focus)
    goals = (attention.active_task, attention.goal, attention.mission, task.goal if task else None)
    return Looked(
        cue=terms_of(asked.request.cues),
        focus=focus,
        attention=Attention(
            focus=focus.tokens,
            suppress=tuple(
                dict.fromkeys(token for text in attention.suppress_terms for token in tokens_of(text))
            ),
            boost_types=frozenset(attention.boost_memory_types) | asked.mode.prefers,
            suppress_types=frozenset(attention.suppress_memory_types),
            counterevidence=bool(attention.counterevidence_required)
            or attention.risk_posture in ("cautious", "high_risk"),
            novelty=attention.novelty_preference or 0.0,
            time_horizon=attention.time_horizon,
            agents=agents((asked.scope.agent_id, attention.role)),
            role=attention.role.casefold() if attention.role else None,
            goal=frozenset(terms_of([text for text in goals if text]).tokens),
            conflicts_shown=asked.request.include_conflicts,
        ),
    )


def search(source: Source, asked: Asked) -> Search:
    """Find, spread, score, hold back and select."""
    gate, looked = source.gate, look(asked)
    texts = [*asked.request.cues, *asked.focus]
    found = source.find(looked.terms, names_of(texts)) if texts else source.browse()
    novel = looked.attention.novelty > 0
    # What was superseded is read even where it stays away: what it matches is meant for its successor.
    known = source.traits([*found.ids, *found.suppressed.get("superseded", ())], with_degree=novel)
    candidates = {ref: known[ref] for ref in found.ids if ref in known}
    matching = _matching(looked, found, candidates, source.corpus)
    matches = {ref: matching.relevance(traits).connection for ref, traits in known.items()}
    reach = _reach(source, matching, known, matches, candidates)
    reached = reach.ways
    beside = source.fitting([ref for ref in reached if ref not in candidates])
    found = replace(found, similar={**source.nearness(beside), **found.similar}).naming(reach.answers)
    matching = replace(matching, found=found)
    candidates |= source.traits(beside, with_degree=novel)
    at = parse_time(asked.evaluated_at)
    entries = [
        score(traits, matching.relevance(traits, reached.get(ref)), looked.attention, at, gate.at)
        for ref, traits in candidates.items()
    ]
    connected = [entry for entry in entries if not texts or entry.connected]
    withheld: dict[str, tuple[str, ...]] = {}
    kept: list[Scored] = []
    for entry in sorted(connected, key=place):
        reason = asked.withholds(entry.traits.health_status, entry.traits.health_flags)
        if reason is None:
            kept.append(entry)
        else:
            withheld[reason] = (*withheld.get(reason, ()), entry.id)
    activated = {ref: max(matches.get(ref, 0.0), entry.strength) for ref, entry in reached.items()}
    holding = inhibitions(kept, {**matches, **activated}, looked.attention, looked.terms.tokens)
    ranked = inhibited(kept, holding)
    bundle = select(
        ranked.values(),
        asked.request.max_items,
        {member for entity, members in found.entities.items() for member in (entity, *members)},
        holding,
        counterevidence=bool(asked.attention.counterevidence_required),
    )
    taken = {one.entry.id for one in bundle.places}
    left = [entry.id for entry in sorted(ranked.values(), key=place) if entry.id not in taken]
    return Search(
        gate=gate,
        looked=looked,
        found=found,
        browsed=not texts,
        texts=tuple(texts),
        bundle=bundle,
        ranked=len(ranked),
        beyond=tuple(ref for ref in left if ref not in bundle.displaced)[:BEYOND_MAX],
        inhibitions=tuple(
            sorted(
                [*holding, *bundle.repetitions], key=lambda one: (one.inhibited not in taken, one.inhibited)
            )
        ),
        unconnected=len(entries) - len(connected),
        withheld=withheld,
        read=frozenset({*found.ids, *reached, *known, *candidates, *reach.counted}),
        cut=reach.cut,
        asked_for=reach.asked_for,
    )


def open_gate(tx: Tx, context: Context, asked: Asked) -> Gate:
    """What may enter: the classes that the caller may see, the states and filters that were asked for."""
    request, then = asked.request, asked.request.valid_at is not None
    visible = visible_classes(tx, context, request.target_processor)
    history = request.include_superseded or then
    states = [
        "live",
        # Stale memory is excluded unless history is relevant; history is asked for by flag or by instant.
        *(LOW_HEALTH if request.include_low_health else ("stale",) if history else ()),
        *(("superseded",) if history else ()),
        *(("archived",) if request.include_archived else ()),
    ]
    return Gate(
        shard=asked.scope.shard,
        classes=visible.classes,
        targeted=visible.targeted,
        cited=visible.cited,
        states=states,
        at=parse_time(request.valid_at or asked.evaluated_at),
        then=then and not request.include_superseded,
        types=request.requested_memory_types,
        payload_filter={name: [wanted] for name, wanted in request.payload_filter.items()},
    )


@dataclass(frozen=True, slots=True)
class _Matching:
    """How the words of a request, and their meaning, match atoms."""

    looked: Looked
    found: Found
    cue_words: Rarity
    focus_words: Rarity

    def relevance(self, traits: Traits, activation: Activation | None = None) -> Relevance:
        """What leads from the request to an atom."""
        cue = _matched(self.looked.cue.tokens, traits, self.found)
        focus = _matched(self.looked.focus.tokens, traits, self.found)
        return Relevance(
            direct=1.0 if traits.id in self.found.exact else self.cue_words.share(cue),
            focus=self.focus_words.share(focus),
            similar=self.found.similar.get(traits.id, 0.0),
            activation=activation,
            matched=tuple(word for word in self.looked.terms.tokens if word in cue or word in focus),
        )

    def named(self) -> dict[str, float]:
        """How much of the cues the names of each entity cover that they name."""
        return {
            ref: self.cue_words.share(words & set(self.looked.cue.tokens))
            for ref, (words, _) in self.found.said.items()
        }

    def about(self, traits: Traits, asked_for: Mapping[str, frozenset[str]]) -> About:
        """How far an atom matches the words of the cues that ask for no relation."""
        words = set(self.looked.cue.tokens).difference(*asked_for.values())
        matched = words & _matched(self.looked.cue.tokens, traits, self.found)
        return About(frozenset(matched), self.cue_words.share(matched))


@dataclass(frozen=True, slots=True)
class _Reach:
    """What activation reached, by whichever way, and what was learned on the way."""

    ways: Mapping[str, Activation]
    #: Atom → words of the cues that asked for the relation that led to it.
    answers: Mapping[str, frozenset[str]]
    #: The relations that were asked for and taken.
    asked_for: frozenset[str]
    #: Atoms that were counted or told of without being reached.
    counted: frozenset[str]
    cut: bool


def _reach(
    source: Source,
    matching: _Matching,
    known: Mapping[str, Traits],
    matches: Mapping[str, float],
    candidates: Mapping[str, Traits],
) -> _Reach:
    """Let activation pass over associations, shared names, supersessions and the beliefs that widen a cue."""
    asked_for = matching.looked.relations
    seeds = lowered({ref: matches[ref] for ref in candidates}, candidates)
    walked, named = source.spread(seeds, asked_for.keys()), walk(source.shared, seeds)
    replaced = [ref for ref, entry in known.items() if entry.state_key == "superseded" and matches[ref] > 0]
    widening = source.expansions({ref: members for ref, (_, members) in matching.found.said.items()})
    ways = stronger(stronger(walked, named.reached), inherited(source.successors(replaced), matches))
    about = {ref: matching.about(known[ref], asked_for) for ref in seeds} if asked_for else {}
    taken = {str(step["relation"]) for way in walked.values() for step in way.path}
    return _Reach(
        ways=stronger(ways, expanded(widening, matching.named())),
        answers=answered(asked_for, walked, about),
        asked_for=frozenset(asked_for.keys() & taken),
        counted=frozenset({*named.counted, *(each.belief for each in widening)}),
        cut=len(walked) >= BOUNDS.reached,
    )


def _matching(looked: Looked, found: Found, candidates: Mapping[str, Traits], corpus: Corpus) -> _Matching:
    """Words weigh by how few of the memories that were counted have them; of the candidates, if none were."""

    def weighed(words: Sequence[str]) -> Rarity:
        if corpus.atoms:
            return Rarity({word: corpus.rarity(word) for word in words})
        return rarity(words, (_matched(words, entry, found) for entry in candidates.values()))

    return _Matching(looked, found, weighed(looked.cue.tokens), weighed(looked.focus.tokens))


def _matched(words: Sequence[str], traits: Traits, found: Found) -> frozenset[str]:
    """The words that an atom's text holds or that name an entity that it refers to."""
    named = found.named.get(traits.id, frozenset[str]())
    return frozenset(word for word in words if word in traits.tokens or word in named)
