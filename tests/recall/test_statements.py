"""The statements of recall: planned without warnings, from an index, and without effect."""

from __future__ import annotations

from typing import Any, LiteralString, cast

import pytest

from amos_graph.commands.execution import Context
from amos_graph.graph.procedures import all_names, read_header
from amos_graph.graph.transactions import Graph
from amos_graph.queries.verify import verify
from tests.recall.samples import edge, fact, packet, store
from tests.samples import belief

RECALL = [name for name in all_names() if name.startswith("recall/")]
#: Operators that read more than what was asked for.
_SCANS = ("AllNodesScan", "NodeByLabelScan", "CartesianProduct", "RelationshipTypeScan")


def _populate(context: Context) -> None:
    """A graph that has every label, property and relationship type that recall names."""
    interval = {"validity_interval": {"from": "2020-01-01T00:00:00Z", "until": "2090-01-01T00:00:00Z"}}
    store(
        context,
        fact("a1", "Amos one.", payload=interval),
        fact("a2", "Amos two."),
        fact("a3", "Amos three.", supersedes=["a2"]),
        belief(id="b1", payload={"subject": "ent:person:bob"}),
        edges=(
            edge("a1", "contradicts", "a3"),
            edge("a1", "supports", "b1"),
            edge("a1", "derived_from", "b1"),
            edge("a1", "summarizes", "b1"),
            edge("a1", "inhibits", "b1"),
        ),
        entities=[
            {"id": "ent:person:robert", "type": "person", "canonical_name": "Robert"},
            {"id": "ent:person:bob", "type": "person", "merged_into": "ent:person:robert"},
        ],
    )


def _operators(plan: dict[str, Any]) -> list[str]:
    return [
        plan["operatorType"].split("@")[0],
        *(name for child in plan.get("children", []) for name in _operators(child)),
    ]


@pytest.mark.parametrize("name", RECALL)
def test_each_statement_is_planned_from_an_index_and_without_warning(
    context: Context, graph: Graph, name: str
) -> None:
    """EXPLAIN on a populated graph gives no notification but of properties nobody has set, and no scan."""
    _populate(context)
    header = read_header(name)
    with graph.driver.session() as session:  # pyright: ignore[reportUnknownMemberType]
        text = header.text.replace("CYPHER 25", "CYPHER 25 EXPLAIN", 1)
        summary = session.run(cast("LiteralString", text), header.sample).consume()
    plan = cast("dict[str, Any] | None", summary.plan)  # pyright: ignore[reportUnknownMemberType]

    told = [status for status in summary.gql_status_objects if status.is_notification]
    assert [status.status_description for status in told if status.raw_classification != "UNRECOGNIZED"] == []
    # Scope fields that no record of the store has set are unknown to it; relationship types are not.
    assert [status.gql_status for status in told if status.gql_status != "01N52"] == []
    assert plan is not None
    assert set(_operators(plan)).isdisjoint(_SCANS)


def test_recall_leaves_a_verified_graph(context: Context, graph: Graph) -> None:
    """After packets of every kind the shard verifies as before, merged entities included."""
    _populate(context)
    for cues in (["amos"], ["Bob"], []):
        packet(context, *cues, include_provenance=True, include_superseded=True)

    assert verify(graph, context.scope.shard).faults == []
