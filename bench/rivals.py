"""What we are held against: bare statements, sent by the same driver in the same kind of transaction."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final, LiteralString, cast

import neo4j

from amos_graph.graph.transactions import Graph

_FOLDER: Final = Path(__file__).resolve().parent / "statements"


@cache
def statement(name: str) -> LiteralString:
    """The text of `bench/statements/<name>.cypher`."""
    return cast("LiteralString", (_FOLDER / f"{name}.cypher").read_text(encoding="utf-8"))


def write(graph: Graph, name: str, **params: Any) -> list[dict[str, Any]]:
    """Run a bare statement in a managed write transaction."""
    with graph.driver.session(database=graph.database) as session:  # pyright: ignore[reportUnknownMemberType]
        return session.execute_write(_run, statement(name), params)


def read(graph: Graph, name: str, **params: Any) -> list[dict[str, Any]]:
    """Run a bare statement in a managed read transaction."""
    with graph.driver.session(database=graph.database) as session:  # pyright: ignore[reportUnknownMemberType]
        return session.execute_read(_run, statement(name), params)


def clear(graph: Graph) -> None:
    """Take away what the rivals wrote, so that a store that is kept stays ours alone."""
    while write(graph, "delete_raw", limit=10_000)[0]["deleted"]:
        pass


def _run(tx: neo4j.ManagedTransaction, text: LiteralString, params: dict[str, Any]) -> list[dict[str, Any]]:
    result = tx.run(text, params)
    rows = [record.data() for record in result]
    result.consume()
    return rows
