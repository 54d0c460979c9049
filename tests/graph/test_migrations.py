"""Migrations: applied once, recorded with their digests, refused when edited or newer."""

from __future__ import annotations

import dataclasses

import pytest

from amos_graph.errors import AmosError
from amos_graph.graph import migrations
from amos_graph.graph.migrations import migrate, schema_faults, schema_name, shipped, status
from amos_graph.graph.transactions import Graph
from tests.administrator import run


def test_migrating_again_changes_nothing(graph: Graph) -> None:
    """Every file is applied once; a second run finds nothing to do and every index online."""
    assert migrate(graph) == []
    assert (status(graph).pending, schema_faults(graph)) == ((), [])


def test_each_file_holds_one_named_idempotent_statement() -> None:
    """A schema statement can be met again after a kill, so each is named and `IF NOT EXISTS`."""
    names = [schema_name(migration) for migration in shipped()]

    assert len(names) == len(set(names))
    for migration in shipped():
        assert "IF NOT EXISTS" in migration.text
        assert migration.text.count("CREATE ") == 1
        code = [line for line in migration.text.splitlines() if not line.startswith("//")]
        assert ";" not in "".join(code)


def test_an_edited_released_file_is_refused(graph: Graph) -> None:
    """A file that was applied with another text is named, and nothing runs."""
    first, *rest = shipped()
    edited = [dataclasses.replace(first, text=first.text + "\n"), *rest]

    with pytest.raises(AmosError, match=rf"{first.name} was edited"):
        status(graph, edited)


@pytest.mark.reliability("T16")
def test_a_store_that_is_newer_than_the_code_is_refused(graph: Graph) -> None:
    """Code that does not know the newest migration of a store says so and does not open it."""
    with pytest.raises(AmosError, match="upgrade amos-graph"):
        status(graph, shipped()[:-1])


@pytest.mark.reliability("T16")
def test_a_migration_killed_before_its_record_goes_on(graph: Graph) -> None:
    """The statement ran, its record did not follow: the next run records it and ends clean."""
    last = shipped()[-1]
    run(graph, "MATCH (m:Migration {name: $name}) DELETE m", name=last.name)

    assert [last.name] == migrate(graph)
    assert status(graph).pending == ()


def test_progress_counts_every_file(graph: Graph) -> None:
    """Progress names each file with its number and the whole."""
    seen: list[tuple[str, int, int]] = []
    migrate(graph, progress=lambda name, done, total: seen.append((name, done, total)))

    assert [migration.name for migration in migrations.shipped()] == [name for name, _, _ in seen]
    assert (len(seen), len(seen)) == seen[-1][1:]
