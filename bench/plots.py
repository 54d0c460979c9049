"""Simple pictures of text: bars that compare arms, and the shape of their times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from bench.measuring import Times

_LEVELS: Final = " ▁▂▃▄▅▆▇█"
_BAR: Final = 40
_BINS: Final = 48


def bars(values: Mapping[str, float], unit: str) -> list[str]:
    """One line for each value, as long as the value is large."""
    if not values:
        return []
    widest = max(len(name) for name in values)
    most = max(values.values()) or 1.0
    return [
        f"{name:<{widest}}  {'█' * max(1, round(_BAR * value / most)):<{_BAR}}  {value:,.4g} {unit}"
        for name, value in values.items()
    ]


def shapes(arms: Mapping[str, Times]) -> list[str]:
    """How the times of each arm are distributed, all on one logarithmic scale."""
    # One in a hundred is left out at each end: a single pause would flatten the rest.
    low = min(times.percentile(1) for times in arms.values())
    high = max(times.percentile(99) for times in arms.values())
    if not low < high:
        return []
    step = math.log(high / low) / _BINS
    widest = max(len(name) for name in arms)
    lines = [f"{name:<{widest}}  {_shape(times, low, step)}" for name, times in arms.items()]
    scale = f"{low * 1_000:.3g} ms"
    return [*lines, f"{'':<{widest}}  {scale}{f'{high * 1_000:.3g} ms':>{_BINS - len(scale)}}"]


def _shape(times: Times, low: float, step: float) -> str:
    counts = [0] * _BINS
    for seconds in times.seconds:
        place = math.floor(math.log(max(seconds, low) / low) / step)
        counts[min(place, _BINS - 1)] += 1
    most = max(counts)
    return "".join(_LEVELS[math.ceil(count * (len(_LEVELS) - 1) / most)] for count in counts)
