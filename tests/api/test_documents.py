"""docs/api.md and docs/errors.md say what the service does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main
from fastapi import FastAPI

from amos_graph.cli.main import app as command
from amos_graph.domain.scope import CAPABILITIES
from amos_graph.errors import RETRYABLE, STATUS

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def test_every_error_code_is_documented_with_its_status() -> None:
    """The table of docs/errors.md is the table of errors.py."""
    text = (DOCS / "errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d{3}) \|.*\| ([^|]+) \|$", text, re.MULTILINE)

    assert {code: int(status) for code, status, _ in rows} == STATUS
    assert {code for code, _, again in rows if again.startswith("yes")} == RETRYABLE


def test_every_operation_capability_and_command_is_documented(app: FastAPI) -> None:
    """A newcomer finds each of them on the page."""
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(GET|POST) (\S+)` \|", text, re.MULTILINE))
    offered = {(method.upper(), path) for path, item in app.openapi()["paths"].items() for method in item}

    assert documented == offered
    for capability in CAPABILITIES:
        assert f"`{capability}`" in text
    commands: dict[str, Any] = getattr(typer.main.get_command(command), "commands")  # noqa: B009
    for name in commands:
        assert re.search(rf"amos[^|]*\b{name}\b", text), name


def test_the_curl_examples_are_accepted(http: httpx.Client) -> None:
    """Each body that the page sends with curl is accepted, in its order."""
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    sent = re.findall(r"curl -s http://\S+?(/v1/\S+) .*?-d '(.*?)'\n", text, re.DOTALL)

    assert len(sent) == 2
    for path, body in sent:
        answer = http.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 200, answer.text


def test_the_python_example_prints_what_it_remembered(
    url: str, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's Python runs as it stands, with this test's address and token."""
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(code.replace("http://127.0.0.1:8765", url), {"token": token})  # noqa: S102 - our own page

    assert "Mira is away until Thursday." in capsys.readouterr().out
