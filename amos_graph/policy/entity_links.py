"""Which entities a text names, decided from its stretches and from entities' names: no model, no store.

The longest name wins: “New York Times” names the paper and not the city in it. A name that fits to the
letter comes before one that fits but for accents, punctuation or an article. Where several entities bear
the name, each is meant, and each less surely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.tokens import TOKEN

#: How sure a link is whose name fits to the letter, and one whose name fits otherwise.
TO_THE_LETTER: Final = 1.0
FOLDED: Final = 0.8


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of words of a text that could be a name."""

    #: Which of the texts, and where in it.
    text: int
    start: int
    end: int
    #: As entities' names are compared to the letter, with and without what a sentence adds.
    forms: tuple[str, ...]
    #: As they are compared without accents, punctuation and article (`domain/mentions.py`).
    key: str

    @property
    def tokens(self) -> frozenset[str]:
        """The words of a cue that it covers."""
        return frozenset(TOKEN.findall(self.forms[-1]))


@dataclass(frozen=True, slots=True)
class Link:
    """A stretch of a text that names an entity."""

    entity: str
    text: int
    start: int
    end: int
    #: 0..1, halved where two entities bear the name, and so on.
    confidence: float
    #: The words that it covers.
    tokens: frozenset[str]

    def record(self, texts: Sequence[str]) -> dict[str, Any]:
        """The link as a packet tells it."""
        return {
            "entity_ref": self.entity,
            "text": self.text,
            "start": self.start,
            "span": texts[self.text][self.start : self.end],
            "confidence": round(self.confidence, 4),
        }


@dataclass(frozen=True, slots=True)
class Named:
    """An entity that may be named: the keys that it answers to, its names in full, and who it is as well."""

    ref: str
    keys: Collection[str]
    names: frozenset[str]
    #: Every id that means the same, after merges.
    same: frozenset[str]


def linked(stretches: Iterable[Stretch], known: Sequence[Named]) -> list[Link]:
    """The links of some texts, in order."""
    answering: dict[str, list[Named]] = {}
    for entity in known:
        for key in entity.keys:
            answering.setdefault(key, []).append(entity)
    taken: list[Stretch] = []
    links: list[Link] = []
    for stretch in sorted(stretches, key=_longest_first):
        entities = answering.get(stretch.key)
        if not entities or any(_overlap(stretch, longer) for longer in taken):
            continue
        taken.append(stretch)
        exact = [entity for entity in entities if not entity.names.isdisjoint(stretch.forms)]
        meant, sure = (exact, TO_THE_LETTER) if exact else (entities, FOLDED)
        sure /= len({entity.same for entity in meant})
        links += [
            Link(entity.ref, stretch.text, stretch.start, stretch.end, sure, stretch.tokens)
            for entity in meant
        ]
    return sorted(links, key=lambda link: (link.text, link.start, link.entity))


def _longest_first(one: Stretch) -> tuple[int, int, int, int]:
    """By words of the name, and of two that say the same name the one with less around it."""
    return -len(one.key.split(" ")), one.end - one.start, one.text, one.start


def _overlap(one: Stretch, other: Stretch) -> bool:
    return one.text == other.text and one.start < other.end and other.start < one.end
