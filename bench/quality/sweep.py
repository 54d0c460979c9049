"""The choice of weights: how questions of the tuning half would be answered by others.

Only the three components by which a question leads to an atom are varied; what is stored about atoms is
equal among passages. They share as much of a score as they do in the table of `policy/components.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from amos_graph.policy.components import WEIGHTS
from bench.quality.baselines import ordered
from bench.quality.passages import Question
from bench.quality.scoring import measures, values

VARIED: Final = ("direct_cue_match", "semantic_similarity", "edge_activation")
_STEPS: Final = 20
#: Trials that are shown, the best first.
_SHOWN: Final = 25


@dataclass(frozen=True, slots=True)
class Trial:
    """Three weights, in the order of `VARIED`, and what they are worth."""

    weights: tuple[float, ...]
    measured: Mapping[str, float]

    @property
    def worth(self) -> float:
        """The mean of all measures."""
        return sum(self.measured.values()) / len(self.measured)


def swept(found: Sequence[Mapping[str, Mapping[str, float]]], asked: Sequence[Question]) -> Iterator[Trial]:
    """Every way to share the weight, in steps of a twentieth."""
    share = sum(WEIGHTS[name] for name in VARIED)
    for one in range(1, _STEPS):
        for two in range(_STEPS - one + 1):
            parts = (one, two, _STEPS - one - two)
            yield _tried(tuple(share * part / _STEPS for part in parts), found, asked)


def best(trials: Mapping[str, Iterable[Trial]]) -> list[dict[str, Trial]]:
    """The weights that are worth most, by the mean over the encoders, each with its trial by encoder."""
    together: dict[tuple[float, ...], dict[str, Trial]] = {}
    for name, every in trials.items():
        for trial in every:
            together.setdefault(trial.weights, {})[name] = trial
    ordered_ = sorted(together.values(), key=lambda each: -sum(trial.worth for trial in each.values()))
    return ordered_[:_SHOWN]


def _tried(
    weights: tuple[float, ...],
    found: Sequence[Mapping[str, Mapping[str, float]]],
    asked: Sequence[Question],
) -> Trial:
    table = {**WEIGHTS, **dict(zip(VARIED, weights, strict=True))}
    ranked = [
        ordered(
            {
                ref: sum(table[name] * value for name, value in counted.items())
                for ref, counted in every.items()
            }
        )
        for every in found
    ]
    worth = {measure: values(ranked, asked, measure) for measure in measures()}
    return Trial(weights, {measure: sum(each) / len(each) for measure, each in worth.items()})
