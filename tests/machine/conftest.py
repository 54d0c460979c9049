"""The stores of a program: the session's, and the second one, in which its journal is rebuilt."""

from __future__ import annotations

from pathlib import Path

import pytest

from amos_graph.graph.transactions import Graph
from tests import coverage
from tests.administrator import wipe
from tests.machine.programs import World
from tests.server import Server


@pytest.fixture
def world(server: Server, graph: Graph, second: Graph, tmp_path: Path) -> World:
    """The session's store, prepared, and the one in which journals are rebuilt."""
    return World(server, tmp_path, coverage.record_procedure, second, wipe)
