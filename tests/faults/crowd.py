"""Many callers at once, released together, with what became of each call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from amos_graph.errors import AmosError

ResultT = TypeVar("ResultT")
WAIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Outcome(Generic[ResultT]):
    """A call's result or the refusal that it met; anything else fails the test at once."""

    result: ResultT | None
    error: AmosError | None

    @property
    def code(self) -> str:
        return self.error.code if self.error else "ok"


def attempt(work: Callable[[], ResultT]) -> Outcome[ResultT]:
    """The outcome of one call."""
    try:
        return Outcome(work(), None)
    except AmosError as error:
        return Outcome(None, error)


def at_once(works: Sequence[Callable[[], ResultT]]) -> list[Outcome[ResultT]]:
    """Run all of these in threads that start together; outcomes in the order of the calls."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], ResultT]) -> Outcome[ResultT]:
        start.wait(WAIT_S)
        return attempt(work)

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result(WAIT_S) for future in [pool.submit(run, work) for work in works]]
