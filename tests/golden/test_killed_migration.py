"""A migration that is killed at any of its steps goes on; a store that is newer is left alone (T16)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amos_graph.commands.dictionary import SYSTEM_SCOPE, prepare
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.migrations import migrate, schema_faults, schema_name, shipped, status
from amos_graph.graph.transactions import Graph
from amos_graph.queries.digest import graph_digest
from amos_graph.queries.journal import journal_head
from amos_graph.queries.verify import verify
from amos_graph.settings import Settings
from amos_graph.upkeep.restore import restore
from tests.administrator import run, wipe
from tests.faults.service import Service, Store, running
from tests.golden.make import FOLDER, LINE_BYTES_MAX, SHARD, TENANT
from tests.golden.test_golden import VERSIONS, expected_of
from tests.server import Server


def _present(graph: Graph) -> set[str]:
    """The names of constraints and indexes."""
    shown = "SHOW CONSTRAINTS YIELD name RETURN name", "SHOW INDEXES YIELD name RETURN name"
    return {row["name"] for statement in shown for row in run(graph, statement)}


@pytest.fixture
def bare(second: Graph) -> Iterator[Graph]:
    """A store as Neo4j makes it: no schema of ours, no record of one, no dictionary."""
    for shard in (SYSTEM_SCOPE.shard, SHARD):
        wipe(second, shard)
    for migration in shipped():
        kind = "CONSTRAINT" if "CREATE CONSTRAINT" in migration.text else "INDEX"
        run(second, f"DROP {kind} {schema_name(migration)} IF EXISTS")
    run(second, "MATCH (m:Migration) DELETE m")
    yield second
    migrate(second)
    for shard in (SYSTEM_SCOPE.shard, SHARD):
        wipe(second, shard)


@pytest.fixture
def service(second_server: Server, tmp_path: Path) -> Iterator[Service]:
    with running(Store(second_server, tmp_path, TENANT)) as found:
        yield found


@pytest.mark.reliability("T16", "T14")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_a_migration_killed_at_each_step_goes_on(
    bare: Graph, service: Service, tmp_path: Path, every: int
) -> None:
    """Killed behind each record, and between a statement and its record; then a golden store fits in."""
    names = [migration.name for migration in shipped()]
    for done, migration in enumerate(shipped()):
        if done % every == 0:
            assert service.run(prepare=True, dies_before=1) == {"died": True}
            assert list(status(bare).applied) == names[:done]
            assert schema_name(migration) in _present(bare), "its statement has not run"
        assert service.run(prepare=True, dies_behind=1) == {"died": True}
        assert list(status(bare).applied) == names[: done + 1]
    assert service.run(prepare=True, dies_before=1) == {"died": True}
    assert journal_head(bare, SYSTEM_SCOPE.shard) is None, "half of the dictionary is there"
    last = service.run(prepare=True)

    assert last == {"applied": [], "transactions": 1}
    assert schema_faults(bare) == []
    assert verify(bare, SYSTEM_SCOPE.shard).ok
    file = FOLDER / VERSIONS[-1] / "journal.jsonl"
    restore(bare, Archive(tmp_path / "archive"), file, line_bytes_max=LINE_BYTES_MAX)
    assert graph_digest(bare, SHARD).digest == expected_of(VERSIONS[-1])["digest"]


@pytest.mark.reliability("T16")
def test_a_newer_store_is_refused_and_not_touched(second: Graph, tmp_path: Path) -> None:
    """Neither a start nor a restore of older code writes into a store whose schema it does not know."""
    wipe(second, SHARD)
    run(second, "CREATE (:Migration {name: '9999_from_the_future', sha256: 'f'})")
    before = _present(second)
    file = FOLDER / VERSIONS[-1] / "journal.jsonl"
    try:
        with pytest.raises(AmosError, match=r"9999_from_the_future.*upgrade amos-graph"):
            prepare(second, Settings.model_validate({"home": tmp_path}))
        with pytest.raises(AmosError, match="upgrade amos-graph"):
            restore(second, Archive(tmp_path / "archive"), file, line_bytes_max=LINE_BYTES_MAX)
        assert journal_head(second, SHARD) is None
        assert _present(second) == before
    finally:
        run(second, "MATCH (m:Migration {name: '9999_from_the_future'}) DELETE m")
