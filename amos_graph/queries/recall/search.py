"""One search of one graph: gate → candidates → walk → components → order, all as read in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from amos_graph.commands.execution import Context
from amos_graph.domain.packets import Asked
from amos_graph.domain.times import parse_time
from amos_graph.graph.transactions import Tx
from amos_graph.policy.ranking import (
    Activation,
    Attention,
    Rarity,
    Scored,
    Traits,
    place,
    rank,
    rarity,
    score,
)
from amos_graph.queries.recall.candidates import LOW_HEALTH, Found, Gate
from amos_graph.queries.recall.cues import Terms, joined, names_of, terms_of, tokens_of
from amos_graph.queries.recall.source import Source
from amos_graph.queries.recall.spread import BOUNDS
from amos_graph.queries.visibility import visible_classes


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked for: the words of the cues, the words of attention, and both as they are judged."""

    cue: Terms
    focus: Terms
    attention: Attention

    @property
    def terms(self) -> Terms:
        return joined(self.cue, self.focus)


@dataclass(frozen=True, slots=True)
class Search:
    """The outcome: what was selected in order, and what is known of the rest."""

    gate: Gate
    looked: Looked
    found: Found
    browsed: bool
    selected: tuple[Scored, ...] = ()
    #: How many atoms were ranked, selected ones included, and the first that found no room.
    ranked: int = 0
    beyond: tuple[str, ...] = ()
    #: Contradicted atoms, held back because their conflicts are not wanted.
    contradicted: tuple[str, ...] = ()
    #: Every atom that was read, seeds and passed ones included.
    read: frozenset[str] = field(default_factory=frozenset[str])
    #: True if the walk could not tell everything that it reached.
    cut: bool = False


def look(asked: Asked) -> Looked:
    """What a request looks for."""
    attention = asked.request.attention_context
    focus = terms_of(attention.focus)
    return Looked(
        cue=terms_of(asked.request.cues),
        focus=focus,
        attention=Attention(
            focus=focus.tokens,
            suppress=tuple(
                dict.fromkeys(token for text in attention.suppress_terms for token in tokens_of(text))
            ),
            boost_types=frozenset(attention.boost_memory_types),
            suppress_types=frozenset(attention.suppress_memory_types),
        ),
    )


def search(source: Source, asked: Asked) -> Search:
    """Find, spread, score and order."""
    gate, looked = source.gate, look(asked)
    texts = [*asked.request.cues, *asked.request.attention_context.focus]
    found = source.find(looked.terms, names_of(texts)) if texts else source.browse()
    traits = source.traits(found.ids)
    cue = _matches(looked.cue.tokens, traits, found)
    focus = _matches(looked.focus.tokens, traits, found)
    direct = rarity(looked.cue.tokens, cue.values())
    focusing = rarity(looked.focus.tokens, focus.values())
    seeds = {
        ref: 1.0 if ref in found.exact else max(direct.share(cue[ref]), focusing.share(focus[ref]))
        for ref in traits
    }
    reached = source.spread(seeds)
    beside = source.fitting([ref for ref in reached if ref not in traits])
    traits |= source.traits(beside)
    entries = [
        entry
        for entry in _score_all(
            (parse_time(asked.evaluated_at), gate.at),
            looked,
            found,
            traits,
            reached=reached,
            direct=direct,
            focusing=focusing,
        )
        if not texts or _connected(entry)
    ]
    wanted = asked.request.include_conflicts
    kept = [entry for entry in entries if wanted or entry.traits.health_status != "contradicted"]
    barred = [entry for entry in entries if not wanted and entry.traits.health_status == "contradicted"]
    selected = rank(kept, asked.request.max_items)
    taken = {entry.traits.id for entry in selected}
    return Search(
        gate=gate,
        looked=looked,
        found=found,
        browsed=not texts,
        selected=tuple(selected),
        ranked=len(kept),
        beyond=tuple(entry.traits.id for entry in sorted(kept, key=place) if entry.traits.id not in taken)[
            :10
        ],
        contradicted=tuple(entry.traits.id for entry in sorted(barred, key=place)),
        read=frozenset({*found.ids, *reached, *traits}),
        cut=len(reached) >= BOUNDS.reached,
    )


def open_gate(tx: Tx, context: Context, asked: Asked) -> Gate:
    """What may enter: the classes that the caller may see, the states and filters that were asked for."""
    request, then = asked.request, asked.request.valid_at is not None
    visible = visible_classes(tx, context, request.target_processor)
    states = [
        "live",
        *(LOW_HEALTH if request.include_low_health else ()),
        *(("superseded",) if request.include_superseded or then else ()),
        *(("archived",) if request.include_archived else ()),
    ]
    return Gate(
        shard=asked.scope.shard,
        classes=visible.classes,
        targeted=visible.targeted,
        states=states,
        at=parse_time(request.valid_at or asked.evaluated_at),
        then=then and not request.include_superseded,
        types=request.requested_memory_types,
        payload_filter={name: [wanted] for name, wanted in request.payload_filter.items()},
    )


def _matches(words: Sequence[str], traits: Mapping[str, Traits], found: Found) -> dict[str, frozenset[str]]:
    """Atom → words that its text holds or that name an entity that it refers to."""
    wanted = frozenset(words)
    return {ref: wanted & (entry.tokens | found.named.get(ref, frozenset())) for ref, entry in traits.items()}


def _score_all(
    instants: tuple[datetime, datetime],
    looked: Looked,
    found: Found,
    traits: Mapping[str, Traits],
    *,
    reached: Mapping[str, Activation],
    direct: Rarity,
    focusing: Rarity,
) -> list[Scored]:
    cue = _matches(looked.cue.tokens, traits, found)
    focus = _matches(looked.focus.tokens, traits, found)
    return [
        score(
            entry,
            at=instants[0],
            valid_at=instants[1],
            direct=1.0 if ref in found.exact else direct.share(cue[ref]),
            focus=focusing.share(focus[ref]),
            attention=looked.attention,
            activation=reached.get(ref),
            matched=tuple(word for word in looked.terms.tokens if word in cue[ref] or word in focus[ref]),
        )
        for ref, entry in traits.items()
    ]


def _connected(entry: Scored) -> bool:
    """True if something of the request leads to the atom: a word, a name, an id or a path."""
    return any(entry.components[name] for name in ("direct_cue_match", "edge_activation", "attention_focus"))
