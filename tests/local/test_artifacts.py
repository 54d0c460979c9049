"""The committed list of files, and the check of a folder against it."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from amos_graph.errors import AmosError
from amos_graph.graph.local.artifacts import (
    Artifact,
    check_files,
    file_digest,
    format_lock,
    lock_digest,
    neo4j_version,
    read_lock,
)


def test_the_list_names_each_file_once_with_a_digest_and_no_host() -> None:
    """226 files of one Neo4j with Browser, all names different, nothing on where they come from."""
    artifacts = read_lock()
    text = resources.files("amos_graph.graph.local").joinpath("artifacts.lock").read_text(encoding="utf-8")

    assert len({artifact.file_name for artifact in artifacts}) == len(artifacts) == 226
    assert all(len(artifact.sha256) == 64 and int(artifact.sha256, 16) for artifact in artifacts)
    assert neo4j_version(artifacts) == "2026.08.1"
    assert "org.neo4j.client:neo4j-browser:5.24.0:jar" in text
    assert "://" not in text


def test_a_list_survives_writing_and_reading() -> None:
    """What is formatted reads as the same artifacts, classifiers included."""
    artifacts = read_lock()

    assert read_lock(format_lock(artifacts)) == sorted(artifacts, key=lambda each: format_lock([each]))
    assert any(artifact.classifier for artifact in artifacts)


def test_another_list_gets_another_name() -> None:
    """One changed digest changes the folder, so two lists are never mixed."""
    first, *rest = read_lock()

    assert lock_digest([first, *rest]) != lock_digest([replace(first, sha256="0" * 64), *rest])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a-1.jar", "b-1.jar"):
        (tmp_path / name).write_text(name)
    return tmp_path


def _listed(folder: Path, *names: str) -> list[Artifact]:
    return [Artifact("g", name, "", "1", "jar", file_digest(folder / f"{name}-1.jar")) for name in names]


def test_an_untouched_folder_passes(folder: Path) -> None:
    """Each file is counted while it is checked."""
    counted: list[int] = []
    check_files(folder, _listed(folder, "a", "b"), counted.append)

    assert counted == [1, 2]


def test_missing_unexpected_and_changed_files_are_named(folder: Path) -> None:
    """One sentence tells the three apart and names the files."""
    listed = _listed(folder, "a", "b")
    (folder / "a-1.jar").write_text("tampered")
    (folder / "b-1.jar").rename(folder / "c-1.jar")
    with pytest.raises(AmosError) as refusal:
        check_files(folder, listed)

    assert refusal.value.code == "unavailable"
    assert refusal.value.details == {
        "missing": ["b-1.jar"],
        "unexpected": ["c-1.jar"],
        "changed": ["a-1.jar"],
    }
    assert "a-1.jar" in refusal.value.message
    assert "nothing was installed" in refusal.value.message
