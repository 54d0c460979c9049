"""A small Cypher prompt; Neo4j's own shell is not among the fetched files."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, Final, LiteralString, cast

import neo4j
from neo4j import exceptions as driver_errors

from amos_graph.errors import AmosError
from amos_graph.graph.local import Running
from amos_graph.graph.transactions import connect

Row = dict[str, Any]
_ROWS_MAX: Final = 1000
_TIMEOUT_S: Final = 60.0
_HELP: Final = (
    "End a statement with ; or an empty line. :params {…} sets parameters as JSON, :exit (or Ctrl-D) leaves."
)


def run_once(running: Running, statement: str, *, write: bool = False) -> list[Row]:
    """Run one statement and return its first 1,000 rows. Raises `schema_invalid` with Neo4j's words."""
    with _session(running, write) as session:
        return _run(session, statement, {})


def converse(running: Running, show: Callable[[list[Row]], None], *, write: bool = False) -> None:
    """Read statements from standard input, run each, show its rows, until the input ends."""
    # Line editing and history, where Python was built with them.
    with suppress(ImportError):
        import readline  # noqa: F401, PLC0415  # pyright: ignore[reportUnusedImport] (its import is its effect)
    if sys.stdin.isatty():
        print(_HELP)
    params: dict[str, Any] = {}
    with _session(running, write) as session:
        for entry in _entries():
            try:
                if entry.startswith(":params"):
                    params = _params(entry.removeprefix(":params"))
                elif entry in (":exit", ":quit"):
                    return
                elif entry.startswith(":"):
                    print(_HELP)
                else:
                    show(_run(session, entry, params))
            except AmosError as error:
                print(error.message)


def _entries() -> Generator[str]:
    """Whole statements: lines up to one that ends with a semicolon, or up to an empty one."""
    lines: list[str] = []
    typed = sys.stdin.isatty()
    while True:
        prompt = ("      " if lines else "amos> ") if typed else ""
        try:
            line = input(prompt).strip()
        except (EOFError, KeyboardInterrupt):
            if lines:
                yield "\n".join(lines)
            return
        if not lines and line.startswith(":"):
            yield line
            continue
        if line:
            lines.append(line.removesuffix(";"))
        if lines and (not line or line.endswith(";")):
            yield "\n".join(lines)
            lines = []


def _params(text: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(text or "{}")
    except ValueError as error:
        raise AmosError("schema_invalid", f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise AmosError("schema_invalid", 'parameters are a JSON object, such as {"tenant": "default"}')
    return cast("dict[str, Any]", found)


def _run(session: neo4j.Session, statement: str, params: dict[str, Any]) -> list[Row]:
    # Whoever sits at this prompt holds the administrator's password; the text is theirs, as in Browser.
    query = neo4j.Query(cast("LiteralString", statement), timeout=_TIMEOUT_S)
    try:
        result = session.run(query, params)
        rows = [record.data() for record in result.fetch(_ROWS_MAX)]
        result.consume()
    except driver_errors.Neo4jError as error:
        raise AmosError(
            "schema_invalid", error.message or error.code or "Neo4j refused the statement"
        ) from None
    except driver_errors.DriverError as error:
        raise AmosError("unavailable", f"Neo4j does not answer: {error}") from None
    return rows


@contextmanager
def _session(running: Running, write: bool) -> Generator[neo4j.Session]:
    access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
    with (
        connect(running.uri, running.user, running.password) as driver,
        driver.session(database="neo4j", default_access_mode=access) as session,  # pyright: ignore[reportUnknownMemberType]
    ):
        yield session
