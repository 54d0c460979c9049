"""The container files: read by Docker's own parser, and as safe as the managed Neo4j.

No engine is needed or asked for; what only an engine can show is not shown here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import dockerfile
import yaml

from amos_graph.graph.local import LocalOptions
from amos_graph.graph.local.config import settings
from amos_graph.graph.local.options import LOOPBACK
from amos_graph.settings import Settings

ROOT = Path(__file__).resolve().parent.parent.parent
DOCKER = ROOT / "docker"
#: Settings that a container has otherwise: addresses, folders, and what belongs to the page of one port.
_OF_THE_PLACE = re.compile(
    r"server\.directories\.|.*(listen|advertised)_address|server\.(bolt|http)\.enabled"
    r"|dbms\.security\.http_(access|static)|browser\.remote_content|internal\.(server|dbms)\.bolt\."
)


def _commands() -> list[tuple[str, tuple[str, ...]]]:
    """Instruction and values of each line of the Dockerfile."""
    parse: Any = vars(dockerfile)["parse_file"]
    return [(command.cmd, command.value) for command in parse(str(DOCKER / "Dockerfile"))]


def _compose() -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8")))


def test_the_dockerfile_parses_and_copies_what_is_there() -> None:
    """Every instruction is one that Docker knows, and every file that it copies stands in the repository."""
    copied = [source for name, values in _commands() if name == "COPY" for source in values[:-1]]

    assert _commands()[0][0] == "FROM"
    assert {"amos_graph", "cypher", "constraints", "docker/requirements.lock"} <= set(copied)
    assert [source for source in copied if not (ROOT / source).exists()] == []


def test_the_service_runs_as_nobody_special() -> None:
    """The image ends with an unprivileged user."""
    assert [values for name, values in _commands() if name == "USER"] == [("amos",)]


def test_neo4j_in_a_container_is_configured_like_the_managed_one() -> None:
    """Each setting on which safety rests has the same value in both, spelled as the image reads it."""
    given: dict[str, str] = _compose()["services"]["neo4j"]["environment"]
    managed = settings(LocalOptions(), 7687, 7474)
    named = {
        "NEO4J_" + name.replace("_", "__").replace(".", "_"): value
        for name, value in managed.items()
        if not _OF_THE_PLACE.match(name)
    }

    assert {name: given.get(name) for name in named} == named
    assert not any(LOOPBACK in value for value in named.values())


def test_nothing_is_published_beyond_this_machine() -> None:
    """Every published port is bound to loopback, and there is no password of ours."""
    services: dict[str, Any] = _compose()["services"]
    ports = [port for service in services.values() for port in service["ports"]]

    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert ":?" in services["neo4j"]["environment"]["NEO4J_AUTH"]
    assert services["neo4j"]["image"].startswith("neo4j:2026.08.1")


def test_the_service_is_told_in_settings_that_exist() -> None:
    """Each AMOS_ variable of both files is a setting, and the lock file names no host."""
    known = {f"AMOS_{name.upper()}" for name in Settings.model_fields}
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    given = {*_compose()["services"]["amos"]["environment"], *re.findall(r"AMOS_[A-Z0-9_]+", text)}

    assert given <= known
    assert "://" not in (DOCKER / "requirements.lock").read_text(encoding="utf-8")
