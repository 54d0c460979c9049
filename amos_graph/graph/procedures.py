"""Cypher procedures: one `.cypher` file each, its header checked when the using module is imported."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Final, Generic, Literal, LiteralString, TypeVar, cast

from amos_graph.graph.files import CYPHER

RowT = TypeVar("RowT")
Mode = Literal["read", "write"]
Rows = Literal["none", "maybe", "one", "many"]

_TAG = re.compile(r"@(\w+)\s*(.*)", re.DOTALL)
_PARAM = re.compile(r"(\w+)\s+([A-Z][A-Z<>_ ]*\??)(?:\s{2,}(.*))?$")
_USED = re.compile(r"\$(\w+)")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|//[^\n]*")
#: A use of a parameter, or quoted text, which is left as it is; `$any(` and `$all(` are no parameters.
_USE = re.compile(rf"{_QUOTED.pattern}|\$(?!any\(|all\()(?=\w)")
LINES_MAX: Final = 60


class ProcedureError(Exception):
    """A statement file that breaks the rules of docs/architecture.md, "Statements"."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a statement file says about itself."""

    name: str
    title: str
    mode: Mode
    params: dict[str, str]
    rows: Rows
    fields: tuple[str, ...]
    outcomes: tuple[str, ...]
    sample: dict[str, Any]
    #: Other tags, such as a report's @purpose.
    notes: dict[str, str]
    #: The file, as it can be pasted into Browser.
    text: str
    #: What Neo4j receives: the name and the statement, which takes its parameters from one map.
    sent: str


@dataclass(frozen=True, slots=True)
class Procedure(Generic[RowT]):
    """A checked statement together with the type of its rows."""

    header: Header
    row_type: type[RowT]

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def text(self) -> LiteralString:
        """The text as sent. The only cast of its kind: files are literals that the repository holds."""
        return cast("LiteralString", self.header.sent)


@dataclass(frozen=True, slots=True)
class NoRow:
    """The row type of a statement that returns nothing."""


def procedure(name: str, row_type: type[RowT] = NoRow) -> Procedure[RowT]:
    """Bind `cypher/<name>.cypher` to a dataclass whose fields are the columns that it returns.

    Raises ProcedureError, at import, when file, header and row type disagree.
    """
    header = read_header(name)
    if not is_dataclass(row_type):
        raise ProcedureError(f"{name}: the row type must be a dataclass")
    columns = tuple(field.name for field in fields(row_type))
    if columns != header.fields:
        raise ProcedureError(f"{name}: @rows names {header.fields}, {row_type.__name__} has {columns}")
    return Procedure(header, row_type)


@cache
def read_header(name: str) -> Header:
    """The checked header of one statement file."""
    path = CYPHER / f"{name}.cypher"
    if not path.is_file():
        raise ProcedureError(f"{name}: there is no such statement file")
    header = parse_header(name, path.read_text(encoding="utf-8"))
    _check_text(header)
    return header


def all_names() -> list[str]:
    """The names of all shipped statements."""
    return sorted(path.relative_to(CYPHER).with_suffix("").as_posix() for path in CYPHER.rglob("*.cypher"))


def parse_header(name: str, text: str) -> Header:
    """The header at the top of a statement's text. Raises ProcedureError with what is missing."""
    comment: list[str] = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        comment.append(line[2:].strip())
    title, tags = _tags(name, comment)
    found: dict[str, str] = {}
    params: dict[str, str] = {}
    for tag, value in tags:
        if tag == "param":
            match = _PARAM.match(value)
            if not match:
                raise ProcedureError(f"{name}: cannot read @param {value!r}")
            params[match[1]] = match[2].strip()
        elif tag in found:
            raise ProcedureError(f"{name}: @{tag} stands twice")
        else:
            found[tag] = value
    mode = found.pop("mode", "")
    if mode not in ("read", "write"):
        raise ProcedureError(f"{name}: @mode must be read or write")
    kind, _, columns = found.pop("rows", "").partition(" ")
    if kind not in ("none", "maybe", "one", "many"):
        raise ProcedureError(f"{name}: @rows must begin with none, maybe, one or many")
    outcomes = tuple(word.strip() for word in found.pop("outcome", "").split("|") if word.strip())
    try:
        sample = json.loads(found.pop("sample", "{}"))
    except ValueError as error:
        raise ProcedureError(f"{name}: @sample is not JSON") from error
    named = tuple(column.split()[0] for column in re.split(r",(?![^<]*>)", columns) if column.strip())
    sent = f"// {name}\n{_from_one_map(text)}"
    return Header(name, title, mode, params, kind, named, outcomes, sample, found, text, sent)


def given(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a sent statement takes them."""
    return {"given": dict(params)}


def _from_one_map(text: str) -> str:
    """The statement without its header, with `$given.name` where the file says `$name`.

    Why: Neo4j plans a statement once for every class of length that each of its lists comes in, and for
    every type of entry, but does not look into a map (decision 0036).
    """
    lines = text.splitlines(keepends=True)
    first = next((place for place, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return _USE.sub(lambda use: "$given." if use[0] == "$" else use[0], "".join(lines[first:]))


def _tags(name: str, comment: list[str]) -> tuple[str, list[tuple[str, str]]]:
    if not comment or comment[0].startswith("@"):
        raise ProcedureError(f"{name}: the file must begin with a sentence on what it does")
    tags: list[tuple[str, str]] = []
    for line in comment[1:]:
        match = _TAG.match(line)
        if match:
            tags.append((match[1], match[2].strip()))
        elif tags and line:
            # A long value goes on in the next comment line.
            tags[-1] = (tags[-1][0], f"{tags[-1][1]} {line}")
    return comment[0], tags


def _check_text(header: Header) -> None:
    name, code = header.name, _QUOTED.sub("", header.text)
    if not code.lstrip().startswith("CYPHER 25"):
        raise ProcedureError(f"{name}: the statement must start with CYPHER 25")
    if ";" in code:
        raise ProcedureError(f"{name}: one statement a file, without a semicolon")
    if header.text.count("\n") > LINES_MAX:
        raise ProcedureError(f"{name}: longer than {LINES_MAX} lines")
    used = set(_USED.findall(re.sub(r"\$(any|all)?\(", "(", code)))
    if used != set(header.params):
        raise ProcedureError(f"{name}: uses ${sorted(used)}, declares {sorted(header.params)}")
    if set(header.sample) != set(header.params):
        raise ProcedureError(f"{name}: @sample must give each parameter a value")
    if (header.rows == "none") is not (not header.fields):
        raise ProcedureError(f"{name}: @rows {header.rows} does not fit its columns")
