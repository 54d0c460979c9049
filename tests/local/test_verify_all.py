"""`amos verify --all`: every shard of a store of its own, and what belongs to none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from amos_graph.cli.main import app
from amos_graph.cli.shell import run_once
from amos_graph.graph.local import LocalNeo4j


@pytest.fixture
def store(managed: LocalNeo4j, tmp_path: Path) -> dict[str, str | None]:
    """The environment of a command line on the managed server, which has its schema."""
    running = managed.start()
    unset: dict[str, str | None] = {name: None for name in os.environ if name.startswith("AMOS_")}
    environment = unset | {
        "AMOS_HOME": str(tmp_path),
        "AMOS_NEO4J_URI": running.uri,
        "AMOS_NEO4J_USER": running.user,
        "AMOS_NEO4J_PASSWORD": running.password,
        "COLUMNS": "40",
    }
    # Whatever other tests of this folder left there belongs to no shard.
    _cypher(managed, "MATCH (n) DETACH DELETE n")
    _run(environment, "migrate")
    return environment


def _run(environment: dict[str, str | None], *words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words), env=environment)
    assert done.exit_code == code, done.output
    return done.stdout


def _json(environment: dict[str, str | None], *words: str, code: int = 0) -> dict[str, Any]:
    return json.loads(_run(environment, *words, "--json", code=code))


def _cypher(managed: LocalNeo4j, statement: str) -> None:
    run_once(managed.start(), statement, write=True)


@pytest.mark.reliability("T07", "T08")
def test_verify_all_reads_every_shard_and_finds_what_belongs_to_none(
    store: dict[str, str | None], managed: LocalNeo4j
) -> None:
    """Sound it exits 0; a node that no command made is a fault of no shard, and exit code 4."""
    sound = _json(store, "verify", "--all")
    assert sound["ok"] is True
    assert "_system/_system" in {report["shard"] for report in sound["reports"]}
    assert "_system/_system" in _run(store, "verify", "--all")

    _cypher(managed, "CREATE (:Typed)")
    faulty = _json(store, "verify", "--all", code=4)
    assert faulty["ok"] is False
    wrong = [report for report in faulty["reports"] if not report["ok"]]
    assert [report["shard"] for report in wrong] == [""]
    page = _run(store, "verify", "--all", code=4)
    assert "(nodes of no shard)" in page
    assert wrong[0]["faults"][0]["kind"] in page


@pytest.mark.parametrize("option", [("--first", "1"), ("--last", "1"), ("--save-checkpoint", "x")])
def test_verify_all_takes_neither_a_range_nor_a_checkpoint(
    store: dict[str, str | None], option: tuple[str, str]
) -> None:
    """Each is of one shard; asking for both is wrong usage."""
    _run(store, "verify", "--all", *option, code=2)
