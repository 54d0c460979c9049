"""What a report reads: the shard that it is asked about, through an index, whatever else the store holds."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, LiteralString, cast

import neo4j
import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Scope
from amos_graph.graph.transactions import Graph
from amos_graph.queries.report import REPORTS, report_names
from tests.samples import belief, source_event

Summary = Callable[[str, str], dict[str, Any]]


@pytest.fixture
def summary(graph: Graph, story: Context) -> Summary:
    """The plan of a report on the story's shard, by EXPLAIN or by PROFILE."""

    def plan(name: str, how: str) -> dict[str, Any]:
        header = REPORTS[name].header
        text = header.text.replace("CYPHER 25", f"CYPHER 25 {how}", 1)
        with graph.driver.session(  # pyright: ignore[reportUnknownMemberType]
            database=graph.database, default_access_mode=neo4j.READ_ACCESS
        ) as session:
            params = header.sample | {"shard": story.scope.shard}
            found: Any = session.run(cast("LiteralString", text), params).consume()
        return found.profile if how == "PROFILE" else found.plan

    return plan


def _operators(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", []):
        yield from _operators(child)


def _name(operator: dict[str, Any]) -> str:
    return str(operator["operatorType"]).split("@")[0]


@pytest.mark.parametrize("name", report_names())
def test_a_report_begins_at_an_index_of_its_shard(summary: Summary, name: str) -> None:
    """No label, no index and no relationship type is scanned: every way in is a seek that names the shard."""
    scans = [_name(found) for found in _operators(summary(name, "EXPLAIN")) if "Scan" in _name(found)]
    seeks = [found for found in _operators(summary(name, "EXPLAIN")) if "IndexSeek" in _name(found)]

    assert scans == []
    assert seeks
    for seek in seeks:
        assert "shard = " in seek["args"]["Details"], seek["args"]["Details"]


def _hits(plan: dict[str, Any]) -> int:
    return sum(found.get("dbHits", 0) for found in _operators(plan))


def test_what_another_shard_holds_costs_a_report_nothing(summary: Summary, story: Context) -> None:
    """PROFILE counts as many hits after another shard was filled with ten times as much as before."""
    before = {name: _hits(summary(name, "PROFILE")) for name in report_names()}
    scope = Scope(tenant_id=f"t{uuid.uuid4().hex[:12]}", workspace_id="w")
    other = replace(story, identity=replace(story.identity, scope=scope), scope=scope)
    pairs = [(f"b{n}", f"b{n + 1}") for n in range(0, 60, 2)]
    relations = ("rel:contradicts", "rel:inhibits")
    confidence = {"level": "high"}
    commit(
        other,
        {
            "events": [source_event()],
            "atoms": [belief(id=name, payload={"object": name}) for pair in pairs for name in pair],
            "edges": [
                {"source_ref": a, "target_ref": b, "relation": relation, "confidence": confidence}
                for a, b in pairs
                for relation in relations
            ],
        },
    )
    after = {name: _hits(summary(name, "PROFILE")) for name in report_names()}

    # Another plan may cost a few hits more; a look at the other shard would cost one for each atom there.
    assert all(0 < after[name] < before[name] + 2 * len(pairs) for name in before), (before, after)
