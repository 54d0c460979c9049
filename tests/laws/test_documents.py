"""Documents: what comes from the code is current; each setting, code and statement is on its page."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from amos_graph.errors import STATUS
from amos_graph.graph.procedures import all_names
from amos_graph.settings import Settings
from tests.conftest import ROOT
from tests.laws.source import called, documents, modules

#: Where each of them is documented.
_OPERATIONS = ROOT / "docs" / "operations.md"
_ERRORS = ROOT / "docs" / "errors.md"
_STATEMENTS = ROOT / "docs" / "statements.md"


def test_what_is_written_from_the_code_is_current() -> None:
    """`docs/generate.py --check` finds nothing out of date, as `make check` demands."""
    checked = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )

    assert (checked.returncode, checked.stderr) == (0, "")


def test_every_setting_is_documented() -> None:
    """Each setting stands in docs/operations.md under its variable."""
    text = _OPERATIONS.read_text(encoding="utf-8")

    assert [name for name in Settings.model_fields if f"`AMOS_{name.upper()}`" not in text] == []


@pytest.mark.case("C66")
@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_setting_is_read_somewhere(name: str) -> None:
    """No setting is there for show: some module reads it."""
    readers = {
        module
        for module, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == name
        and _is_settings(node.value, inside=module == "settings.py")
    }
    assert readers, f"nothing reads {name}"


def _is_settings(value: ast.expr, *, inside: bool) -> bool:
    """True for `settings`, `….settings`, and `self` in the class itself."""
    if isinstance(value, ast.Attribute):
        return "settings" in value.attr
    return isinstance(value, ast.Name) and ("settings" in value.id or (inside and value.id == "self"))


@pytest.mark.parametrize("code", STATUS)
def test_an_error_code_is_documented(code: str) -> None:
    """Each code stands in docs/errors.md with its status."""
    assert f"| `{code}` | {STATUS[code]} |" in _ERRORS.read_text(encoding="utf-8")


def test_every_code_that_is_raised_is_a_known_one() -> None:
    """No module raises a code that errors.py does not list."""
    for module, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) == "AmosError" and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    assert first.value in STATUS, f"{module}:{node.lineno}"


def test_every_statement_is_documented() -> None:
    """docs/statements.md has a heading for each statement and no other."""
    lines = _STATEMENTS.read_text(encoding="utf-8").splitlines()
    headings = [line.removeprefix("### ") for line in lines if line.startswith("### ")]

    assert headings == sorted(all_names(), key=lambda name: (name.split("/")[0], name))


def test_links_between_documents_lead_somewhere() -> None:
    """Each relative link of a document names a file of the repository."""
    for document in documents():
        text = document.read_text(encoding="utf-8")
        for target in _links(text):
            path = target.split("#")[0]
            if path and "://" not in target and not target.startswith("mailto:"):
                assert (document.parent / path).exists(), f"{document.relative_to(ROOT)} links to {target}"


def _links(text: str) -> list[str]:
    parts = text.split("](")[1:]
    return [part.split(")")[0].split(" ")[0] for part in parts]


def test_errors_are_answered_in_one_place() -> None:
    """Only the modules of the one answer shape make responses; no route raises an HTTP error."""
    may_answer = {"api/envelope.py", "api/failures.py"}
    for module, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) in ("HTTPException", "JSONResponse"):
                assert module in may_answer, f"{module}:{node.lineno}"
