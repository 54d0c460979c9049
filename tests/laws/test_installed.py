"""The wheel in an environment of its own, outside the repository: what somebody who installs it meets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from amos_graph.graph.local import default_cache

ROOT = Path(__file__).resolve().parent.parent.parent
#: Of this process's environment, what says how registries are reached.
_KEPT = ("PIP_", "SSL_", "REQUESTS_", "MAVEN_", "HTTP", "NO_PROXY", "http", "no_proxy", "LANG")

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation: its commands run in an empty folder, with a home that is as empty."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "venv" / "bin"

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
        own = {"PATH": "/usr/bin:/bin", "HOME": str(home), "AMOS_HOME": str(home / "amos"), "COLUMNS": "120"}
        return subprocess.run(
            [str(self.bin / words[0]), *words[1:]],
            cwd=home,
            env={**kept, **own, **environment},
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )

    def __call__(self, *words: str, code: int = 0, **environment: str) -> str:
        """What a command printed, on either stream; it ends with this code and no traceback."""
        done = self.run(*words, **environment)
        told = done.stdout + done.stderr
        assert done.returncode == code, f"{words}: {done.returncode}\n{told}"
        assert "Traceback" not in told
        return told


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return next(target.glob("*.whl"))


@pytest.fixture(scope="module")
def pip_cache() -> str:
    """Where pip keeps what it fetched before, so that it need not again."""
    words = [sys.executable, "-m", "pip", "cache", "dir"]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def _installed(folder: Path, wheel: Path, extra: str, pip_cache: str) -> Installed:
    venv.create(folder / "venv", with_pip=True)
    made = Installed(folder)
    made("python", "-m", "pip", "install", "--quiet", f"{wheel}{extra}", PIP_CACHE_DIR=pip_cache)
    return made


@pytest.fixture(scope="module")
def plain(wheel: Path, pip_cache: str, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel alone."""
    return _installed(tmp_path_factory.mktemp("plain"), wheel, "", pip_cache)


@pytest.fixture(scope="module")
def local(wheel: Path, pip_cache: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The wheel with what a managed Neo4j needs; its service and its Neo4j are stopped in the end."""
    made = _installed(tmp_path_factory.mktemp("local"), wheel, "[local]", pip_cache)
    yield made
    made.run("amos", "down")


def test_the_demo_runs_from_a_wheel(local: Installed) -> None:
    """Started, told, asked and verified; what is imported is the wheel's, and no checkout's.

    The files of Neo4j are those of this machine's cache where it has them; tests/local fetches them.
    """
    cache = str(default_cache())
    told = local("amos", "demo", AMOS_CACHE=cache)
    verified = json.loads(local("amos", "verify", "--json", AMOS_WORKSPACE="demo"))
    remembered = json.loads(local("amos", "remember", "Mira is away until Thursday.", "--json"))
    place = local("python", "-c", "import amos_graph; print(amos_graph.__file__)").strip()

    assert "Neo4j Browser" in told
    assert verified["ok"] is True
    assert verified["events"] > 0
    assert remembered["atom_refs"][0] in local("amos", "list")
    assert Path(place).is_relative_to(local.folder)
    down = json.loads(local("amos", "down", "--json"))
    assert down == {"service": "stopped", "neo4j": "stopped"}


def test_without_the_extra_one_sentence_says_what_to_add(plain: Installed) -> None:
    """Where neither Maven nor a new Java is found, `amos up` names the extra; all else can be imported."""
    told = plain("amos", "up", code=1, PATH=str(plain.bin))
    (sentence,) = [line for line in told.splitlines() if "amos-graph[local]" in line]

    assert "or run: pip install 'amos-graph[local]'" in sentence
    place = "from amos_graph import Amos; import amos_graph; print(amos_graph.__file__)"
    assert Path(plain("python", "-c", place).strip()).is_relative_to(plain.folder)
