"""The figures, one module for each kind: what it measures, which rows it makes, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from bench.measuring import Tick, Times
from bench.results import Row
from bench.stores import Store

#: `fresh`: an empty store; `loaded`: the one with the large graphs, which may be kept.
Needs = Literal["fresh", "loaded"]


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement under way."""

    store: Store
    small: bool
    told: Callable[[str, int, int], None]

    def tick(self, part: str) -> Tick:
        """Tell of progress under a name."""
        return lambda done, total: self.told(part, done, total)

    def count(self, full: int, small: int) -> int:
        """How many repetitions: all of them, or what a smoke run takes."""
        return small if self.small else full


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of it: rows, and what is only shown."""

    rows: tuple[Row, ...]
    #: Times of arms that took turns, for the picture of their shapes.
    arms: Mapping[str, Times] = field(default_factory=dict[str, Times])
    #: Values that are drawn beside each other, and their unit.
    bars: Mapping[str, float] = field(default_factory=dict[str, float])
    unit: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A kind of figure: its name is that of its results file."""

    name: str
    title: str
    needs: Needs
    #: The figures that it makes, always all of them on a managed server.
    rows: tuple[str, ...]
    measure: Callable[[Run], Measured]
