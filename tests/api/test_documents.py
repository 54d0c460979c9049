"""docs/api.md and docs/errors.md say what the service does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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
