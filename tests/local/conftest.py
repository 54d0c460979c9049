"""One managed server of its own for this folder's tests, which may stop and kill it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amos_graph.graph.local import LocalNeo4j
from amos_graph.graph.local.artifacts import Artifact, read_lock
from tests.server import SMALL


@pytest.fixture(scope="session")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNeo4j]:
    """A home whose server a test starts when it needs it; stopped at the end."""
    server = LocalNeo4j(tmp_path_factory.mktemp("managed é 漢"), options=SMALL)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def two_files() -> list[Artifact]:
    """Two small files of the real list, enough to run real fetches on."""
    names = {"neo4j", "slf4j-api"}
    return [artifact for artifact in read_lock() if artifact.name in names]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """An empty cache of this test alone."""
    return tmp_path / "cache"
