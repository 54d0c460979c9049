"""A recorded history of operations, and what it must have in common with the journal.

Each operation is `ok` (acknowledged), `fail` (refused) or `info` (its fate is unknown). The journal is a
total order, so strict serializability is three comparisons with it and needs no search.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from amos_graph.commands.execution import Receipt
from amos_graph.errors import AmosError

Kind = Literal["ok", "fail", "info"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call as its caller saw it; `mark` is a text that nothing else in the store has."""

    mark: str
    kind: Kind
    began: float
    ended: float
    receipt: Mapping[str, Any] | None = None
    code: str = ""


@dataclass
class History:
    """Operations of many threads."""

    operations: list[Operation] = field(default_factory=list[Operation])

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def run(self, mark: str, work: Callable[[], Receipt]) -> Operation:
        """Run one operation and record it."""
        began = time.monotonic()
        try:
            found = Operation(mark, "ok", began, time.monotonic(), work().record)
        except AmosError as error:
            # Whoever hears `unavailable` does not know; every other answer says that nothing was done.
            kind: Kind = "info" if error.code == "unavailable" else "fail"
            found = Operation(mark, kind, began, time.monotonic(), None, error.code)
        # The receipt came before the clock was read again, so the true end is not later than noted.
        found = Operation(mark, found.kind, began, time.monotonic(), found.receipt, found.code)
        with self._lock:
            self.operations.append(found)
        return found

    def of(self, kind: Kind) -> list[Operation]:
        """The operations of one kind."""
        return [operation for operation in self.operations if operation.kind == kind]


def check(history: History, journal: Sequence[Mapping[str, Any]], marks: Mapping[str, int]) -> None:
    """Hold a history against the checked journal and the marks that the store has, with their counts.

    Every acknowledged operation is in the journal at the version that it was told, refused ones are
    not there, unknown ones are there once or not at all, nothing else is there, and what ended before
    another began stands before it.
    """
    events = {event["event_id"]: event["graph_version"] for event in journal}
    acknowledged = history.of("ok")
    for operation in acknowledged:
        receipt = operation.receipt or {}
        assert receipt["event_ids"], operation.mark
        versions = [events.get(event_id) for event_id in receipt["event_ids"]]
        last = receipt["graph_version"]
        assert versions == list(range(last - len(versions) + 1, last + 1)), f"lost or moved: {operation.mark}"
        assert marks.get(operation.mark) == 1, f"acknowledged and not there: {operation.mark}"
    for operation in history.of("fail"):
        assert operation.mark not in marks, f"refused ({operation.code}) and there: {operation.mark}"
    for operation in history.of("info"):
        assert marks.get(operation.mark, 0) <= 1, f"done twice: {operation.mark}"
    assert marks.keys() <= {operation.mark for operation in history.operations}
    _check_order(acknowledged)


def _check_order(acknowledged: Sequence[Operation]) -> None:
    """What ended before another began has the smaller version."""
    by_end = sorted(acknowledged, key=lambda operation: operation.ended)
    highest, position = 0, 0
    for operation in sorted(acknowledged, key=lambda operation: operation.began):
        while position < len(by_end) and by_end[position].ended < operation.began:
            highest = max(highest, (by_end[position].receipt or {})["graph_version"])
            position += 1
        version = (operation.receipt or {})["graph_version"]
        assert version > highest, f"{operation.mark} is older than what had ended before it began"
