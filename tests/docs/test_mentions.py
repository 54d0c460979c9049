"""Documents name only what exists: links, commands, targets, operations, settings, files, tables."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from amos_graph.api.app import create_app
from amos_graph.cli.main import app as command_line
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.report import REPORTS
from amos_graph.settings import Settings
from tests.conftest import ROOT
from tests.docs.documents import DOCUMENTS, code, fences, links, name_of, prose

#: Files that a command of the repository makes, and that are committed now and then.
GENERATED = {
    f"docs/images/{name}.png": "make test-browser"
    for name in ("audit", "browser", "neighbourhood", "packet", "report")
}
#: What a reader sets in their own shell, by an `export` that README shows.
_EXPORTED = {"AMOS_URL", "AMOS_TOKEN"}
_SETTING = re.compile(r"\bAMOS_[A-Z0-9]+(?:_[A-Z0-9]+)*")
_OPERATION = re.compile(
    r"(?<![\w/.$}])(/v1/[a-z][a-z-]*(?:[:/][a-z-]+)?|/live|/ready|/docs|/openapi\.json)(?![\w/])"
)
_FILE = re.compile(r"^(?:amos_graph|cypher|constraints|docs|tests|bench|docker|\.ci)/[\w./-]*$")
every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


@every_document
def test_links_and_images_lead_somewhere(document: Path) -> None:
    """A relative link names a file of the repository, and its anchor a heading of that file."""
    for link in links(document):
        assert "://" not in link, f"{link} leads out of the repository"
        target, _, anchor = link.partition("#")
        path = (document.parent / target).resolve() if target else document
        if path.relative_to(ROOT).as_posix() not in GENERATED:
            assert path.exists(), link
        if anchor:
            assert anchor in _anchors(path), link


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_document
def test_every_command_exists_with_its_options(document: Path) -> None:
    """`amos …` names a command, a sub-command and options that the command line has."""
    for piece in code(document):
        if re.match(r"amos [a-z]", piece):
            _check_command(_words(piece.split("…")[0].split(" | ")[0])[1:], piece)


@cache
def _amos() -> Any:
    """The command line as a tree; typer brings its own click, whose classes are not to be relied on."""
    return typer.main.get_command(command_line)


def _check_command(words: list[str], piece: str) -> None:
    command: Any = _amos()
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        name = words.pop(0)
        assert name in command.commands, f"{piece}: there is no command {name}"
        command = command.commands[name]
    options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert given <= options, f"{piece}: there is no {sorted(given - options)}"


@every_document
def test_every_make_target_exists(document: Path) -> None:
    """`make …` names a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for piece in code(document):
        found = re.match(r"make ([a-z-]+)", piece)
        if found:
            assert found[1] in targets, piece


@pytest.fixture(scope="module")
def served(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The paths of the service."""
    settings = Settings.model_validate({"home": tmp_path_factory.mktemp("served")})
    app = create_app(graph, settings, Archive(settings.archive_folder))
    return {*app.openapi()["paths"], "/docs", "/openapi.json"}


@every_document
def test_every_operation_exists(document: Path, served: set[str]) -> None:
    """A path of the service is one that it serves."""
    for piece in code(document):
        for path in _OPERATION.findall(piece):
            assert path in served, piece


@cache
def _known_variables() -> set[str]:
    """Settings, and what the code itself reads from the environment."""
    sources = [
        *(ROOT / "amos_graph").rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
        *ROOT.glob("bench/**/*.py"),
    ]
    here = Path(__file__)
    found = {
        name
        for source in sources
        if source != here
        for name in re.findall(r'["\'](AMOS_[A-Z0-9_]+)["\']', source.read_text(encoding="utf-8"))
    }
    return found | {f"AMOS_{name.upper()}" for name in Settings.model_fields}


@every_document
def test_every_setting_exists(document: Path) -> None:
    """A variable is a setting, one that the code reads, or one that README exports."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"export {name}=" in readme for name in _EXPORTED)

    assert set(_SETTING.findall(document.read_text(encoding="utf-8"))) <= _known_variables() | _EXPORTED


@every_document
def test_every_file_exists(document: Path) -> None:
    """A path of the repository that a sentence names is there."""
    for piece in code(document):
        if _FILE.match(piece) and piece not in GENERATED:
            assert (ROOT / piece).exists(), piece


@every_document
def test_parameters_for_browser_are_json(document: Path) -> None:
    """What stands after `:params` is a flat JSON object, as Browser and the shell take it."""
    for fence in fences(document):
        for line in fence.text.splitlines():
            if line.startswith(":params"):
                given: dict[str, Any] = json.loads(line.removeprefix(":params"))
                known = {name for report in REPORTS.values() for name in report.header.params}
                assert given.keys() <= known, line


@every_document
def test_nothing_of_one_machine_is_named(document: Path) -> None:
    """No host but loopback, no folder of a developer."""
    text = document.read_text(encoding="utf-8")
    hosts = set(re.findall(r"\b[a-z+]+://([^\s/:`\"'\\)]+)", text)) - {"127.0.0.1", "localhost", "session"}

    assert not {host for host in hosts if "." in host}, hosts
    assert not re.search(r"(?<![\w.$~])/(?:home|root|work|Users)/", text)


def test_each_table_stands_in_one_document() -> None:
    """No table that is made from the code is missing, and none stands twice."""
    source = (ROOT / "docs" / "tables.py").read_text(encoding="utf-8")
    made = re.findall(r'^    "([a-z-]+)": [a-z_]+,$', source, re.MULTILINE)
    text = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)

    assert made
    assert sorted(set(re.findall(r"^<!-- table: ([a-z-]+) -->$", text, re.MULTILINE))) == sorted(made)
    assert text.count("<!-- table: ") - text.count("`<!-- table: ") == len(made)


def test_decisions_are_short_and_numbered_without_gaps() -> None:
    """`NNNN-title.md`, from 0001 on, at most 40 lines, and its heading has its number."""
    found = sorted((ROOT / "docs" / "decisions").glob("*.md"))

    assert [path.name[:4] for path in found] == [f"{number:04}" for number in range(1, len(found) + 1)]
    for path in found:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 40, path.name
        assert lines[0].startswith(f"# {path.name[:4]}. "), path.name


def test_the_glossary_is_in_order() -> None:
    """A word is found where the alphabet puts it."""
    words = re.findall(
        r"^\*\*(.+?)\.\*\*", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert words == sorted(words, key=str.casefold)
