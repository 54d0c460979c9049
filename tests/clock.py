"""A clock that a test moves on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from amos_graph.domain.times import format_time


class Clock:
    """The time at which commands are accepted."""

    def __init__(self) -> None:
        self.instant = datetime.now(UTC)

    def now(self) -> str:
        self.instant += timedelta(milliseconds=1)
        return format_time(self.instant)

    def pass_(self, **span: float) -> None:
        self.instant += timedelta(**span)
