"""Maven copies the listed artifacts: the machine's, else one that jgo fetches."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from amos_graph.errors import AmosError
from amos_graph.graph.local.artifacts import Artifact, file_digest
from amos_graph.graph.local.java import find_java, trust_store_flag

#: The Maven that is fetched where none is on PATH.
MAVEN: Final = Artifact(
    "org.apache.maven",
    "apache-maven",
    "bin",
    "3.9.11",
    "zip",
    "0d7125e8c91097b36edb990ea5934e6c68b4440eef4ea96510a0f6815e7eeadb",
)
PLUGIN: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_ALONE: Final = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)
_DOWNLOADED = re.compile(r"Downloaded from \S+: \S+/([^/\s]+\.jar) ")
_NETWORK = re.compile(
    r"Could not transfer|Unknown ?Host|Connection refused|Network is unreachable|No route to host|timed? ?out"
    r"|offline mode|Temporary failure in name resolution|PKIX path|NameResolution|ConnectionError",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\(?https?://\S+")
NO_NETWORK: Final = (
    "the files of Neo4j could not be fetched, because Maven's registry did not answer: connect to the "
    "network, or set the registry's mirror in Maven's settings.xml, and run the same again (what was fetched "
    "is kept); or give a server of your own with AMOS_NEO4J_URI"
)


def write_pom(path: Path, artifacts: Sequence[Artifact], *, alone: bool = True) -> None:
    """A project that depends on the artifacts and, when they stand `alone`, on nothing that they need."""
    path.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0">\n'
        "  <modelVersion>4.0.0</modelVersion>\n"
        "  <groupId>amos</groupId><artifactId>local-neo4j</artifactId><version>1</version>\n"
        "  <packaging>pom</packaging>\n"
        f"  <dependencies>\n{''.join(_dependency(each, alone) for each in artifacts)}  </dependencies>\n"
        "</project>\n",
        encoding="utf-8",
    )


def _dependency(artifact: Artifact, alone: bool) -> str:
    parts = {
        "groupId": artifact.group,
        "artifactId": artifact.name,
        "version": artifact.version,
        "classifier": artifact.classifier,
        "type": artifact.extension,
    }
    named = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in parts.items() if text)
    return f"    <dependency>{named}{_ALONE if alone else ''}</dependency>\n"


def copy_artifacts(
    artifacts: Sequence[Artifact],
    target: Path,
    *,
    work: Path,
    cache: Path,
    arrived: Callable[[int], None],
    arguments: Sequence[str] = (),
) -> None:
    """Have Maven resolve the artifacts and copy them to `target`; `arrived` counts them.

    Maven keeps what it fetched in its own repository, so a later call goes on from there.

    Raises `unavailable` (no network, no Maven, nothing served) or `capacity_limited` (disk full).
    """
    pom = work / "pom.xml"
    write_pom(pom, artifacts)
    executable, environment = find_maven(cache)
    command = [
        executable,
        "--batch-mode",
        "-Dstyle.color=never",
        # Ask again for what an earlier run did not find; Maven would remember the failure for a day.
        "--update-snapshots",
        *arguments,
        "-f",
        str(pom),
        f"{PLUGIN}:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={target}",
    ]
    wanted = {artifact.file_name for artifact in artifacts}
    seen: set[str] = set()
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line)
                match = _DOWNLOADED.search(line)
                if match and match[1] in wanted:
                    seen.add(match[1])
                    arrived(len(seen))
            code = process.wait()
        except BaseException:
            process.terminate()
            raise
    if code != 0:
        raise maven_failure("".join(lines))
    arrived(len(artifacts))


def maven_failure(output: str) -> AmosError:
    """What went wrong, told from Maven's output, in one sentence."""
    if "No space left on device" in output:
        return AmosError(
            "capacity_limited",
            "the disk is full: free some space and run the same again; nothing was installed",
        )
    if _NETWORK.search(output):
        return AmosError("unavailable", NO_NETWORK)
    errors = [line for line in output.splitlines() if "ERROR" in line] or output.splitlines()
    reason = _ADDRESS.sub("", errors[0].removeprefix("[ERROR] ")).strip() if errors else "it said nothing"
    return AmosError("unavailable", f"Maven could not fetch the files of Neo4j: {reason[:300]}")


def find_maven(cache: Path) -> tuple[str, dict[str, str]]:
    """Maven's executable and the environment to run it in."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAVEN_PROJECT")}
    on_path = shutil.which("mvn")
    if on_path and _runs(on_path, environment):
        return on_path, environment
    # Without a Java that Maven itself finds, it gets the one that is to run Neo4j.
    java = find_java()
    environment["JAVA_HOME"] = str(java.home)
    options = [environment.get("MAVEN_OPTS", ""), *trust_store_flag()]
    environment["MAVEN_OPTS"] = " ".join(option for option in options if option)
    if on_path and _runs(on_path, environment):
        return on_path, environment
    return str(_fetched_maven(cache)), environment


def _runs(executable: str, environment: dict[str, str]) -> bool:
    done = subprocess.run(
        [executable, "--version"], env=environment, capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    return done.returncode == 0


def _fetched_maven(cache: Path) -> Path:
    """The Maven of the cache, fetched and checked when it is not there yet."""
    home = cache / f"apache-maven-{MAVEN.version}"
    executable = home / "bin" / "mvn"
    if executable.is_file():
        return executable
    archive = _fetch_archive(cache / "maven-download")
    if file_digest(archive) != MAVEN.sha256:
        archive.unlink()
        raise AmosError(
            "unavailable",
            f"{archive.name} has another digest than the pinned one; it was deleted, nothing was installed",
        )
    staging = cache / f".maven-{os.getpid()}"
    shutil.rmtree(staging, ignore_errors=True)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(staging)
    unpacked = staging / home.name
    (unpacked / "bin" / "mvn").chmod(0o755)
    shutil.rmtree(home, ignore_errors=True)
    unpacked.rename(home)
    shutil.rmtree(staging)
    shutil.rmtree(cache / "maven-download", ignore_errors=True)
    return executable


def _fetch_archive(folder: Path) -> Path:
    try:
        from jgo.maven import MavenContext  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise AmosError(
            "unavailable",
            "fetching Neo4j needs Maven and none was found: install it (apt install maven), "
            "or run: pip install 'amos-graph[local]'",
        ) from None
    component = MavenContext(repo_cache=folder).project(MAVEN.group, MAVEN.name).at_version(MAVEN.version)
    try:
        found = component.artifact(classifier=MAVEN.classifier, packaging=MAVEN.extension).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise AmosError("unavailable", NO_NETWORK) from error
    return Path(found)
