"""Latent vectors of words: LSA, by a randomised SVD of the matrix of words and memories (numpy alone).

Source: Halko, Martinsson, Tropp, "Finding structure with randomness" (2011), algorithm 4.4.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

#: Bounds of one matrix: memories, words, and words of one memory. It takes at most 20 MB.
TEXTS_MAX: Final = 5_000
WORDS_MAX: Final = 2_000
WORDS_OF_TEXT_MAX: Final = 200
#: Below this many memories there is no company to speak of.
TEXTS_MIN: Final = 50
#: Length of a latent vector, at most one number for so many words: with more of them, words that never
#: stand together stay apart. Columns drawn beyond it, and rounds, make the SVD exact enough.
RANK: Final = 64
WORDS_PER_RANK: Final = 8
_BESIDE: Final = 16
_ROUNDS: Final = 2
#: Memories whose rows are held at once, each as a whole row.
_BLOCK: Final = 512
_SEED: Final = 20_250_101
_LARGEST: Final = 127.0

_Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Latent:
    """Words, and the latent vector of each in whole numbers: (words, rank), 127 standing for `unit`."""

    words: Sequence[str]
    vectors: NDArray[np.int8]
    unit: float

    @property
    def digest(self) -> str:
        """The identity of words and vectors."""
        text = "\0".join([*self.words, repr(self.unit)]).encode()
        return hashlib.sha256(text + self.vectors.tobytes()).hexdigest()

    def related(self, words: Mapping[str, float]) -> dict[str, float]:
        """The projection of weighted words: other words that stand where these do, the strongest first."""
        places = {word: place for place, word in enumerate(self.words)}
        known = [(places[word], weight) for word, weight in sorted(words.items()) if word in places]
        if not known:
            return {}
        space = self.vectors.astype(np.float64) * (self.unit / _LARGEST)
        asked = np.array([weight for _, weight in known]) @ space[[place for place, _ in known]]
        found = space @ asked
        # A word's own length says how often it stands anywhere, and not how near it is to these.
        length = math.sqrt(sum(weight * weight for weight in words.values()))
        return {
            self.words[place]: round(float(found[place]) / length, 6)
            for place in map(int, np.argsort(-found, kind="stable")[:100])
            if found[place] > 0 and self.words[place] not in words
        }


def latent_of(texts: Iterable[Sequence[str]]) -> Latent | None:
    """The latent vectors of the words of some memories, given as their words; None for too few memories.

    The same texts in the same order give the same vectors.
    """
    rows = [Counter(text) for text, _ in zip(texts, range(TEXTS_MAX), strict=False)]
    frequency = Counter(word for row in rows for word in row)
    ordered = sorted(frequency.items(), key=lambda pair: (-pair[1], pair[0]))
    words = [word for word, count in ordered if 2 <= count <= len(rows) / 2][:WORDS_MAX]
    if len(rows) < TEXTS_MIN or len(words) < 10 * WORDS_PER_RANK:
        return None
    places = {word: place for place, word in enumerate(words)}
    rare = np.array([math.log(1.0 + len(rows) / frequency[word]) for word in words])
    basis = _right_vectors(_Texts([_row(row, places, rare) for row in rows], len(words)))
    unit = float(np.abs(basis).max())
    return Latent(words, np.rint(basis * (_LARGEST / unit)).astype(np.int8), unit)


@dataclass(frozen=True, slots=True)
class _Texts:
    """A sparse matrix of texts and words, (texts, words), whose rows are made whole block by block."""

    rows: Sequence[tuple[NDArray[np.int64], _Matrix]]
    width: int

    def blocks(self) -> Iterable[tuple[int, _Matrix]]:
        for start in range(0, len(self.rows), _BLOCK):
            block = np.zeros((min(_BLOCK, len(self.rows) - start), self.width))
            for at, (places, weights) in enumerate(self.rows[start : start + _BLOCK]):
                block[at, places] = weights
            yield start, block

    def times(self, right: _Matrix) -> _Matrix:
        """This × right."""
        return np.vstack([block @ right for _, block in self.blocks()])

    def turned(self, left: _Matrix) -> _Matrix:
        """This, turned, × left."""
        found = np.zeros((self.width, left.shape[1]))
        for start, block in self.blocks():
            found += block.T @ left[start : start + len(block)]
        return found


def _right_vectors(texts: _Texts) -> _Matrix:
    """The leading right singular vectors: an orthonormal basis of the words' space, (words, rank)."""
    rank = min(RANK, texts.width // WORDS_PER_RANK)
    drawn = np.random.default_rng(_SEED).standard_normal((texts.width, rank + _BESIDE))
    found = _orthonormal(texts.times(drawn))
    for _ in range(_ROUNDS):
        found = _orthonormal(texts.times(_orthonormal(texts.turned(found))))
    across, _, _ = np.linalg.svd(texts.turned(found), full_matrices=False)
    basis = across[:, :rank]
    # A singular vector and its opposite are the same; the sign is fixed so that runs are equal.
    signs = np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(rank)])
    return basis * signs


def _orthonormal(matrix: _Matrix) -> _Matrix:
    return np.linalg.qr(matrix)[0]


def _row(
    row: Mapping[str, int], places: Mapping[str, int], rare: _Matrix
) -> tuple[NDArray[np.int64], _Matrix]:
    kept = [(places[word], count) for word, count in row.items() if word in places][:WORDS_OF_TEXT_MAX]
    at = np.array([place for place, _ in kept], dtype=np.int64)
    weights = np.array([1.0 + math.log(count) for _, count in kept]) * rare[at]
    length = math.sqrt(float(weights @ weights))
    return at, weights / length if length else weights
