"""Whether the server answers a real query, which an open port does not say."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import neo4j
from neo4j import exceptions as driver_errors

from amos_graph.graph.local.options import LOOPBACK, USER
from amos_graph.graph.local.ports import is_open
from amos_graph.graph.procedures import procedure

Answer = Literal["answers", "silent", "refused"]


@dataclass(frozen=True, slots=True)
class NodesRow:
    """How many nodes the database holds."""

    nodes: int


@dataclass(frozen=True, slots=True)
class DatabaseRow:
    """A database, its state, and what went wrong with it."""

    name: str
    status: str
    message: str


_COUNT_NODES = procedure("upkeep/count_nodes", NodesRow)
_SHOW_DATABASES = procedure("upkeep/show_databases", DatabaseRow)
DATABASE: Final = "neo4j"
_PATIENCE_S: Final = 10.0


def bolt_uri(port: int) -> str:
    """The address of the server for a driver."""
    return f"bolt://{LOOPBACK}:{port}"


def ask(bolt_port: int, password: str) -> Answer:
    """Ask the database once: it answers, it does not (yet), or it refuses the password."""
    if not bolt_port or not is_open(bolt_port):
        return "silent"
    try:
        with _session(bolt_port, password, DATABASE) as session:
            session.run(neo4j.Query(_COUNT_NODES.text, timeout=_PATIENCE_S)).consume()
    except driver_errors.AuthError:
        return "refused"
    except (driver_errors.Neo4jError, driver_errors.DriverError, OSError):
        return "silent"
    return "answers"


def offline_reason(bolt_port: int, password: str) -> str:
    """Why the database could not be opened, in the server's words; empty when it does not say so."""
    if not bolt_port or not is_open(bolt_port):
        return ""
    try:
        with _session(bolt_port, password, "system") as session:
            records = list(session.run(neo4j.Query(_SHOW_DATABASES.text, timeout=_PATIENCE_S)))
    except (driver_errors.Neo4jError, driver_errors.DriverError, OSError):
        return ""
    rows = [DatabaseRow(**record.data()) for record in records]
    return next((row.message for row in rows if row.name == DATABASE and row.status != "online"), "")


@contextmanager
def _session(bolt_port: int, password: str, database: str) -> Generator[neo4j.Session]:
    options: dict[str, Any] = {
        "auth": (USER, password),
        "connection_timeout": 5.0,
        "connection_acquisition_timeout": 5.0,
        "telemetry_disabled": True,
        "notifications_min_severity": "OFF",
    }
    with (
        neo4j.GraphDatabase.driver(bolt_uri(bolt_port), **options) as driver,  # pyright: ignore[reportUnknownMemberType]
        driver.session(database=database) as session,  # pyright: ignore[reportUnknownMemberType]
    ):
        yield session
