"""Write artifacts.lock anew, for another version of Neo4j or Browser (docs/operations.md)."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from amos_graph.graph.local.artifacts import Artifact, file_digest, format_lock
from amos_graph.graph.local.maven import PLUGIN, find_maven, maven_failure, write_pom
from amos_graph.graph.local.options import default_cache

_LISTED = re.compile(r"^ +([\w.\-]+(?::[\w.\-]+){4,5})(?:\s|$)", re.MULTILINE)
_HEAD = """\
# Neo4j Community {neo4j} with Neo4j Browser {browser}: every file of the class path, with its SHA-256.
# group:artifact[:classifier]:version:extension sha256. Made by `python -m amos_graph.graph.local.relock`.
"""


def relock(neo4j: str, browser: str) -> str:
    """The text of a lock file: what Maven resolves for these versions today. Raises `unavailable`."""
    roots = [
        Artifact("org.neo4j.app", "neo4j-server", "", neo4j, "jar", ""),
        Artifact("org.neo4j", "neo4j", "", neo4j, "jar", ""),
        Artifact("org.neo4j.client", "neo4j-browser", "", browser, "jar", ""),
    ]
    cache = default_cache()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_pom(work / "pom.xml", roots, alone=False)
        _maven(cache, work, "list", f"-DoutputFile={work / 'list'}")
        _maven(cache, work, "copy-dependencies", f"-DoutputDirectory={work / 'lib'}")
        listed = _LISTED.findall((work / "list").read_text(encoding="utf-8"))
        found = [_artifact(coordinates, work / "lib") for coordinates in listed]
    return _HEAD.format(neo4j=neo4j, browser=browser) + format_lock(found)


def _maven(cache: Path, work: Path, goal: str, argument: str) -> None:
    executable, environment = find_maven(cache)
    command = [executable, "--batch-mode", "-f", str(work / "pom.xml"), f"{PLUGIN}:{goal}"]
    done = subprocess.run(
        [*command, "-DincludeScope=runtime", argument],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise maven_failure(done.stdout)


def _artifact(coordinates: str, folder: Path) -> Artifact:
    """Maven lists group:artifact:type[:classifier]:version:scope."""
    group, name, extension, *classifier, version, _ = coordinates.split(":")
    unchecked = Artifact(group, name, classifier[0] if classifier else "", version, extension, "")
    digest = file_digest(folder / unchecked.file_name)
    return Artifact(group, name, unchecked.classifier, version, extension, digest)


if __name__ == "__main__":
    sys.stdout.write(relock(*sys.argv[1:]))
