"""Whether the server answers a real query, which an open port does not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

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


_COUNT_NODES = procedure("upkeep/count_nodes", NodesRow)


def bolt_uri(port: int) -> str:
    """The address of the server for a driver."""
    return f"bolt://{LOOPBACK}:{port}"


def ask(bolt_port: int, password: str) -> Answer:
    """Ask the database once: it answers, it does not (yet), or it refuses the password."""
    if not bolt_port or not is_open(bolt_port):
        return "silent"
    options: dict[str, Any] = {
        "auth": (USER, password),
        "connection_timeout": 5.0,
        "connection_acquisition_timeout": 5.0,
        "max_transaction_retry_time": 0.0,
        "telemetry_disabled": True,
    }
    try:
        with (
            neo4j.GraphDatabase.driver(bolt_uri(bolt_port), **options) as driver,  # pyright: ignore[reportUnknownMemberType]
            driver.session(database="neo4j") as session,  # pyright: ignore[reportUnknownMemberType]
        ):
            session.run(neo4j.Query(_COUNT_NODES.text, timeout=10.0)).consume()
    except driver_errors.AuthError:
        return "refused"
    except (driver_errors.Neo4jError, driver_errors.DriverError, OSError):
        return "silent"
    return "answers"
