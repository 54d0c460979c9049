"""What a ranking is worth: the part of the evidence that it finds, and how sure a difference is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bench.quality.passages import Question

#: Places of a ranking that count.
PLACES: Final = (5, 10)
#: Resamples of a bootstrap, and the part of them between its bounds.
RESAMPLES: Final = 10_000
_BOUNDS: Final = (2.5, 97.5)
_SEED: Final = 20

#: Way → the ranking of each question, best first.
Rankings = Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much one way is better than another on the same questions, with its 95 % interval."""

    mean: float
    low: float
    high: float


def measures() -> list[str]:
    """The names of the measures, in order."""
    return [*(f"recall@{k}" for k in PLACES), *(f"all_evidence@{k}" for k in PLACES)]


def measured(ranking: Sequence[str], question: Question) -> dict[str, float]:
    """One question's measures, each in 0..1."""
    found = {k: len(question.supporting.intersection(ranking[:k])) for k in PLACES}
    size = len(question.supporting)
    return {
        **{f"recall@{k}": found[k] / size for k in PLACES},
        **{f"all_evidence@{k}": float(found[k] == size) for k in PLACES},
    }


def values(rankings: Sequence[Sequence[str]], questions: Sequence[Question], measure: str) -> list[float]:
    """A measure of each question."""
    return [measured(ranking, asked)[measure] for ranking, asked in zip(rankings, questions, strict=True)]


def difference(one: Sequence[float], other: Sequence[float]) -> Difference:
    """The paired bootstrap of two ways: questions are drawn again and again, each with both of its values."""
    apart = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    drawn = np.random.default_rng(_SEED).integers(0, len(apart), (RESAMPLES, len(apart)))
    low, high = np.percentile(apart[drawn].mean(axis=1), _BOUNDS)
    return Difference(float(apart.mean()), float(low), float(high))


def halves(count: int) -> dict[str, list[int]]:
    """Rows for tuning, rows that are reported, and all."""
    return {
        "tune": list(range(0, count, 2)),
        "reported": list(range(1, count, 2)),
        "all": list(range(count)),
    }
