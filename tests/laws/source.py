"""The package's own source as the laws read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "amos_graph"


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    """Every module of the package with its tree, by its path below the package."""
    return tuple(
        (path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"), str(path)))
        for path in sorted(PACKAGE.rglob("*.py"))
    )


def called(node: ast.Call) -> str:
    """The last name of what is called: `tx.one(…)` is `one`."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def documents() -> Iterator[Path]:
    """The documents that a user reads."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))
