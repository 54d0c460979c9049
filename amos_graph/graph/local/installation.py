"""One checked copy of Neo4j's files, shared by every home of this user."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from amos_graph.errors import AmosError
from amos_graph.graph.local.artifacts import Artifact, check_files, lock_digest, neo4j_version, read_lock
from amos_graph.graph.local.locks import file_lock
from amos_graph.graph.local.maven import copy_artifacts
from amos_graph.graph.local.progress import Progress, Step, silent

#: A fetch over a slow line takes long; whoever waits for another's fetch waits this long.
_FETCH_WAIT_S: Final = 3600.0
_OURS: Final = ("neo4j-*-*", "apache-maven-*", "maven-download", ".staging-*", ".maven-*")


@dataclass(frozen=True, slots=True)
class Installation:
    """The files of one Neo4j, complete and checked."""

    folder: Path
    version: str

    @property
    def class_path(self) -> str:
        return f"{self.folder / 'lib'}/*"


def installation_folder(cache: Path, artifacts: Sequence[Artifact]) -> Path:
    """Where this very list of files is installed; another list gets another folder."""
    return cache / f"neo4j-{neo4j_version(artifacts)}-{lock_digest(artifacts)}"


def ensure_installed(
    cache: Path,
    progress: Progress = silent,
    *,
    free_mb_min: int = 600,
    artifacts: Sequence[Artifact] | None = None,
    maven_arguments: Sequence[str] = (),
) -> Installation:
    """The installation, fetched first when it is not there; no network is used when it is.

    Raises `unavailable` (no network, no Maven, changed files) or `capacity_limited` (too little disk);
    in each case nothing is installed, and the next call goes on.
    """
    artifacts = read_lock() if artifacts is None else artifacts
    folder = installation_folder(cache, artifacts)
    make_folder(cache)

    def waiting() -> None:
        progress(Step("wait", "another process is fetching Neo4j; waiting for it"))

    with file_lock(cache / ".fetch.lock", _FETCH_WAIT_S, waiting):
        if not _complete(folder, artifacts, progress):
            require_space(cache, free_mb_min, "to fetch Neo4j")
            _fetch(cache, folder, artifacts, progress, maven_arguments)
    return Installation(folder, neo4j_version(artifacts))


def _complete(folder: Path, artifacts: Sequence[Artifact], progress: Progress) -> bool:
    """Whether the installed files are all there and unchanged (about half a second)."""
    if not (folder / "lib").is_dir():
        return False
    try:
        check_files(folder / "lib", artifacts)
    except AmosError:
        progress(Step("check", "the installed files of Neo4j were changed; fetching them again"))
        return False
    return True


def _fetch(
    cache: Path,
    folder: Path,
    artifacts: Sequence[Artifact],
    progress: Progress,
    maven_arguments: Sequence[str],
) -> None:
    # Whoever holds the lock may clear what an interrupted fetch left.
    for left in cache.glob(".staging-*"):
        shutil.rmtree(left, ignore_errors=True)
    staging = cache / f".staging-{os.getpid()}"
    total = len(artifacts)

    def arrived(count: int) -> None:
        progress(Step("fetch", "fetching Neo4j", count, total))

    def checked(count: int) -> None:
        progress(Step("check", "checking digests", count, total))

    try:
        (staging / "lib").mkdir(parents=True)
        (staging / "work").mkdir()
        arrived(0)
        copy_artifacts(
            artifacts,
            staging / "lib",
            work=staging / "work",
            cache=cache,
            arrived=arrived,
            arguments=maven_arguments,
        )
        check_files(staging / "lib", artifacts, checked)
        shutil.rmtree(staging / "work")
        shutil.rmtree(folder, ignore_errors=True)
        staging.rename(folder)
    except OSError as error:
        raise AmosError(
            "capacity_limited",
            f"the files of Neo4j could not be written ({error.strerror}); nothing was installed",
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def remove_installations(cache: Path) -> list[Path]:
    """Delete what the cache holds of ours and nothing else that lies there. Returns what was deleted."""
    removed: list[Path] = []
    for pattern in _OURS:
        for path in cache.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
                removed.append(path)
    return removed


def make_folder(path: Path) -> None:
    """Create a folder of ours. Raises `unavailable` when it cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AmosError("unavailable", f"the folder {path} cannot be created: {error.strerror}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise AmosError(
            "unavailable",
            f"the folder {path} belongs to user id {path.stat().st_uid} and cannot be written by you: "
            "correct its owner (chown) or choose another folder (AMOS_HOME, AMOS_CACHE)",
        )


def require_space(path: Path, free_mb_min: int, purpose: str) -> None:
    """Raises `capacity_limited` when fewer than `free_mb_min` megabytes are free where `path` lies."""
    free_mb = shutil.disk_usage(path).free // 2**20
    if free_mb < free_mb_min:
        raise AmosError(
            "capacity_limited",
            f"{free_mb} MB are free at {path} and {free_mb_min} MB are needed {purpose}: "
            "free some space and run the same again",
        )
