"""Cypher past the service, as an administrator in Browser would write it."""

from __future__ import annotations

from typing import Any, LiteralString, cast

from amos_graph.graph.transactions import Graph


def run(graph: Graph, statement: str, **params: Any) -> list[dict[str, Any]]:
    """Run a statement of the test's own and return its rows."""
    with graph.driver.session(database=graph.database) as session:  # pyright: ignore[reportUnknownMemberType]
        return [record.data() for record in session.run(cast("LiteralString", statement), params)]


def wipe(graph: Graph, shard: str) -> None:
    """Delete all that a shard has, as if it had never been."""
    run(
        graph,
        "MATCH (n {shard: $shard}) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS",
        shard=shard,
    )
