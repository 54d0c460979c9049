"""Statements: each file is well formed, bound once, and run as it stands."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import get_args

import pytest

from amos_graph.commands.projecting import ORDER
from amos_graph.domain.events import EVENT_TYPES
from amos_graph.domain.ids import PREFIXES, RecordKind
from amos_graph.domain.projection import KEYS
from amos_graph.graph.files import CONSTRAINTS
from amos_graph.graph.migrations import schema_name, shipped
from amos_graph.graph.procedures import ProcedureError, all_names, parse_header, procedure, read_header
from amos_graph.queries.report import REPORTS
from tests.laws.source import PACKAGE, called, modules

#: Text that only a statement has: a clause and what follows it there.
_CYPHER = re.compile(
    r"\b(MATCH|MERGE|CREATE|UNWIND|FOREACH|OPTIONAL MATCH)\s*\("
    r"|\b(DETACH\s+DELETE|LOAD\s+CSV\s+(FROM|WITH)|RETURN\s+\w+\.\w+)\b"
    r"|\bCREATE\s+(CONSTRAINT|INDEX|FULLTEXT|VECTOR)|\bSHOW\s+(SETTINGS|INDEXES|CONSTRAINTS|DATABASES|TRANSACTIONS)"
)
#: Modules that may hand text to the driver, and why.
_MAY_RUN = {
    "graph/transactions.py": "runs bound procedures",
    "graph/migrations.py": "runs the constraint files",
    "graph/local/readiness.py": "asks a server that has no schema yet",
    "cli/neo4j.py": "runs what the operator types",
    "cli/shell.py": "runs what the operator types",
}
_MAY_CAST = {"graph/procedures.py", "graph/migrations.py", "cli/shell.py"}


def _bound() -> Counter[str]:
    found: Counter[str] = Counter()
    for _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) == "procedure":
                (first, *_) = node.args
                assert isinstance(first, ast.Constant), "a procedure is bound by a name that grep finds"
                found[str(first.value)] += 1
    found.update(f"report/{name}" for name in REPORTS)
    return found


def test_every_statement_is_bound_exactly_once() -> None:
    """No statement lies unused, none is bound twice, and no binding names a file that is not there."""
    bound = _bound()

    assert bound.keys() == set(all_names())
    assert {name for name, count in bound.items() if count > 1} == set()


@pytest.mark.parametrize("name", all_names())
def test_a_header_says_what_the_text_does(name: str) -> None:
    """The header parses, declares exactly the parameters that the text uses, and says whether it writes."""
    header = read_header(name)

    assert header.title.endswith(".")
    text = "\n".join(line for line in header.text.splitlines() if not line.lstrip().startswith("//"))
    assert (header.mode == "write") is bool(re.search(r"\b(CREATE|MERGE|SET|DELETE|REMOVE)\b", text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("CYPHER 25\nRETURN 1 AS one", "must begin with a sentence"),
        ("// Does it.\n// @rows one   one INTEGER\nCYPHER 25\nRETURN 1 AS one", "@mode"),
        ("// Does it.\n// @mode read\n// @rows some\nCYPHER 25\nRETURN 1", "@rows"),
        ("// Does it.\n// @mode read\n// @mode read\n// @rows none\nCYPHER 25\nRETURN 1", "stands twice"),
        ("// Does it.\n// @mode read\n// @param x\n// @rows none\nCYPHER 25\nRETURN 1", "cannot read @param"),
        ("// Does it.\n// @mode read\n// @rows none\n// @sample {\nCYPHER 25\nRETURN 1", "not JSON"),
    ],
)
def test_a_malformed_header_is_refused_at_import(text: str, told: str) -> None:
    """Each way to write a header wrong is told when the file is bound, and never when it is first run."""
    with pytest.raises(ProcedureError, match=told):
        parse_header("x/y", text)


@pytest.mark.parametrize("name", all_names())
def test_a_sent_statement_takes_its_parameters_from_one_map(name: str) -> None:
    """What Neo4j receives names itself, and takes every declared parameter from one map."""
    header = read_header(name)

    assert header.sent.startswith(f"// {name}\nCYPHER 25")
    assert set(re.findall(r"\$(\w+)(?!\w|\()", header.sent)) <= {"given"}
    assert set(re.findall(r"\$given\.(\w+)", header.sent)) == set(header.params)


def test_quoted_text_is_sent_as_it_stands() -> None:
    """A dollar within quotes is text, and a dynamic label is no parameter."""
    code = "CYPHER 25\nMATCH (n:$any($kinds) {a: '$b', `$c`: $d}) RETURN n.`$c` AS c\n"
    header = parse_header("x/y", f"// Does it.\n// @mode read\n// @rows many c STRING\n{code}")

    assert header.sent == "// x/y\n" + code.replace("$kinds", "$given.kinds").replace("$d}", "$given.d}")


def test_a_binding_that_disagrees_with_its_file_is_refused_at_import() -> None:
    """A missing file and a row type with other columns are told at import."""
    with pytest.raises(ProcedureError, match="no such statement file"):
        procedure("journal/absent")
    with pytest.raises(ProcedureError, match="@rows names"):
        procedure("journal/read_head")


@pytest.mark.reliability("T23")
@pytest.mark.case("C76")
def test_no_statement_is_built_in_python() -> None:
    """No string of the package is Cypher, the loader alone makes text a statement, few modules run any."""
    texts: list[str] = []
    for name, tree in modules():
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                if _CYPHER.search(node.value) and name not in _MAY_RUN:
                    texts.append(f"{name}:{node.lineno}")
            elif isinstance(node, ast.Call):
                first = node.args[0] if node.args else None
                literal = isinstance(first, ast.Constant) and first.value == "LiteralString"
                if called(node) == "cast" and literal:
                    assert name in _MAY_CAST, f"{name}:{node.lineno} makes a statement of run-time text"
                if called(node) in ("execute_query", "begin_transaction"):
                    assert name in _MAY_RUN, f"{name}:{node.lineno} reaches the driver by itself"
                if called(node) == "run" and isinstance(first, (ast.JoinedStr, ast.BinOp)):
                    raise AssertionError(f"{name}:{node.lineno} runs formatted text")

    assert texts == [], "Cypher belongs into cypher/"


def test_every_event_type_has_its_projection() -> None:
    """Each kind of record that an event may write is projected by the statement of its name."""
    kinds = {kind for written in EVENT_TYPES.values() for kind in written}

    assert kinds == set(ORDER) == set(KEYS) == set(get_args(RecordKind))
    assert set(PREFIXES.values()) | {"atom"} == kinds
    assert {name for name in all_names() if name.removeprefix("project/") in kinds} == {
        f"project/{kind}" for kind in kinds
    }
    written = (PACKAGE / "commands").rglob("*.py")
    source = "".join(path.read_text(encoding="utf-8") for path in written)
    for event_type in EVENT_TYPES:
        assert f'"{event_type}"' in source, f"nothing writes {event_type}"


def test_schema_files_are_named_idempotent_and_single() -> None:
    """Each schema file holds one statement that may run again, and names what it makes as the file does."""
    names = [schema_name(migration) for migration in shipped()]

    assert len(names) == len(set(names)) == len(list(CONSTRAINTS.glob("*.cypher")))
    for migration, name in zip(shipped(), names, strict=True):
        code = "\n".join(line for line in migration.text.splitlines() if not line.startswith("//"))
        assert "IF NOT EXISTS" in code
        assert ";" not in code
        assert migration.name == f"{migration.name[:4]}_{name}"
