"""Warming up: what a first recall would have to wait for is done before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amos_graph.api import warming
from amos_graph.api.warming import warm_up
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.graph.procedures import Procedure
from amos_graph.graph.transactions import Graph
from amos_graph.queries.journal import ShardRow
from amos_graph.queries.recall import recall
from tests.samples import belief, source_event


def test_a_first_recall_meets_no_statement_for_the_first_time(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every statement of a recall by words was run before; nothing was written, and no packet noted."""
    commit(
        context,
        {
            "events": [source_event()],
            "atoms": [belief(id=ref, payload={"object": f"tea with {ref}"}) for ref in ("milk", "lemon")],
            "edges": [
                {
                    "source_ref": "milk",
                    "target_ref": "lemon",
                    "relation": "rel:similar_to",
                    "evidence_refs": ["evd_turn1"],
                    "confidence": {"score": 0.9},
                }
            ],
        },
    )
    ran: list[str] = []
    written: list[Any] = []

    def observe(procedure: Procedure[Any], _rows: Any, counters: Any) -> None:
        ran.append(procedure.name)
        # The barrier of a recall takes the lock, which is a property.
        written.append(counters.nodes_created + counters.relationships_created)

    graph = Graph(context.graph.driver, observer=observe)
    # The suite's server has many shards, and the longest journal is anybody's.
    _has_only(monkeypatch, ShardRow(context.scope.shard, 5))

    assert warm_up(graph, context.settings) == 3
    graph.outbox.flush()
    warmed = set(ran)
    assert set(written) == {0}
    assert not [name for name in warmed if name.startswith("telemetry/")]
    ran.clear()
    request = {"scope": context.scope.record(), "target_processor": "reasoner", "cues": ["tea"]}
    packet = recall(replace(context, graph=graph), request)
    graph.outbox.flush()

    assert len(packet["items"]) == 2
    assert {name for name in ran if name.startswith("recall/")} <= warmed
    assert "recall/spread_activation" in ran


def test_a_store_without_memories_is_left_alone(
    graph: Graph, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system shard has nothing to recall, and the largest shard may be empty."""
    _has_only(monkeypatch, ShardRow("_system/_system", 9))
    assert warm_up(graph, context.settings) == 0

    _has_only(monkeypatch, ShardRow(context.scope.shard, 9))
    assert warm_up(graph, context.settings) == 1


def _has_only(monkeypatch: pytest.MonkeyPatch, row: ShardRow) -> None:
    def listed(_graph: Graph) -> list[ShardRow]:
        return [row]

    monkeypatch.setattr(warming, "list_shards", listed)
