"""EXPLAIN of every statement on a populated graph: no notification, no plan that reads it all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString, cast

import neo4j
import pytest

from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.graph.archive import Archive
from amos_graph.graph.procedures import all_names, given, read_header
from amos_graph.graph.transactions import Graph
from amos_graph.queries.health import check_ready
from amos_graph.settings import Settings
from tests.laws import populated
from tests.laws.populated import populate
from tests.server import Server

pytestmark = pytest.mark.explain

#: Categories of notifications that fail a statement.
_CATEGORIES = {"DEPRECATION", "UNRECOGNIZED", "UNSUPPORTED", "SCHEMA"}
#: Statements that read a whole store or shard by their nature, each with the reason.
_READS_ALL = {
    "journal/verify_strays": "looks for nodes that no key leads to",
    "journal/verify_kinds": "looks for nodes that no index of the store leads to",
    "journal/verify_foreign": "looks for nodes that no label of the store leads to",
}
#: Named after what is stored, so that a server that is kept gets what was added since.
_TENANT = f"explain{hashlib.sha256(Path(populated.__file__).read_bytes()).hexdigest()[:8]}"
_SLOW_OPERATORS = ("AllNodesScan", "CartesianProduct")


@pytest.fixture(scope="module")
def explaining(
    graph: Graph, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[neo4j.Driver]:
    """A driver that hears notifications, on a store in which everything that statements name exists."""
    scope = Scope(tenant_id=_TENANT, workspace_id="w")
    identity = Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES))
    settings = Settings()
    if not _is_populated(graph):
        context = Context(graph, settings, Archive(tmp_path_factory.mktemp("archive")), identity, scope)
        populate(context)
    # A store that serves has its canary.
    check_ready(graph)
    driver = neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password))  # pyright: ignore[reportUnknownMemberType]
    yield driver
    driver.close()


def _is_populated(graph: Graph) -> bool:
    records, _, _ = graph.driver.execute_query(  # pyright: ignore[reportUnknownMemberType]
        "MATCH (c:Client {shard: $shard, id: 'cli_two'}) WHERE c.revoked_at IS NOT NULL RETURN c.id",
        shard=f"{_TENANT}/w",
    )
    return bool(records)


def _operators(plan: dict[str, Any]) -> Iterator[str]:
    """The operators of a plan; two records each found by its unique key are a pair and no product."""
    name = _name(plan)
    children: list[dict[str, Any]] = plan.get("children", [])
    pair = name == "CartesianProduct" and all(_name(c).startswith("NodeUniqueIndexSeek") for c in children)
    yield "Pair" if pair else name
    for child in children:
        yield from _operators(child)


def _name(plan: dict[str, Any]) -> str:
    return str(plan["operatorType"]).split("@")[0]


def _explained(driver: neo4j.Driver, name: str) -> tuple[tuple[str, ...], neo4j.ResultSummary]:
    header = read_header(name)
    text = header.sent.replace("CYPHER 25", "CYPHER 25 EXPLAIN", 1)
    with driver.session() as session:  # pyright: ignore[reportUnknownMemberType]
        result = session.run(cast("LiteralString", text), given(header.sample))
        return tuple(result.keys()), result.consume()


@pytest.mark.parametrize("name", all_names())
def test_a_statement_is_planned_without_a_notification(explaining: neo4j.Driver, name: str) -> None:
    """Its columns are the header's; no deprecated or unknown word, no product, no scan of the store."""
    columns, summary = _explained(explaining, name)

    assert columns == read_header(name).fields, "the header names other columns than the text returns"
    told = [
        f"{status.raw_classification} {status.gql_status}: {status.status_description}"
        for status in summary.gql_status_objects
        if status.is_notification
        and (status.raw_classification in _CATEGORIES or "cartesian" in status.status_description.lower())
    ]
    assert told == []
    operators = set(_operators(cast("dict[str, Any]", summary.plan)))  # pyright: ignore[reportUnknownMemberType]
    if name not in _READS_ALL:
        assert not operators & set(_SLOW_OPERATORS), sorted(operators)
