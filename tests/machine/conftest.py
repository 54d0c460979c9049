"""A second Neo4j in which journals are rebuilt."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from amos_graph.graph.local import LocalNeo4j
from amos_graph.graph.migrations import migrate
from amos_graph.graph.transactions import Graph, connect
from tests import coverage
from tests.backup.conftest import SMALL, wipe
from tests.conftest import ROOT
from tests.machine.programs import World
from tests.server import Server


@pytest.fixture(scope="session")
def other_server() -> Iterator[Server]:
    """A server beside the suite's own; the one that `tests/backup` restores into."""
    local = LocalNeo4j(ROOT / ".amos-test" / "second", options=SMALL)
    running = local.start()
    yield Server(running.uri, running.user, running.password)
    if os.environ.get("AMOS_TEST_KEEP") != "1":
        local.stop()


@pytest.fixture(scope="session")
def elsewhere(other_server: Server) -> Iterator[Graph]:
    """Its Graph, with the schema."""
    opened = Graph(
        connect(other_server.uri, other_server.user, other_server.password),
        observer=coverage.record_procedure,
    )
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def world(server: Server, graph: Graph, elsewhere: Graph, tmp_path: Path) -> World:
    """The session's store, prepared, and the one in which journals are rebuilt."""
    return World(server, tmp_path, coverage.record_procedure, elsewhere, wipe)
