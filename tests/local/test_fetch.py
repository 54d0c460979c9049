"""Fetching through the real Maven: complete and checked, or not there at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from amos_graph.errors import AmosError
from amos_graph.graph.local import Step
from amos_graph.graph.local.artifacts import Artifact, check_files, format_lock
from amos_graph.graph.local.installation import ensure_installed, installation_folder, remove_installations
from amos_graph.graph.local.maven import find_maven, maven_failure

ROOT = Path(__file__).resolve().parents[2]


def _nothing_installed(cache: Path, artifacts: list[Artifact]) -> bool:
    left = [path.name for path in cache.iterdir() if path.name.startswith((".staging", "neo4j-"))]
    return not installation_folder(cache, artifacts).exists() and left == []


def test_once_installed_no_maven_is_asked(
    cache: Path, two_files: list[Artifact], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call fetches and counts; the second works with no Maven in reach, hence without network."""
    steps: list[Step] = []
    first = ensure_installed(cache, steps.append, artifacts=two_files)
    monkeypatch.setenv("PATH", "")
    second = ensure_installed(cache, artifacts=two_files)

    check_files(first.folder / "lib", two_files)
    assert second == first
    assert [step.done for step in steps if step.phase == "fetch"][-1] == len(two_files)
    assert {step.total for step in steps if step.phase == "fetch"} == {len(two_files)}


def test_a_file_with_another_digest_installs_nothing(cache: Path, two_files: list[Artifact]) -> None:
    """The list is the judge: a served file that differs from it is named, and nothing is kept."""
    first, second = two_files
    listed = [first, replace(second, sha256="0" * 64)]
    with pytest.raises(AmosError, match=r"do not match artifacts\.lock") as refusal:
        ensure_installed(cache, artifacts=listed)

    assert refusal.value.details["changed"] == [second.file_name]
    assert _nothing_installed(cache, listed)


def test_a_changed_installation_is_fetched_again(cache: Path, two_files: list[Artifact]) -> None:
    """A file that was changed after its installation is found at the next call and replaced."""
    installed = ensure_installed(cache, artifacts=two_files)
    (installed.folder / "lib" / two_files[0].file_name).write_text("tampered")
    ensure_installed(cache, artifacts=two_files)

    check_files(installed.folder / "lib", two_files)


@pytest.mark.parametrize("phase", ["fetch", "check"])
def test_an_interrupted_fetch_leaves_nothing_half_done(
    cache: Path, two_files: list[Artifact], tmp_path: Path, phase: str
) -> None:
    """A fetch killed at its begin or during the check installs nothing; the next call goes on."""
    lock = tmp_path / "list"
    lock.write_text(format_lock(two_files))
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(cache), str(lock), phase], cwd=ROOT, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert not installation_folder(cache, two_files).exists()

    installed = ensure_installed(cache, artifacts=two_files)
    check_files(installed.folder / "lib", two_files)
    assert [path for path in cache.iterdir() if path.name.startswith(".staging")] == []


_KILLED = """
import os, signal, sys
from pathlib import Path
from amos_graph.graph.local.artifacts import read_lock
from amos_graph.graph.local.installation import ensure_installed
cache, lock, phase = sys.argv[1:]
def tell(step):
    if step.phase == phase:
        os.kill(os.getpid(), signal.SIGKILL)
ensure_installed(Path(cache), tell, artifacts=read_lock(Path(lock).read_text()))
"""


def test_two_fetches_at_once_fetch_once(cache: Path, two_files: list[Artifact]) -> None:
    """The second waits for the first, says so, and uses what the first installed."""
    told: dict[str, list[Step]] = {"a": [], "b": []}

    def fetch(name: str) -> None:
        ensure_installed(cache, told[name].append, artifacts=two_files)

    threads = [threading.Thread(target=fetch, args=(name,)) for name in told]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    phases = [{step.phase for step in steps} for steps in told.values()]
    assert sorted(phases, key=len) == [{"wait"}, {"fetch", "check"}]


def test_without_network_one_sentence_says_what_to_do(
    cache: Path, two_files: list[Artifact], tmp_path: Path
) -> None:
    """A registry that does not answer (a closed port of loopback) and an empty local repository."""
    settings = tmp_path / "settings.xml"
    settings.write_text(
        "<settings><mirrors><mirror><id>closed</id><mirrorOf>*</mirrorOf>"
        "<url>http://127.0.0.1:9/</url></mirror></mirrors></settings>"
    )
    arguments = ["-s", str(settings), f"-Dmaven.repo.local={tmp_path / 'empty'}"]
    with pytest.raises(AmosError, match="connect to the network") as refusal:
        ensure_installed(cache, artifacts=two_files, maven_arguments=arguments)

    assert refusal.value.code == "unavailable"
    assert "\n" not in refusal.value.message
    assert _nothing_installed(cache, two_files)


def test_maven_told_to_stay_offline_is_no_network_either(
    cache: Path, two_files: list[Artifact], tmp_path: Path
) -> None:
    """The user's own offline setting ends in the same sentence."""
    arguments = ["--offline", f"-Dmaven.repo.local={tmp_path / 'empty'}"]
    with pytest.raises(AmosError, match="connect to the network"):
        ensure_installed(cache, artifacts=two_files, maven_arguments=arguments)


def test_too_little_free_space_is_told_before_the_fetch(cache: Path, two_files: list[Artifact]) -> None:
    """The stated minimum is compared with the disk before Maven runs."""
    with pytest.raises(AmosError, match="are needed to fetch Neo4j") as refusal:
        ensure_installed(cache, artifacts=two_files, free_mb_min=10**9)

    assert refusal.value.code == "capacity_limited"
    assert _nothing_installed(cache, two_files)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A file system of 256 kB, or nothing where mounting is not allowed."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], check=False, capture_output=True
    )
    yield folder if mounted.returncode == 0 else None
    if mounted.returncode == 0:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_fills_up_during_the_fetch_installs_nothing(
    two_files: list[Artifact], tiny_disk: Path | None
) -> None:
    """A really full disk where one can be mounted; elsewhere the same sentence from Maven's own words."""
    if tiny_disk is None:
        refusal = maven_failure("[ERROR] write failed: No space left on device")
    else:
        with pytest.raises(AmosError) as caught:
            ensure_installed(tiny_disk, artifacts=two_files, free_mb_min=0)
        refusal = caught.value
        assert _nothing_installed(tiny_disk, two_files)

    assert refusal.code == "capacity_limited"
    assert "nothing was installed" in refusal.message


def test_without_maven_and_jgo_one_sentence_says_what_to_install(
    cache: Path, two_files: list[Artifact], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither on PATH nor as a package: the sentence names both ways."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    with pytest.raises(AmosError, match=r"pip install 'amos-graph\[local\]'"):
        ensure_installed(cache, artifacts=two_files)


def test_without_maven_on_path_the_pinned_one_is_fetched(
    cache: Path, two_files: list[Artifact], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """jgo brings Maven, which is checked, kept in the cache, and fetches the files on the Java found."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for tool in Path(folder).glob("*"):
            if tool.name != "mvn":
                with suppress(FileExistsError):
                    (tools / tool.name).symlink_to(tool)
    monkeypatch.setenv("PATH", str(tools))
    installed = ensure_installed(cache, artifacts=two_files)
    executable, _ = find_maven(cache)

    check_files(installed.folder / "lib", two_files)
    assert Path(executable).is_relative_to(cache)


def test_only_our_own_folders_of_a_cache_are_deleted(cache: Path, two_files: list[Artifact]) -> None:
    """A cache that points at a folder with other things in it keeps them."""
    ours = installation_folder(cache, two_files)
    for folder in (ours / "lib", cache / "photos"):
        folder.mkdir(parents=True)

    assert remove_installations(cache) == [ours]
    assert (cache / "photos").is_dir()
