"""Statements that are sent without waiting: in order, all or nothing, and in one wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.commands.group import append
from amos_graph.errors import AmosError
from amos_graph.graph import pipeline
from amos_graph.graph.procedures import Procedure, procedure
from amos_graph.graph.transactions import Graph, Tx
from amos_graph.queries.journal import ReceiptRow
from tests.samples import belief, source_event

_STORE = procedure("journal/store_receipts")
_LIST = procedure("journal/list_receipts", ReceiptRow)
_APPEND = append.__globals__["_APPEND"]


def _row(key: str) -> dict[str, Any]:
    return {
        "scope_key": key,
        "payload_digest": "sha256:0",
        "result": "{}",
        "graph_version": 1,
        "operation": "test",
        "recorded_at": "2026-01-01T00:00:00.000000Z",
        "title": "test 1",
    }


def _keys(tx: Tx, shard: str) -> list[str]:
    rows = tx.many(_LIST, shard=shard, after_version=0, after_key="", upto=9, limit=9)
    return [row.scope_key for row in rows]


def test_what_is_sent_is_there_for_the_next_statement(graph: Graph, tenant: str) -> None:
    """Statements run in the order in which they are sent, and a later one sees what they wrote."""
    seen: list[str] = []

    def observe(ran: Procedure[Any], _rows: Any, counters: Any) -> None:
        seen.append(f"{ran.name} {counters.nodes_created}")

    def work(tx: Tx) -> list[str]:
        tx.send(_STORE, shard=tenant, rows=[_row("a"), _row("b")])
        tx.send(_STORE, shard=tenant, rows=[_row("c")])
        return _keys(tx, tenant)

    watched = Graph(graph.driver, observer=observe)

    assert watched.write("test", work) == ["a", "b", "c"]
    assert seen == ["journal/store_receipts 2", "journal/store_receipts 1", "journal/list_receipts 0"]


@pytest.mark.parametrize("looks", [True, False], ids=["read again", "left to the end"])
def test_one_that_fails_takes_all_with_it(graph: Graph, tenant: str, *, looks: bool) -> None:
    """The error of a sent statement is raised at the next one or at the end, and nothing is committed."""

    def work(tx: Tx) -> None:
        tx.send(_STORE, shard=tenant, rows=[_row("a")])
        tx.send(_STORE, shard=tenant, rows=[_row("a")])
        tx.send(_STORE, shard=tenant, rows=[_row("b")])
        if looks:
            _keys(tx, tenant)

    with pytest.raises(AmosError) as caught:
        graph.write("test", work)

    assert caught.value.code == "expected_version_conflict"
    assert graph.read("test", lambda tx: _keys(tx, tenant)) == []


def test_rows_that_are_refused_take_all_with_them(graph: Graph, tenant: str) -> None:
    """What a check of a sent statement raises ends the transaction, and so does a row that is missing."""

    def refuse(rows: list[Any]) -> None:
        assert rows == []
        raise AmosError("projection_failed", "refused")

    def checked(tx: Tx) -> None:
        tx.send(_STORE, refuse, shard=tenant, rows=[_row("a")])

    def misplaced(tx: Tx) -> None:
        tx.send(_STORE, shard=tenant, rows=[_row("a")])
        # The shard has no journal, so nothing can be appended to it and no row comes back.
        tx.send(_APPEND, shard=tenant, after=0, events=[], journal={}, body_bytes=0, classes=[], receipts=[])

    for work, code in ((checked, "projection_failed"), (misplaced, "internal")):
        with pytest.raises(AmosError) as caught:
            graph.write("test", work)
        assert caught.value.code == code
    assert graph.read("test", lambda tx: _keys(tx, tenant)) == []


def test_a_commit_waits_once_for_all_that_it_writes(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read under the lock is waited for, then all statements that write together."""
    waits: list[str] = []
    wait = pipeline.wait

    def counted(inner: Any) -> None:
        waits.append("wait")
        wait(inner)

    seen: list[str] = []

    def observe(ran: Procedure[Any], _rows: Any, _counters: Any) -> None:
        seen.append(ran.name)

    graph = Graph(context.graph.driver, observer=observe)
    monkeypatch.setattr(pipeline, "wait", counted)
    request = {"events": [source_event()], "atoms": [belief(id="a"), belief(id="b", payload={"object": "b"})]}

    commit(replace(context, graph=graph), request)

    assert waits == ["wait"]
    assert seen[0] == "journal/lock_shard"
    assert len(seen) >= 4
