"""Statements sent one behind the other, without waiting for one before the next is sent.

Why: a commit is five statements, and waiting for each would cost more than all of their work. Bolt
answers in order and ignores whatever stands behind a statement that failed, so nothing is lost by it.
The driver pipelines `BEGIN` for its own `execute_query` and offers the same to nobody else, which is
why this module, alone, uses parts of it that are private. The driver is held at one minor version
(decision 0007), and `tests/graph/test_pipeline.py` tells if those parts move.
"""

# pyright: reportPrivateUsage=false, reportUnknownMemberType=false
# ruff: noqa: SLF001

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, LiteralString

import neo4j


@dataclass(slots=True)
class Answer:
    """What comes back for a statement; complete once `wait` has returned."""

    _fields: list[str] = field(default_factory=list[str])
    _records: list[list[Any]] = field(default_factory=list[list[Any]])
    _stats: dict[str, Any] = field(default_factory=dict[str, Any])

    def started(self, metadata: dict[str, Any]) -> None:
        self._fields += metadata["fields"]

    def received(self, records: list[list[Any]]) -> None:
        self._records += records

    def ended(self, metadata: dict[str, Any]) -> None:
        self._stats |= metadata.get("stats", {})

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(self._fields, record, strict=True)) for record in self._records]

    @property
    def counters(self) -> neo4j.SummaryCounters:
        return neo4j.SummaryCounters(self._stats)


def begin_with_first_statement(session: neo4j.Session) -> AbstractContextManager[Any]:
    """Within it, a transaction's `BEGIN` is sent together with its first statement."""
    return session._pipelined_begin


def send(inner: neo4j.ManagedTransaction, text: LiteralString, params: dict[str, Any]) -> Answer:
    """Send a statement, all of whose rows are wanted, and wait for nothing."""
    connection, answer = inner._error_handling_connection, Answer()
    connection.run(text, parameters=params, on_success=answer.started)
    connection.pull(n=-1, on_records=answer.received, on_success=answer.ended)
    connection.send_all()
    return answer


def wait(inner: neo4j.ManagedTransaction) -> None:
    """Wait for all that was sent. Raises the driver's error of the first statement that failed."""
    inner._error_handling_connection.fetch_all()
