"""`amos neo4j …` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from amos_graph.cli.neo4j import app
from amos_graph.graph.local import LocalNeo4j

_COMMANDS = ("start", "stop", "status", "logs", "shell", "uninstall")


def _run(*arguments: str, text: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments), input=text)
    return done.exit_code, done.stdout


def _json(*arguments: str) -> tuple[int, dict[str, Any]]:
    code, out = _run(*arguments, "--json")
    return code, json.loads(out)


def test_each_command_shows_an_example() -> None:
    """`--help` of each ends with a line to copy."""
    for name in _COMMANDS:
        code, out = _run(name, "--help")

        assert code == 0
        assert f"Example: amos neo4j {name}" in out


def test_what_does_not_run_is_exit_code_3(tmp_path: Path) -> None:
    """Status, stop, shell and logs of a home without a server tell scripts apart from failures."""
    home = ("--home", str(tmp_path))

    assert _json("status", *home)[0] == 3
    assert _json("stop", *home) == (3, {"outcome": "not running"})
    assert _json("shell", "RETURN 1", *home)[0] == 3
    code, out = _json("logs", *home)
    assert (code, out["error"]) == (3, "unavailable")
    assert "amos neo4j start" in out["message"]


def test_uninstall_without_a_yes_is_refused(tmp_path: Path) -> None:
    """Where nobody can be asked, nothing is deleted."""
    code, out = _json("uninstall", "--home", str(tmp_path))

    assert (code, out["error"]) == (1, "review_required")


def test_a_running_server_is_shown_and_asked(managed: LocalNeo4j) -> None:
    """Start tells the login, status the place and the sizes, shell the rows."""
    running = managed.start()
    home = ("--home", str(managed.home))
    code, login = _json("start", *home)
    assert (code, login["pid"], login["password"]) == (0, running.pid, running.password)

    code, status = _json("status", *home)
    assert (code, status["state"], status["uri"]) == (0, "running", running.uri)
    assert status["disk_bytes"]["installation"] > 100_000_000

    assert _json("shell", "RETURN 1 AS one, 'a[b]' AS text", *home) == (
        0,
        {"rows": [{"one": 1, "text": "a[b]"}]},
    )
    code, out = _run("shell", *home, text=':params {"a": 7}\nRETURN $a AS a,\n  8 AS b;\nRETURN 9 AS c\n')
    assert code == 0
    assert all(number in out for number in "789")


def test_the_shell_changes_nothing_unless_told(managed: LocalNeo4j) -> None:
    """A write is refused without --write and done with it."""
    managed.start()
    home = ("--home", str(managed.home))
    code, out = _json("shell", "CREATE (:Typed)", *home)
    assert code == 1
    assert "read access" in out["message"]

    assert _json("shell", "CREATE (:Typed)", "--write", *home)[0] == 0
    assert _json("shell", "MATCH (t:Typed) RETURN count(t) AS n", *home)[1] == {"rows": [{"n": 1}]}
