"""How everything here is measured: arms that take turns in one run, percentiles, and spreads.

Times of rivals are never compared across runs: each repetition lets every arm do its piece once, in
an order that is turned by one each time, so that what else the machine does falls on all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from bench.results import Row, Spread

WorkT = TypeVar("WorkT")
Tick = Callable[[int, int], None]

#: Blocks of consecutive repetitions whose figures show how steady a ratio is.
BLOCKS: Final = 10


@dataclass(frozen=True, slots=True)
class Arm(Generic[WorkT]):
    """One side of a comparison: `prepare` is not timed, `run` is."""

    prepare: Callable[[int], WorkT]
    run: Callable[[WorkT], object]


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds that one arm took, in the order in which they were measured."""

    seconds: tuple[float, ...]

    @property
    def n(self) -> int:
        return len(self.seconds)

    @property
    def total(self) -> float:
        return math.fsum(self.seconds)

    def percentile(self, percent: float) -> float:
        """The time that `percent` of the repetitions did not exceed, between neighbours by proportion."""
        ordered = sorted(self.seconds)
        place = (len(ordered) - 1) * percent / 100
        below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
        return below + (above - below) * (place - math.floor(place))

    def blocks(self, count: int = BLOCKS) -> list[Times]:
        """The repetitions in order, cut into blocks of equal size; a rest falls to the last one."""
        count = max(1, min(count, self.n))
        size = self.n // count
        cuts = [*(index * size for index in range(count)), self.n]
        return [Times(self.seconds[cuts[i] : cuts[i + 1]]) for i in range(count)]


def alternating(
    arms: Mapping[str, Arm[Any]], n: int, warmup: int, tick: Tick | None = None
) -> dict[str, Times]:
    """Let the arms take turns: `warmup` repetitions that do not count, then `n` that do."""
    names = list(arms)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for repetition in range(warmup + n):
        turn = repetition % len(names)
        for name in (*names[turn:], *names[:turn]):
            work = arms[name].prepare(repetition)
            began = time.perf_counter()
            arms[name].run(work)
            taken = time.perf_counter() - began
            if repetition >= warmup:
                seconds[name].append(taken)
        if tick:
            tick(repetition + 1, warmup + n)
    return {name: Times(tuple(measured)) for name, measured in seconds.items()}


def time_row(figure: str, times: Times, percent: float) -> Row:
    """A percentile in milliseconds; its spread is the quartiles of the single times."""
    spread = Spread("quartiles", _ms(times.percentile(25)), _ms(times.percentile(75)))
    return Row(figure, _ms(times.percentile(percent)), "ms", spread, times.n)


def ratio_row(figure: str, ours: Times, rival: Times, percent: float) -> Row:
    """Ratio of the same percentile of two arms; its spread is the least and the greatest of the blocks."""
    blocks = [
        one.percentile(percent) / other.percentile(percent)
        for one, other in zip(ours.blocks(), rival.blocks(), strict=True)
    ]
    value = ours.percentile(percent) / rival.percentile(percent)
    return Row(figure, rounded(value), "ratio", spread_of("blocks", blocks), min(ours.n, rival.n))


def rate_row(figure: str, times: Times, pieces: int, unit: str) -> Row:
    """Pieces per second when each repetition does `pieces` of them; spread over blocks."""
    rates = [pieces * block.n / block.total for block in times.blocks()]
    value = pieces * times.n / times.total
    return Row(figure, rounded(value), unit, spread_of("blocks", rates), times.n)


def rate_ratio_row(figure: str, ours: Times, pieces: int, rival: Times, rival_pieces: int) -> Row:
    """Ratio of two rates; spread over blocks."""

    def ratio(one: Times, other: Times) -> float:
        return (pieces * one.n / one.total) / (rival_pieces * other.n / other.total)

    blocks = [ratio(one, other) for one, other in zip(ours.blocks(), rival.blocks(), strict=True)]
    return Row(figure, rounded(ratio(ours, rival)), "ratio", spread_of("blocks", blocks), ours.n)


def runs_row(figure: str, values: Sequence[float], unit: str) -> Row:
    """The median of a few runs; spread is the least and the greatest."""
    middle = sorted(values)[len(values) // 2]
    return Row(figure, rounded(middle), unit, spread_of("runs", values), len(values))


def plain_row(figure: str, value: float, unit: str, n: int) -> Row:
    """A count, or one measurement of many things at once."""
    return Row(figure, rounded(value), unit, None, n)


def spread_of(of: Any, values: Sequence[float]) -> Spread | None:
    """The least and the greatest, unless there is only one."""
    return Spread(of, rounded(min(values)), rounded(max(values))) if len(values) > 1 else None


def rounded(value: float) -> float:
    """Four significant digits; more would claim what no run repeats."""
    return float(f"{value:.4g}")


def _ms(seconds: float) -> float:
    return rounded(seconds * 1_000)
