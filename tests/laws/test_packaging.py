"""Packaging: the wheel holds all that runs, the driver is the one we mean, the lock names no host."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import neo4j
import pytest

from amos_graph.graph.files import CONSTRAINTS
from amos_graph.graph.procedures import all_names

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a freshly built wheel."""
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    with zipfile.ZipFile(next(target.glob("*.whl"))) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_statement_and_migration(wheel: set[str]) -> None:
    """An installed amos-graph needs no checkout beside it."""
    statements = {f"amos_graph/_cypher/{name}.cypher" for name in all_names()}
    migrations = {f"amos_graph/_constraints/{path.name}" for path in CONSTRAINTS.glob("*.cypher")}

    assert set() == (statements | migrations) - wheel


def test_the_wheel_is_typed_and_knows_the_digests_of_neo4j(wheel: set[str]) -> None:
    """The marker for type checkers and the pinned list of artifacts are package data."""
    assert {"amos_graph/py.typed", "amos_graph/graph/local/artifacts.lock"} <= wheel


def test_the_driver_is_not_the_old_one_in_disguise() -> None:
    """An unpinned resolver takes neomodel 5, whose neo4j-driver 4.4 overwrites the neo4j package."""
    assert neo4j.__version__.startswith("6.1.")
    assert metadata.version("neomodel").startswith("7.")
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version("neo4j-driver")


def test_the_lock_file_has_digests_and_names_no_host() -> None:
    """Every pinned package has its digests, and no index address stands in the file."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = re.findall(r"^[a-z0-9][\w.\-]*==[^ ]+.*\\$", text, flags=re.MULTILINE)

    assert len(pinned) > 50
    assert len(re.findall(r"^[a-z0-9][\w.\-]*==", text, flags=re.MULTILINE)) == len(pinned)
    assert "://" not in text
