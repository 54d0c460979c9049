"""The two ways into Neo4j, read and write, and the one translation of its errors."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import neo4j
from neo4j import exceptions as driver_errors

from amos_graph.errors import AmosError
from amos_graph.graph import pipeline
from amos_graph.graph.admission import Admission
from amos_graph.graph.outbox import Outbox
from amos_graph.graph.packet_cache import PacketCache
from amos_graph.graph.procedures import Procedure, Rows, given

RowT = TypeVar("RowT")
ResultT = TypeVar("ResultT")
Observer = Callable[[Procedure[Any], list[dict[str, Any]], neo4j.SummaryCounters], None]
#: Takes the answer of a statement that was sent, and raises what is wrong with it.
_Sent = Callable[[], None]

_log: Final = logging.getLogger(__name__)
#: Ends of a transaction that ran or waited for too long; Neo4j calls them errors of the client.
_ENDED_BY_LIMIT: Final = (
    "TransactionTimedOut",
    "TransactionTimedOutClientConfiguration",
    "LockAcquisitionTimeout",
    "LockClientStopped",
    "Transaction.Terminated",
)
RETRY_LATER: Final = "Neo4j cannot answer now; send the same request again with the same idempotency key"


class InDoubtError(AmosError):
    """The connection broke while a commit was under way: it may have happened or not."""

    def __init__(self) -> None:
        super().__init__("unavailable", RETRY_LATER)


class TimeLimitError(AmosError):
    """A transaction was ended because it ran or waited for too long; nothing of it happened."""

    def __init__(self) -> None:
        super().__init__("unavailable", "the request took longer than its time limit; send it again later")


@dataclass(frozen=True, slots=True)
class Tx:
    """An open transaction that runs bound procedures and nothing else."""

    inner: neo4j.ManagedTransaction
    observer: Observer | None = None
    _sent: list[_Sent] = field(default_factory=list[_Sent])

    def one(self, procedure: Procedure[RowT], **params: Any) -> RowT:
        """Run a statement that returns exactly one row. Raises `internal` when it does not."""
        rows = self._run(procedure, "one", params)
        if len(rows) != 1:
            raise AmosError("internal", f"{procedure.name} returned {len(rows)} rows in place of one")
        return rows[0]

    def maybe(self, procedure: Procedure[RowT], **params: Any) -> RowT | None:
        """Run a statement that returns one row or none."""
        rows = self._run(procedure, "maybe", params)
        if len(rows) > 1:
            raise AmosError("internal", f"{procedure.name} returned {len(rows)} rows in place of one or none")
        return rows[0] if rows else None

    def many(self, procedure: Procedure[RowT], **params: Any) -> list[RowT]:
        """Run a statement that returns any number of rows."""
        return self._run(procedure, "many", params)

    def none(self, procedure: Procedure[RowT], **params: Any) -> None:
        """Run a statement for its effect."""
        self._run(procedure, "none", params)

    def send(
        self, procedure: Procedure[RowT], check: Callable[[list[RowT]], None] | None = None, **params: Any
    ) -> None:
        """Run a statement without waiting for it; `check` sees its rows, and raises if they are wrong.

        That it ran is certain, and what it raises is raised, at the next statement of another kind, at
        `settle`, or at the end of the transaction's work, and always before the commit.
        """
        self._check_call(procedure, procedure.header.rows, params)
        answer = pipeline.send(self.inner, procedure.text, given(params))

        def received() -> None:
            rows = self._answered(procedure, answer.rows, answer.counters)
            if procedure.header.rows == "one" and len(rows) != 1:
                raise AmosError("internal", f"{procedure.name} returned {len(rows)} rows in place of one")
            if check:
                check(rows)

        self._sent.append(received)

    def settle(self) -> None:
        """Wait for the statements that were sent, and check their rows."""
        if self._sent:
            sent = list(self._sent)
            self._sent.clear()
            with _memory_translated():
                pipeline.wait(self.inner)
            for received in sent:
                received()

    def _run(self, procedure: Procedure[RowT], verb: Rows, params: dict[str, Any]) -> list[RowT]:
        self._check_call(procedure, verb, params)
        self.settle()
        with _memory_translated():
            result = self.inner.run(procedure.text, given(params))
            rows = [record.data() for record in result]
            summary = result.consume()
        return self._answered(procedure, rows, summary.counters)

    def _answered(
        self, procedure: Procedure[RowT], rows: list[dict[str, Any]], counters: neo4j.SummaryCounters
    ) -> list[RowT]:
        """The typed rows of a statement that has run; the one place that every statement passes."""
        if self.observer:
            self.observer(procedure, rows, counters)
        return [procedure.row_type(**row) for row in rows]

    def _check_call(self, procedure: Procedure[Any], verb: Rows, params: dict[str, Any]) -> None:
        header = procedure.header
        if header.rows != verb or params.keys() != header.params.keys():
            raise TypeError(f"{header.name} is called as {verb}({sorted(params)}), declared {header.rows}")


@contextmanager
def _memory_translated() -> Generator[None]:
    """Neo4j calls it transient, and the driver would send the same too large work again."""
    try:
        yield
    except driver_errors.Neo4jError as error:
        if error.code.endswith("MemoryPoolOutOfMemoryError"):
            raise AmosError("capacity_limited", "the request needs more memory than Neo4j grants") from error
        raise


class Graph:
    """A Neo4j database, reached through managed transactions that carry name and timeout."""

    def __init__(
        self,
        driver: neo4j.Driver,
        database: str = "neo4j",
        timeout_s: float = 60.0,
        observer: Observer | None = None,
    ) -> None:
        self.driver = driver
        self.database = database
        self.timeout_s = timeout_s
        self.observer = observer
        #: Who writes next, for each shard.
        self.writers: Admission[Any, Any] = Admission()
        #: What is written a moment later, by nobody who waits.
        self.outbox: Outbox[Graph, Any] = Outbox(self)
        #: Packets that were given out.
        self.packets = PacketCache()

    def read(self, flow: str, work: Callable[[Tx], ResultT], timeout_s: float | None = None) -> ResultT:
        """Run `work` in a read transaction; it may run again, so it must have no other effect."""
        with self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(self._unit(flow, work, timeout_s))

    def write(self, flow: str, work: Callable[[Tx], ResultT], timeout_s: float | None = None) -> ResultT:
        """Run `work` in a write transaction; which may run it twice: make ids, times and salts before.

        Raises InDoubtError when the fate of the commit is unknown.
        """
        with self._session(neo4j.WRITE_ACCESS) as session:
            return session.execute_write(self._unit(flow, work, timeout_s))

    def _unit(
        self, flow: str, work: Callable[[Tx], ResultT], timeout_s: float | None
    ) -> Callable[[neo4j.ManagedTransaction], ResultT]:
        @neo4j.unit_of_work(metadata={"amos": flow}, timeout=timeout_s or self.timeout_s)
        def run(inner: neo4j.ManagedTransaction) -> ResultT:
            tx = Tx(inner, self.observer)
            result = work(tx)
            tx.settle()
            return result

        return run

    @contextmanager
    def _session(self, access: str) -> Generator[neo4j.Session]:
        # The driver types its options as an untyped **config.
        config = {"database": self.database, "default_access_mode": access}
        try:
            with (
                self.driver.session(**config) as session,  # pyright: ignore[reportUnknownMemberType]
                pipeline.begin_with_first_statement(session),
            ):
                yield session
        except (driver_errors.Neo4jError, driver_errors.DriverError) as error:
            raise translate(error) from error

    def close(self) -> None:
        self.outbox.close()
        self.driver.close()


def settled(write: Callable[[], ResultT], within_s: float) -> ResultT:
    """The result of a write that can be run again, run until the fate of its commit is known.

    Raises `unavailable` when that takes too long, and what the write raises. The commit may have
    happened, and the lock that the write takes queues its next try behind one still in flight.
    """
    deadline = time.monotonic() + within_s
    in_doubt = False
    while True:
        try:
            return write()
        except InDoubtError:
            in_doubt = True
        except AmosError as error:
            if error.code != "unavailable" or not in_doubt:
                raise
        if time.monotonic() > deadline:
            raise AmosError("unavailable", RETRY_LATER)
        time.sleep(0.2)


def connect(
    uri: str, user: str, password: str, *, retry_s: float = 15.0, pool_max: int = 100
) -> neo4j.Driver:
    """A driver with bounded waits and without usage reporting to anyone."""
    return neo4j.GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType]
        uri,
        auth=(user, password),
        max_transaction_retry_time=retry_s,
        connection_timeout=5.0,
        connection_acquisition_timeout=10.0,
        max_connection_pool_size=pool_max,
        telemetry_disabled=True,
        # A store that is still empty lacks properties that statements ask for; the EXPLAIN law asks for
        # notifications on a full one, and a service's log is no place for them.
        notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        warn_notification_severity=neo4j.NotificationMinimumSeverity.OFF,
        user_agent="amos-graph",
    )


def translate(error: Exception) -> AmosError:
    """A driver error as ours. Neo4j's own text stays in the log: it holds values, labels and paths."""
    if isinstance(error, driver_errors.IncompleteCommit):
        return InDoubtError()
    if isinstance(error, driver_errors.ConstraintError):
        # Uniqueness is the second net behind the shard's lock; who is caught in it lost a race.
        return AmosError("expected_version_conflict", "another writer was first; read again")
    if isinstance(error, driver_errors.AuthError):
        return AmosError("unavailable", "Neo4j refused the login of this service")
    transient = isinstance(error, (driver_errors.TransientError, driver_errors.SessionExpired))
    if transient or isinstance(error, (driver_errors.ServiceUnavailable, driver_errors.DatabaseUnavailable)):
        return AmosError("unavailable", RETRY_LATER)
    if isinstance(error, driver_errors.Neo4jError) and (error.code or "").endswith(_ENDED_BY_LIMIT):
        return TimeLimitError()
    if isinstance(error, driver_errors.DriverError) and error.is_retryable():
        return AmosError("unavailable", RETRY_LATER)
    _log.error("unexpected answer from Neo4j", exc_info=error)
    return AmosError("internal", "Neo4j could not run the statement; the log has the cause")
