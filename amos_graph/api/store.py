"""Which Neo4j is meant: the one that AMOS_NEO4J_URI names, else the managed one of AMOS_HOME."""

from __future__ import annotations

import time
from typing import Final

from neo4j import exceptions as driver_errors

from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, TRUST_MAX, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.archive import open_archive
from amos_graph.graph.local import LocalNeo4j
from amos_graph.graph.transactions import Graph, connect, translate
from amos_graph.settings import Settings

#: A stop of the service waits this long for requests that are being answered.
STOP_S: Final = 20
NOT_RUNNING: Final = "Neo4j is not running: amos up"
NO_PASSWORD: Final = "AMOS_NEO4J_URI is set, so AMOS_NEO4J_PASSWORD must be set too"  # noqa: S105


def local_neo4j(settings: Settings) -> LocalNeo4j:
    """The managed Neo4j of the settings' home."""
    return LocalNeo4j(settings.home.expanduser())


def open_graph(settings: Settings) -> Graph:
    """The graph of the settings; nothing is started, and a given server need not answer yet.

    Raises `unavailable` when the managed Neo4j does not run.
    """
    if settings.neo4j_uri:
        if settings.neo4j_password is None:
            raise AmosError("unavailable", NO_PASSWORD)
        uri, user = settings.neo4j_uri, settings.neo4j_user
        password = settings.neo4j_password.get_secret_value()
    else:
        running = local_neo4j(settings).running()
        if running is None:
            raise AmosError("unavailable", NOT_RUNNING)
        uri, user, password = running.uri, running.user, running.password
    driver = connect(uri, user, password, retry_s=settings.retry_s)
    return Graph(driver, settings.neo4j_database, settings.transaction_timeout_s)


def await_store(graph: Graph, wait_s: float) -> None:
    """Return when the store answers. Raises `unavailable` when it does not within the time."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            graph.driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
        except (driver_errors.Neo4jError, driver_errors.DriverError, ValueError) as error:
            if isinstance(error, driver_errors.AuthError) or time.monotonic() > deadline:
                raise translate(error) from error
            time.sleep(0.5)
        else:
            return


def operator(graph: Graph, settings: Settings) -> Context:
    """Whoever holds the database's password: every capability in the settings' tenant and workspace."""
    scope = Scope(tenant_id=settings.tenant, workspace_id=settings.workspace)
    identity = Identity(
        client_id="cli_operator",
        service_id="svc:operator",
        process_type="cli",
        scope=scope,
        capabilities=frozenset(CAPABILITIES),
        trust_level=TRUST_MAX,
    )
    return Context(graph, settings, open_archive(settings), identity, scope)
