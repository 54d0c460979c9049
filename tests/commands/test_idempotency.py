"""Idempotency: one key, one payload, one result, whoever asks again and however often."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.capture import capture
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context, Receipt
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from tests.conftest import ContextOf
from tests.faults.crowd import Outcome, ResultT, at_once
from tests.faults.journal import checked_journal, contents
from tests.samples import belief, source_event

CLIENTS = 8


def _one(number: int = 0) -> dict[str, Any]:
    return {"events": [source_event()], "atoms": [belief(payload={"object": f"project {number}"})]}


def _results(outcomes: list[Outcome[ResultT]]) -> list[ResultT]:
    assert {outcome.code for outcome in outcomes} == {"ok"}
    return [outcome.result for outcome in outcomes if outcome.result is not None]


@pytest.mark.reliability("T02")
@pytest.mark.parametrize("each", [25, pytest.param(125, marks=pytest.mark.soak)])
def test_one_key_sent_by_many_clients_is_one_command(
    context_of: ContextOf, graph: Graph, tenant: str, each: int
) -> None:
    """However often and from however many clients, a key gives one event and one receipt, byte for byte."""
    context = context_of(idempotency_key="once")

    def client() -> list[Receipt]:
        return [commit(context, _one()) for _ in range(each)]

    receipts = [receipt for group in _results(at_once([client] * CLIENTS)) for receipt in group]

    assert len(receipts) == CLIENTS * each
    assert len({canonical_bytes(receipt.record) for receipt in receipts}) == 1
    assert [receipt.replayed for receipt in receipts].count(False) == 1
    journal = checked_journal(graph, f"{tenant}/w")
    assert [event["event_id"] for event in journal] == receipts[0].record["event_ids"]
    assert contents(graph, f"{tenant}/w")["Receipt"] == 1


@pytest.mark.reliability("T02")
def test_a_key_with_another_payload_is_refused_and_changes_nothing(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """A key is bound to its payload: another one is `idempotency_conflict`, and the graph stays as it was."""
    context = context_of(idempotency_key="k")
    first = commit(context, _one(1))
    before = contents(graph, f"{tenant}/w")

    with pytest.raises(AmosError) as caught:
        commit(context, _one(2))

    assert (caught.value.code, caught.value.status) == ("idempotency_conflict", 409)
    assert contents(graph, f"{tenant}/w") == before
    assert commit(context, _one(1)).record == first.record


@pytest.mark.reliability("T02", "T20")
def test_keys_of_different_principals_never_meet(
    context_of: ContextOf, caller: Identity, tenant: str
) -> None:
    """Another service's or tenant's key of the same name neither replays nor conflicts nor tells anything."""
    mine = commit(context_of(idempotency_key="k"), _one(1))
    other_service = Identity("cli_other", "svc:other", "test", caller.scope, caller.capabilities)
    other_tenant = Identity(
        "cli_test",
        "svc:test",
        "test",
        Scope(tenant_id=f"{tenant}x", workspace_id="w"),
        frozenset(CAPABILITIES),
    )

    theirs = commit(context_of(other_service, idempotency_key="k"), _one(2))
    far = commit(context_of(other_tenant, idempotency_key="k"), _one(3))

    assert not theirs.replayed
    assert not far.replayed
    assert theirs.record["created"] != mine.record["created"]
    assert commit(context_of(idempotency_key="k"), _one(1)).record == mine.record


@pytest.mark.reliability("T02")
def test_a_repeat_is_never_a_version_conflict(context_of: ContextOf) -> None:
    """The key is looked up before versions are compared: a repeat with a version gone stale replays."""
    commit(context_of(), {"events": [source_event()], "atoms": [belief(id="b1")]})
    second = {"atoms": [belief(id="b1", payload={"object": "two"})]}
    keyed = context_of(idempotency_key="k", expected_versions={"b1": 1})
    first = commit(keyed, second)
    commit(context_of(expected_versions={"b1": 2}), {"atoms": [belief(id="b1", payload={"object": "three"})]})

    again = commit(keyed, second)

    assert again.replayed
    assert again.record == first.record
    with pytest.raises(AmosError, match="expected_version_conflict"):
        commit(context_of(idempotency_key="new", expected_versions={"b1": 1}), second)


@pytest.mark.reliability("T02")
def test_a_refusal_does_not_bind_its_key(context_of: ContextOf) -> None:
    """Only an accepted result binds a key: after a refusal the corrected request goes through with it."""
    context = context_of(idempotency_key="k")
    with pytest.raises(AmosError, match="evidence_denied"):
        commit(context, {"atoms": [belief(evidence_refs=["evd_absent"])]})

    assert not commit(context, _one()).replayed


@pytest.mark.reliability("T02")
def test_a_key_is_bound_within_its_operation(context_of: ContextOf) -> None:
    """The same key names one result for each operation, as the spec's scope of a key says."""
    context = context_of(idempotency_key="k")
    captured = capture(context, {"event": source_event()})
    committed = commit(context, {"atoms": [belief(id="b1")]})
    archived = archive(context, {"atom_id": "b1", "reason": "done"})

    assert not any(receipt.replayed for receipt in (captured, committed, archived))
    assert archive(context, {"atom_id": "b1", "reason": "done"}).record == archived.record
    with pytest.raises(AmosError, match="idempotency_conflict"):
        archive(context, {"atom_id": "b1", "reason": "another reason"})


@pytest.mark.case("C01", "C12")
@pytest.mark.parametrize("keyed", [True, False], ids=["with one key", "without a key"])
def test_identical_writes_at_once_store_one_atom(
    context_of: ContextOf, graph: Graph, tenant: str, keyed: bool
) -> None:
    """Twenty identical writes at once: one is stored; the others replay it, or reuse what it stored."""
    context = context_of(idempotency_key="k" if keyed else None)

    receipts = _results(at_once([partial(commit, context, _one())] * 20))

    creating = [receipt for receipt in receipts if receipt.record["created"] and not receipt.replayed]
    assert len(creating) == 1
    assert sum(receipt.replayed for receipt in receipts) == (19 if keyed else 0)
    assert len({receipt.record["atom_refs"][0] for receipt in receipts}) == 1
    found = contents(graph, f"{tenant}/w")
    assert (found["Atom"], found["Evidence"], found["Entity"]) == (1, 1, 1)
    checked_journal(graph, f"{tenant}/w")


@pytest.mark.case("C01", "C03", "C05")
def test_a_second_run_of_the_same_script_changes_nothing(context: Context, graph: Graph, tenant: str) -> None:
    """A script without keys that runs twice gets the same ids, and the graph stays as it was."""
    script = [
        {"events": [source_event(f"evd_{n}")], "atoms": [belief(evidence_refs=[f"evd_{n}"])]}
        for n in range(4)
    ]
    first = [commit(context, request).record for request in script]
    before = contents(graph, f"{tenant}/w")

    second = [commit(context, request).record for request in script]

    after = contents(graph, f"{tenant}/w")
    # A receipt of its own for each call is the only trace.
    assert {**after, "Receipt": 0} == {**before, "Receipt": 0}
    assert [record["atom_refs"] for record in second] == [record["atom_refs"] for record in first]
    assert not any(record["created"] or record["updated"] or record["event_ids"] for record in second)
    assert after["Atom"] == 1, "one statement is one atom, whatever it rests on"
    assert after["[EVIDENCED_BY]"] == 4
