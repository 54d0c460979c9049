"""Fixtures for a real Neo4j: one server for the session, a tenant of its own for each test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from amos_graph.commands.dictionary import prepare
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.graph.archive import Archive
from amos_graph.graph.local import LocalNeo4j
from amos_graph.graph.migrations import migrate
from amos_graph.graph.procedures import Procedure
from amos_graph.graph.transactions import Graph, connect
from amos_graph.settings import Settings
from tests import administrator, coverage
from tests.clock import Clock
from tests.server import SMALL, Server, provided_server

ROOT = Path(__file__).resolve().parent.parent
#: Where this process keeps its servers: each worker (pytest-xdist) has its own.
HOME = ROOT / ".amos-test" / os.environ.get("PYTEST_XDIST_WORKER", "")


#: Files that take longest, in order. Workers take whole files; a long one begun last is waited for alone.
LONG_FILES = (
    "faults/test_kills.py",
    "local/test_server.py",
    "backup/test_restore.py",
    "api/test_contract.py",
    "local/test_fetch.py",
    "outcomes/test_outcomes.py",
    "queries/test_verify.py",
    "backup/test_checkpoint.py",
    "recall/test_versions.py",
    "recall/test_past.py",
    "docs/test_examples.py",
    "local/test_verify_all.py",
    "api/test_command_line.py",
    "golden/test_killed_migration.py",
)


def pytest_configure(config: pytest.Config) -> None:
    coverage.install(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first = {ROOT / "tests" / name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: first.get(item.path, len(first)))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The Neo4j of this session: the one given, else a managed one below the repository."""
    with provided_server(HOME) as found:
        yield found


def _observe(procedure: Procedure[Any], rows: list[dict[str, Any]], counters: neo4j.SummaryCounters) -> None:
    coverage.record_procedure(procedure, rows, counters)


@pytest.fixture(scope="session")
def graph(server: Server) -> Iterator[Graph]:
    """A migrated Graph whose every statement is recorded for the coverage laws."""
    opened = Graph(connect(server.uri, server.user, server.password), observer=_observe)
    prepare(opened, Settings.model_validate({"home": HOME}))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def second_server() -> Iterator[Server]:
    """Another server; nothing of the suite's own store is in it."""
    local = LocalNeo4j(HOME / "second", options=SMALL)
    running = local.start()
    yield Server(running.uri, running.user, running.password)
    if os.environ.get("AMOS_TEST_KEEP") != "1":
        local.stop()


@pytest.fixture(scope="session")
def second(second_server: Server) -> Iterator[Graph]:
    """Its Graph, with the schema and without a shard."""
    server = second_server
    opened = Graph(connect(server.uri, server.user, server.password), observer=coverage.record_procedure)
    migrate(opened)
    for row in administrator.run(opened, "MATCH (j:Journal) RETURN j.shard AS shard"):
        administrator.wipe(opened, row["shard"])
    yield opened
    opened.close()


@pytest.fixture
def tenant() -> str:
    """A tenant that no other test has."""
    return f"t{uuid.uuid4().hex[:12]}"


@pytest.fixture
def settings(tmp_path: Path, server: Server, tenant: str) -> Settings:
    """Settings of this test alone."""
    return Settings.model_validate(
        {
            "home": tmp_path,
            "neo4j_uri": server.uri,
            "neo4j_user": server.user,
            "neo4j_password": server.password,
            "tenant": tenant,
            "workspace": "w",
        }
    )


@pytest.fixture
def caller(tenant: str) -> Identity:
    """An identity with every capability in the test's tenant, workspace `w`."""
    return Identity(
        client_id="cli_test",
        service_id="svc:test",
        process_type="test",
        scope=Scope(tenant_id=tenant, workspace_id="w"),
        capabilities=frozenset(CAPABILITIES),
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the commands of this test."""
    made = Clock()
    monkeypatch.setattr("amos_graph.commands.plan.now", made.now)
    return made


ContextOf = Callable[..., Context]


@pytest.fixture
def context_of(graph: Graph, settings: Settings, caller: Identity) -> ContextOf:
    """Make the context of a call; keywords narrow the scope or give key and versions."""

    def make(
        identity: Identity | None = None, *, scope: dict[str, Any] | None = None, **envelope: Any
    ) -> Context:
        who = identity or caller
        return Context(
            graph=graph,
            settings=settings,
            archive=Archive(settings.archive_folder),
            identity=who,
            scope=who.within(scope),
            **envelope,
        )

    return make


@pytest.fixture
def context(context_of: ContextOf) -> Context:
    """The context of an ordinary call."""
    return context_of()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data, named by AMOS_DATA or beside the repository."""
    return Path(os.environ.get("AMOS_DATA") or ROOT.parent / "shared" / "data")
