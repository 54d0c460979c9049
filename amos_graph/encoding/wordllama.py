"""The real embedding model that works offline: WordLlama, 256 numbers (extra `embeddings`).

Its code is MIT; its weights derive from the token embeddings of Llama 2 (NOTICE). A text is the mean of
its pieces' embeddings. They are summed here one by one and in double precision: the package's own
pooling depends on what else is in a batch.
"""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Sequence
from importlib import metadata, resources
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from amos_graph.domain.tokens import STOP_WORDS, TOKEN
from amos_graph.domain.values import fold
from amos_graph.encoding.corpus import Corpus
from amos_graph.encoding.encoder import Model, Rows
from amos_graph.errors import AmosError

DIMENSIONS: Final = 256
#: Letters of one text that are read.
LETTERS_MAX: Final = 20_000
#: What a word that asks or joins counts in a request.
STOP_WORD_WEIGHT: Final = 0.25
_PACKAGE: Final = "wordllama"


class WordLlamaEncoder:
    """Vectors of the model that the package brings with it; nothing is fetched."""

    #: Of unrelated passages one pair in ten is nearer than 0.2, one in a hundred than 0.35.
    floor = 0.25

    def __init__(self) -> None:
        """Raises `unavailable` when the package is not installed or its weights are not those expected."""
        found = _load()
        self._pieces = found.tokenizer
        self._pieces.no_padding()
        self._pieces.no_truncation()
        self._embeddings: NDArray[np.float32] = found.embedding
        if self._embeddings.shape[1] != DIMENSIONS:
            raise AmosError(
                "unavailable",
                f"wordllama: vectors of {DIMENSIONS} numbers were expected, got {self._embeddings.shape[1]}",
            )
        self.model = Model(_PACKAGE, metadata.version(_PACKAGE), DIMENSIONS)

    def encode(self, texts: Sequence[str]) -> Rows:
        """A vector for each text, (texts, 256); zeros for one without a piece."""
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return np.stack([self._mean(text, None) for text in texts])

    def probe(self, texts: Sequence[str], corpus: Corpus) -> Rows:
        """One vector for all texts, in which the pieces of rare words weigh more."""
        return self._mean("\n".join(texts), corpus)[None, :]

    def _mean(self, text: str, corpus: Corpus | None) -> NDArray[np.float32]:
        read = text[:LETTERS_MAX]
        found = self._pieces.encode(read, add_special_tokens=False)
        places = np.clip(np.array(found.ids, dtype=np.int64), 0, len(self._embeddings) - 1)
        rows = self._embeddings[places].astype(np.float64)
        if corpus is not None:
            rows *= np.array(_weights(read, found.offsets, corpus)).reshape(-1, 1)
        summed = rows.sum(axis=0)
        length = math.sqrt(math.fsum(value * value for value in summed))
        return (summed / length).astype(np.float32) if length else np.zeros(DIMENSIONS, dtype=np.float32)


def _weights(text: str, offsets: Sequence[tuple[int, int]], corpus: Corpus) -> list[float]:
    """The rarity of the word that each piece of a text belongs to."""
    words = [(found.start(), found.end(), fold(found[0])) for found in TOKEN.finditer(text)]
    weights: list[float] = []
    at = 0
    for start, end in offsets:
        while at < len(words) and words[at][1] <= start:
            at += 1
        inside = at < len(words) and words[at][0] < max(end, start + 1)
        word = words[at][2] if inside else ""
        known = corpus.rarity(word) if word else 1.0
        weights.append(known * STOP_WORD_WEIGHT if word in STOP_WORDS else known)
    return weights


def _load() -> Any:
    # The package sets up logging for the whole process when it is imported.
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        package = importlib.import_module(_PACKAGE)
        return package.WordLlama.load(cache_dir=resources.files(_PACKAGE), disable_download=True)
    except ImportError as error:
        raise AmosError(
            "unavailable", "AMOS_ENCODER=wordllama needs the extra: pip install 'amos-graph[embeddings]'"
        ) from error
    except OSError as error:
        raise AmosError(
            "unavailable", "wordllama: its weights are not where the package keeps them"
        ) from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
