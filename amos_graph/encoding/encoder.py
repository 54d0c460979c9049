"""What turns text into vectors: the protocol, the identity that tells vectors apart, their exact form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from amos_graph.encoding.corpus import Corpus

#: Rows of unit length, or of zeros for a text that says nothing: (texts, dimensions).
Rows = NDArray[np.float32]
#: The same in whole numbers from -127 to 127, whose sums are exact on every machine: (texts, dimensions).
Whole = NDArray[np.int8]

#: Digits of a similarity, as of every component of a score.
DIGITS: Final = 9
_LARGEST: Final = 127.0


@dataclass(frozen=True, slots=True)
class Model:
    """Which vectors can be compared: those of one model, and no others."""

    embedding_model: str
    version: str
    dimensions: int
    quantization: str = "int8"

    @property
    def key(self) -> str:
        """The identity as one text, which is stored with each vector: `hashed.1/512/int8`."""
        return f"{self.embedding_model}.{self.version}/{self.dimensions}/{self.quantization}"


class Encoder(Protocol):
    """A way from text to vectors.

    The vector of a memory follows from its text alone, so it never grows stale while others write, and
    tells nothing of them. What is rare, and what is related, is asked of the corpus that a caller may
    see, and goes into the vector of the request only.
    """

    @property
    def model(self) -> Model: ...

    @property
    def floor(self) -> float:
        """The similarity below which two texts are taken to have nothing to do with each other, 0..1."""
        ...

    def encode(self, texts: Sequence[str]) -> Rows:
        """A vector for each text of a memory."""
        ...

    def probe(self, texts: Sequence[str], corpus: Corpus) -> Rows:
        """One vector, (1, dimensions), for what a request asks in these texts together."""
        ...


def whole(rows: Rows) -> Whole:
    """Rows in whole numbers, each scaled so that its largest number is 127."""
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scale = np.divide(_LARGEST, largest, out=np.zeros_like(largest), where=largest > 0)
    return np.rint(rows * scale).astype(np.int8)


def squares(rows: Whole) -> list[int]:
    """The square of each row's length."""
    wide = rows.astype(np.int64)
    return [int(value) for value in (wide * wide).sum(axis=1)]


def products(probe: Whole, rows: Whole) -> list[int]:
    """The scalar product of each row with the one row of a probe."""
    return [int(value) for value in rows.astype(np.int64) @ probe[0].astype(np.int64)]


def similarity(product: int, square: int, other_square: int) -> float:
    """The cosine of two vectors from whole numbers, 0..1; what points away from each other is not similar.

    Whole numbers below 2^53, one root and one division: the same on every machine, in Cypher and here.
    """
    if product <= 0:
        return 0.0
    return min(1.0, round(product / math.sqrt(square * other_square), DIGITS))
