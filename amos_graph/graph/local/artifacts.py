"""The committed list of Neo4j's files with their digests, and the check of a folder against it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from amos_graph.errors import AmosError


@dataclass(frozen=True, slots=True)
class Artifact:
    """One published file, named by its coordinates."""

    group: str
    name: str
    classifier: str
    version: str
    extension: str
    sha256: str

    @property
    def file_name(self) -> str:
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.name}-{self.version}{classifier}.{self.extension}"


def read_lock(text: str | None = None) -> list[Artifact]:
    """The artifacts of `artifacts.lock`, or of another text in its form."""
    if text is None:
        text = (
            resources.files("amos_graph.graph.local").joinpath("artifacts.lock").read_text(encoding="utf-8")
        )
    return [_artifact(line) for line in text.splitlines() if line and not line.startswith("#")]


def _artifact(line: str) -> Artifact:
    coordinates, sha256 = line.split()
    group, name, *classifier, version, extension = coordinates.split(":")
    return Artifact(group, name, classifier[0] if classifier else "", version, extension, sha256)


def format_lock(artifacts: Sequence[Artifact]) -> str:
    """The lines of a lock file, in the order of their coordinates."""
    lines = [
        ":".join(
            part for part in (each.group, each.name, each.classifier, each.version, each.extension) if part
        )
        + f" {each.sha256}\n"
        for each in artifacts
    ]
    return "".join(sorted(lines))


def lock_digest(artifacts: Sequence[Artifact]) -> str:
    """A short name for exactly this set of files; an installation is kept under it."""
    return hashlib.sha256(format_lock(artifacts).encode()).hexdigest()[:12]


def neo4j_version(artifacts: Sequence[Artifact]) -> str:
    """The version of Neo4j that the list holds."""
    return next(each.version for each in artifacts if (each.group, each.name) == ("org.neo4j", "neo4j"))


def file_digest(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_files(
    folder: Path, artifacts: Sequence[Artifact], checked: Callable[[int], None] = lambda _: None
) -> None:
    """Compare each file of a folder with the list. Raises `unavailable` that names what differs."""
    expected = {artifact.file_name: artifact for artifact in artifacts}
    found = {path.name for path in folder.iterdir()}
    missing = sorted(expected.keys() - found)
    extra = sorted(found - expected.keys())
    changed: list[str] = []
    for count, (name, artifact) in enumerate(sorted(expected.items()), 1):
        if name in found and file_digest(folder / name) != artifact.sha256:
            changed.append(name)
        checked(count)
    problems = [
        f"{len(names)} {what} ({', '.join(names[:3])}{' …' if len(names) > 3 else ''})"
        for what, names in (("missing", missing), ("unexpected", extra), ("with another digest", changed))
        if names
    ]
    if problems:
        raise AmosError(
            "unavailable",
            f"the files of Neo4j do not match artifacts.lock: {'; '.join(problems)}; nothing was installed. "
            "Delete them from Maven's local repository and run this again; if they differ again, "
            "the registry in use serves changed files",
            details={"missing": missing, "unexpected": extra, "changed": changed},
        )
