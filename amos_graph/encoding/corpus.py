"""What is known of words: how rare they are, and which others keep their company.

It is counted for each access class apart, so that what a caller learns from rarity, relatedness and
the scores made of them is of memories that the caller may see.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from amos_graph.domain.ids import derived_id
from amos_graph.domain.tokens import STOP_WORDS, tokens_of
from amos_graph.encoding.latent import Latent

#: The most frequent words of an access class whose counts are kept; a word without a count is rare.
COUNTED_WORDS_MAX: Final = 10_000
#: Distinct words that counting holds in memory; beyond, those that were met least often are forgotten.
HELD_WORDS_MAX: Final = 500_000
#: Words of other texts that a request's words bring with them.
RELATED_MAX: Final = 12


@dataclass(frozen=True, slots=True)
class Statistics:
    """The words of one access class: in how many of its memories each stands, and their latent vectors."""

    atoms: int
    counts: Mapping[str, int]
    latent: Latent | None = None

    @property
    def digest(self) -> str:
        """The identity of what was counted: equal for equal counts and vectors."""
        latent = self.latent.digest if self.latent else None
        return derived_id("", [self.atoms, sorted(self.counts.items()), latent])


@dataclass(frozen=True, slots=True)
class Corpus:
    """The words of all that a caller may see; without statistics every word is equally rare."""

    classes: Sequence[Statistics] = ()
    #: Digests of the classes' statistics, in order.
    digests: Sequence[str] = field(default=())

    @property
    def digest(self) -> str:
        """The identity of what requests are weighed by; `index_version` of a packet is made of it."""
        return derived_id("", list(self.digests))

    @property
    def atoms(self) -> int:
        """Memories that were counted."""
        return sum(entry.atoms for entry in self.classes)

    def count(self, word: str) -> int:
        """In how many of the counted memories the word stands; 0 where it stands in few or none."""
        return sum(entry.counts.get(word, 0) for entry in self.classes)

    def rarity(self, word: str) -> float:
        """How telling a word is: the logarithm of how few memories have it, above 0."""
        return math.log(1.0 + (self.atoms + 1) / (self.count(word) + 1))

    def related(self, words: Mapping[str, float]) -> dict[str, float]:
        """Words that keep the company of these, with what share of the weight they take, 0..1.

        The projection onto the latent space of each class (LSA), each class counting by its size.
        """
        found: dict[str, float] = {}
        total = self.atoms
        for entry in self.classes:
            if entry.latent is not None and entry.atoms:
                for word, weight in entry.latent.related(words).items():
                    found[word] = found.get(word, 0.0) + weight * entry.atoms / total
        strongest = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        return dict([(word, weight) for word, weight in strongest if word not in words][:RELATED_MAX])


class Counting:
    """Counts the words of memories, one text after the other, within bounded memory."""

    def __init__(self) -> None:
        self.atoms = 0
        self._counts: Counter[str] = Counter()
        self._least = 1

    def add(self, tokens: Iterable[str]) -> None:
        """Count one memory's words, each once."""
        self.atoms += 1
        self._counts.update(set(tokens))
        while len(self._counts) > HELD_WORDS_MAX:
            self._least += 1
            self._counts = Counter({w: n for w, n in self._counts.items() if n >= self._least})

    def counts(self) -> dict[str, int]:
        """The most frequent words with their counts, those that stand in one memory only left out."""
        ordered = sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return {word: count for word, count in ordered[:COUNTED_WORDS_MAX] if count > 1}


def telling(text: str) -> list[str]:
    """The words of a text that say something, in order; all of them where it has no others."""
    tokens = tokens_of(text)
    return [token for token in tokens if token not in STOP_WORDS] or tokens
