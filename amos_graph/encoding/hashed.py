"""The deterministic encoder: words and their three- and four-letter pieces, hashed to signs (numpy alone).

Each feature, a word or a piece of one, is a row of 512 signs, the bits of its BLAKE2b digest: a random
projection, in which two features are as good as orthogonal. A word is its own row and those of its
pieces, so that a word and its other forms, or its misspelling, are near. A text is the sum of its words,
each counted 1 + ln n. It is not semantic: what a request's words have to do with others is brought in
by the corpus (LSA). Source: spec, "V1-local uses a dependency-free deterministic encoder".
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from amos_graph.encoding.corpus import Corpus, telling
from amos_graph.encoding.encoder import Model, Rows

DIMENSIONS: Final = 512
#: What all pieces of a word together count beside the word: more, since recall matches whole words apart.
PIECES_WEIGHT: Final = 1.5
#: What the words that the corpus brings in count, all together, beside those of the request.
RELATED_WEIGHT: Final = 0.15
#: Distinct words of one text that are read; the first ones.
WORDS_MAX: Final = 2_000
#: Letters of a word that are read, and words whose rows are kept.
_LETTERS_MAX: Final = 40
_ROWS_KEPT: Final = 16_384
#: Rows and weights are whole numbers, so that sums are exact whatever adds them: steps of one.
_ROW_UNIT: Final = 16
_WEIGHT_UNIT: Final = 64


class HashedEncoder:
    """Vectors that follow from the letters of a text, and from nothing else."""

    model = Model("hashed", "1", DIMENSIONS)
    #: Signs of unrelated texts agree by chance within 0.044; this is four times as far.
    floor = 0.17

    def encode(self, texts: Sequence[str]) -> Rows:
        """A vector for each text, (texts, 512); zeros for one without a word."""
        return np.stack([_vector(_weights(text)) for text in texts]) if texts else _none()

    def probe(self, texts: Sequence[str], corpus: Corpus) -> Rows:
        """One vector for all texts: rare words weigh more, and bring the words that keep their company."""
        weights = _weights(" ".join(texts))
        weighed = {word: weight * corpus.rarity(word) for word, weight in weights.items()}
        related = corpus.related(weighed)
        if related:
            # As long together as RELATED_WEIGHT says, beside the words that were asked.
            share = RELATED_WEIGHT * _length(weighed) / _length(related)
            weighed |= {word: weight * share for word, weight in related.items()}
        return _vector(weighed)[None, :]


def _weights(text: str) -> dict[str, float]:
    counted = list(Counter(telling(text)).items())[:WORDS_MAX]
    return {word: 1.0 + math.log(count) for word, count in counted}


def _length(weights: Mapping[str, float]) -> float:
    return math.sqrt(math.fsum(weight * weight for weight in weights.values()))


def _vector(weights: Mapping[str, float]) -> NDArray[np.float32]:
    if not weights:
        return np.zeros(DIMENSIONS, dtype=np.float32)
    counted = np.array([round(weight * _WEIGHT_UNIT) for weight in weights.values()], dtype=np.float64)
    # Whole numbers far below 2^53: the order in which they are added makes no difference.
    summed = counted @ np.stack([_row(word) for word in weights]).astype(np.float64)
    exact = summed.astype(np.int64)
    length = math.sqrt(int(exact @ exact))
    return (summed / length).astype(np.float32) if length else np.zeros(DIMENSIONS, dtype=np.float32)


@lru_cache(maxsize=_ROWS_KEPT)
def _row(word: str) -> NDArray[np.int16]:
    """The row of a word: its own signs, and a share of those of its pieces."""
    marked = f"<{word[:_LETTERS_MAX]}>"
    pieces = [marked[at : at + size] for size in (3, 4) for at in range(len(marked) - size + 1)]
    signs = _signs([f"w{word}", *(f"p{piece}" for piece in pieces)])
    row = signs[0] * _ROW_UNIT
    if pieces:
        share = _ROW_UNIT * PIECES_WEIGHT / math.sqrt(len(pieces))
        row = row + np.rint(signs[1:].sum(axis=0) * share).astype(np.int16)
    row.flags.writeable = False
    return row


def _signs(features: Sequence[str]) -> NDArray[np.int16]:
    """A row of signs, 1 or -1, for each feature."""
    digests = b"".join(hashlib.blake2b(feature.encode(), digest_size=64).digest() for feature in features)
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(len(features), DIMENSIONS)
    return bits.astype(np.int16) * 2 - 1


def _none() -> Rows:
    return np.zeros((0, DIMENSIONS), dtype=np.float32)
