"""Cut connections: whatever the network does to a commit, its caller ends with the truth (T05, T06)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from amos_graph.commands import execution
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context, Receipt
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph, connect
from amos_graph.queries.get import get_atom
from tests.conftest import ContextOf
from tests.faults.crowd import at_once, attempt
from tests.faults.journal import checked_journal, contents, newest, rows
from tests.faults.proxy import COMMIT, Cut, Plan, Proxy
from tests.samples import belief, source_event
from tests.server import Server

ContextsOf = Callable[..., Context]
WRITERS = 4


def _cuts(kinds: list[Cut], every: int) -> Plan:
    """Cut every n-th COMMIT, in turn in each of these ways, until none is left."""
    seen = 0
    left = list(kinds)

    def plan(signature: int) -> Cut | None:
        nonlocal seen
        if signature != COMMIT:
            return None
        seen += 1
        return left.pop() if left and seen % every == 0 else None

    return plan


def _left_open(graph: Graph, proxy: Proxy) -> list[dict[str, Any]]:
    """Transactions of the proxy's connections that stay open; the server notices a closed socket soon."""
    query = """
    SHOW TRANSACTIONS YIELD clientAddress, currentQuery, status, elapsedTime
    WHERE clientAddress IN $addresses RETURN clientAddress, left(currentQuery, 40) AS statement, status
    """
    deadline = time.monotonic() + 10
    while (found := rows(graph, query, addresses=list(proxy.addresses))) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


@pytest.mark.reliability("T05")
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(
    ("kinds", "cuts"),
    [
        ((Cut.BEFORE, Cut.HALF), 20),
        ((Cut.AFTER, Cut.ANSWER), 20),
        pytest.param((Cut.BEFORE, Cut.HALF), 100, marks=pytest.mark.soak),
        pytest.param((Cut.AFTER, Cut.ANSWER), 100, marks=pytest.mark.soak),
    ],
    ids=["before", "after", "before, in full", "after, in full"],
)
def test_a_cut_commit_is_settled_before_its_caller_hears(  # noqa: PLR0917 - fixtures, given by name
    shaky_context: ContextsOf,
    context_of: ContextOf,
    proxy: Proxy,
    graph: Graph,
    tenant: str,
    kinds: tuple[Cut, ...],
    cuts: int,
) -> None:
    """New atoms and compare-and-swaps while commits are cut: acknowledged and done once, or not done."""
    first = [belief(id=f"chain{name}", payload={"object": "0"}) for name in range(WRITERS)]
    commit(context_of(), {"events": [source_event()], "atoms": first})
    proxy.plan = _cuts([kinds[n % len(kinds)] for n in range(cuts)], every=2)

    def writer(name: int) -> tuple[list[Receipt], list[str]]:
        done: list[Receipt] = []
        failed: list[str] = []
        turn = 0
        while proxy.cuts.total() < cuts:
            turn += 1
            text = f"{name} {turn}"
            request = {
                "atoms": [
                    belief(payload={"object": text}),
                    # Told a conflict with its own lost commit, a writer would take itself for a loser.
                    belief(id=f"chain{name}", version=turn - len(failed), payload={"object": text}),
                ]
            }
            tried = attempt(partial(commit, shaky_context(), request))
            if tried.result:
                done.append(tried.result)
            else:
                assert tried.code == "unavailable", tried.error
                failed.append(text)
        return done, failed

    outcomes = at_once([partial(writer, name) for name in range(WRITERS)])

    assert {outcome.code for outcome in outcomes} == {"ok"}
    assert proxy.cuts.total() == cuts
    receipts = [receipt for outcome in outcomes if outcome.result for receipt in outcome.result[0]]
    failed = [text for outcome in outcomes if outcome.result for text in outcome.result[1]]
    journal = checked_journal(graph, f"{tenant}/w")
    acknowledged = [event for receipt in receipts for event in receipt.record["event_ids"]]
    written = [event["event_id"] for event in journal if event["event_type"] != "entity_committed"][
        1 + WRITERS :
    ]
    assert sorted(acknowledged) == sorted(written), (
        "an acknowledged command is missing, doubled or was denied"
    )
    objects = [
        body["payload"]["object"]
        for body in newest(graph, f"{tenant}/w").values()
        if body.get("type") == "belief"
    ]
    assert not set(failed) & set(objects)
    assert _left_open(graph, proxy) == []


@pytest.mark.reliability("T02", "T05")
def test_one_key_under_cuts_is_one_command(
    shaky_context: ContextsOf, proxy: Proxy, graph: Graph, tenant: str
) -> None:
    """Eight clients send one key while every third commit is cut: one event, and one receipt for all."""
    proxy.plan = _cuts([Cut.BEFORE, Cut.AFTER, Cut.ANSWER, Cut.HALF] * 3, every=3)
    request = {"events": [source_event()], "atoms": [belief()]}

    def client() -> list[Receipt]:
        return [commit(shaky_context(idempotency_key="k"), request) for _ in range(5)]

    outcomes = at_once([client] * 8)

    assert {outcome.code for outcome in outcomes} == {"ok"}
    receipts = [receipt for outcome in outcomes for receipt in outcome.result or ()]
    assert len({canonical_bytes(receipt.record) for receipt in receipts}) == 1
    assert [e["event_id"] for e in checked_journal(graph, f"{tenant}/w")] == receipts[0].record["event_ids"]
    assert contents(graph, f"{tenant}/w")["Receipt"] == 1


@pytest.mark.reliability("T05")
def test_what_cannot_be_settled_is_told_and_its_key_settles_it(
    shaky_context: ContextsOf, proxy: Proxy, graph: Graph, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While no commit gets through the caller hears `unavailable`; later the same key carries it out."""
    monkeypatch.setattr(execution, "SETTLE_S", 1.0)
    request = {"events": [source_event()], "atoms": [belief()]}
    proxy.plan = lambda signature: Cut.BEFORE if signature == COMMIT else None

    with pytest.raises(AmosError) as caught:
        commit(shaky_context(idempotency_key="k"), request)

    assert (caught.value.code, caught.value.status, caught.value.retryable) == ("unavailable", 503, True)
    assert "same idempotency key" in caught.value.message
    proxy.plan = lambda _: None
    settled = commit(shaky_context(idempotency_key="k"), request)
    assert not settled.replayed
    assert len(checked_journal(graph, f"{tenant}/w")) == settled.graph_version
    assert contents(graph, f"{tenant}/w")["Atom"] == 1


@pytest.mark.reliability("T05")
def test_a_commit_whose_answer_is_lost_is_told_by_its_receipt(
    shaky_context: ContextsOf, proxy: Proxy, graph: Graph, tenant: str
) -> None:
    """Finding the receipt writes nothing, so it needs no commit, and is told though every commit is cut."""
    request = {"events": [source_event()], "atoms": [belief()]}
    proxy.plan = lambda signature: Cut.ANSWER if signature == COMMIT else None

    settled = commit(shaky_context(idempotency_key="k"), request)

    assert settled.replayed
    assert len(checked_journal(graph, f"{tenant}/w")) == settled.graph_version
    assert contents(graph, f"{tenant}/w")["Atom"] == 1


@pytest.mark.reliability("T05")
def test_connections_reset_at_random_lose_nothing(
    shaky_context: ContextsOf, context_of: ContextOf, proxy: Proxy, graph: Graph, tenant: str
) -> None:
    """Writers whose connections are all reset again and again: every acknowledged atom is there, once."""
    commit(context_of(), {"events": [source_event()]})
    chance = random.Random(20_261_130)  # noqa: S311 - moments, no secrets

    def writer(name: int) -> list[str]:
        return [
            commit(shaky_context(), {"atoms": [belief(payload={"object": f"{name} {turn}"})]}).record[
                "atom_refs"
            ][0]
            for turn in range(12)
        ]

    def resetter() -> list[str]:
        for _ in range(6):
            time.sleep(chance.uniform(0.05, 0.4))
            proxy.reset_all()
        return []

    outcomes = at_once([*(partial(writer, name) for name in range(WRITERS)), resetter])

    assert [outcome.code for outcome in outcomes] == ["ok"] * (WRITERS + 1)
    acknowledged = [ref for outcome in outcomes for ref in outcome.result or ()]
    stored = {ref for ref, body in newest(graph, f"{tenant}/w").items() if body.get("type") == "belief"}
    assert set(acknowledged) == stored
    assert len(acknowledged) == WRITERS * 12
    checked_journal(graph, f"{tenant}/w")


@pytest.mark.reliability("T28")
def test_an_unreachable_server_is_told_in_time_and_found_again(
    shaky_context: ContextsOf, proxy: Proxy, server: Server
) -> None:
    """While Neo4j is away all calls are `unavailable`; when it is back they go on without a restart."""
    hasty = Graph(connect(proxy.uri, server.user, server.password, retry_s=2.0))
    context = replace(shaky_context(), graph=hasty)
    commit(context, {"events": [source_event()], "atoms": [belief(id="a")]})
    proxy.closed = True
    proxy.reset_all()
    calls: list[Callable[[], Any]] = [
        lambda: commit(context, {"atoms": [belief(id="b", payload={"object": "b"})]}),
        lambda: get_atom(context, {"atom_id": "a"}),
    ]

    started = time.monotonic()
    outcomes = at_once(calls)

    assert [outcome.code for outcome in outcomes] == ["unavailable", "unavailable"]
    assert time.monotonic() - started < 15
    proxy.closed = False
    commit(context, {"atoms": [belief(id="b", payload={"object": "b"})]})
    assert get_atom(context, {"atom_id": "b"})["found"]
    hasty.close()


@pytest.mark.soak
@pytest.mark.reliability("T06")
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("cut", list(Cut), ids=[cut.value for cut in Cut])
def test_a_cut_at_any_message_ends_in_the_truth(
    shaky_context: ContextsOf, proxy: Proxy, graph: Graph, tenant: str, cut: Cut
) -> None:
    """Cut at the first client message, the second, and so on until a run has no cut: done once each time."""
    position = 0
    while True:
        position += 1
        proxy.reset_all()
        seen = 0
        met = False

        def plan(_signature: int, at: int = position) -> Cut | None:
            nonlocal seen, met
            seen += 1
            if seen == at and not met:
                met = True
                return cut
            return None

        proxy.plan = plan
        request = {
            "events": [source_event(f"evd_{position}")],
            "atoms": [belief(evidence_refs=[f"evd_{position}"], payload={"object": f"{position}"})],
        }
        receipt = commit(shaky_context(), request)
        journal = checked_journal(graph, f"{tenant}/w")
        assert journal[-1]["event_id"] == receipt.record["event_ids"][-1]
        if not met:
            break
        assert _left_open(graph, proxy) == []

    assert position > 10
    assert contents(graph, f"{tenant}/w")["Atom"] == position
