"""Concurrency: whatever writers do at once, each change is granted to one of them, and none is lost."""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context, Receipt
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph, connect
from amos_graph.queries.get import get_atom
from amos_graph.settings import Settings
from tests.conftest import ContextOf
from tests.faults.crowd import at_once, attempt
from tests.faults.journal import checked_journal, contents, newest
from tests.samples import belief, source_event
from tests.server import Server

WRITERS = 8


def _atoms(context: Context, ids: list[str]) -> None:
    commit(context, {"events": [source_event()], "atoms": [belief(id=ref) for ref in ids]})


def _version(context: Context, ref: str) -> int:
    return get_atom(context, {"atom_id": ref})["item"]["record"]["version"]


@pytest.mark.reliability("T03")
@pytest.mark.case("C16")
@pytest.mark.parametrize("each", [10, pytest.param(40, marks=pytest.mark.soak)])
def test_one_version_of_an_atom_is_replaced_once(
    context_of: ContextOf, graph: Graph, tenant: str, each: int
) -> None:
    """Eight writers compare and swap one atom: each version is granted once, and grants add up to the end."""
    _atoms(context_of(), ["b1"])

    def writer(name: int) -> tuple[list[int], list[AmosError]]:
        granted: list[int] = []
        refused: list[AmosError] = []
        for turn in range(each):
            expected = _version(context_of(), "b1")
            change = belief(id="b1", payload={"object": f"writer {name} turn {turn}"})
            tried = attempt(
                partial(commit, context_of(expected_versions={"b1": expected}), {"atoms": [change]})
            )
            if tried.error:
                refused.append(tried.error)
            else:
                granted.append(expected)
        return granted, refused

    outcomes = at_once([partial(writer, name) for name in range(WRITERS)])

    assert {outcome.code for outcome in outcomes} == {"ok"}
    results = [outcome.result for outcome in outcomes if outcome.result]
    granted = sorted(version for grants, _ in results for version in grants)
    refused = [error for _, errors in results for error in errors]
    assert granted == list(range(1, len(granted) + 1)), "an expected version was granted twice or skipped"
    assert _version(context_of(), "b1") == len(granted) + 1
    assert len(granted) + len(refused) == WRITERS * each
    assert {error.code for error in refused} <= {"expected_version_conflict"}
    for error in refused:
        assert error.details["actual_version"] > error.details["expected_version"]
        assert error.details["conflicting_event_id"].startswith("evt_")
    checked_journal(graph, f"{tenant}/w")


@pytest.mark.reliability("T03")
def test_overlapping_writes_in_opposite_order_never_deadlock(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """Writers of overlapping atoms in opposite order: whole grants or whole refusals, nothing else."""
    ids = [f"b{n}" for n in range(5)]
    _atoms(context_of(), ids)

    def writer(name: int) -> list[dict[str, int]]:
        grants: list[dict[str, int]] = []
        chance = random.Random(name)  # noqa: S311 - an order, no secret
        for turn in range(8):
            mine = chance.sample(ids, 3)
            mine.sort(reverse=name % 2 == 1)
            expected = {ref: _version(context_of(), ref) for ref in mine}
            changes = [belief(id=ref, payload={"object": f"{name} {turn} {ref}"}) for ref in mine]
            tried = attempt(partial(commit, context_of(expected_versions=expected), {"atoms": changes}))
            assert tried.code in ("ok", "expected_version_conflict")
            if tried.result:
                grants.append(expected)
        return grants

    outcomes = at_once([partial(writer, name) for name in range(WRITERS)])

    assert {outcome.code for outcome in outcomes} == {"ok"}
    grants = [grant for outcome in outcomes for grant in outcome.result or ()]
    for ref in ids:
        versions = sorted(grant[ref] for grant in grants if ref in grant)
        assert versions == list(range(1, len(versions) + 1)), f"{ref}: a version was granted twice"
        assert _version(context_of(), ref) == len(versions) + 1
    checked_journal(graph, f"{tenant}/w")


@pytest.mark.reliability("T03")
def test_two_versions_of_one_atom_in_one_batch_are_refused(context: Context) -> None:
    """Two changes of one atom in one command would both see the start, so the batch is refused as a whole."""
    _atoms(context, ["b1"])
    twice = [belief(id="b1", version=1, payload={"object": f"{n}"}) for n in range(2)]

    with pytest.raises(AmosError, match=r"atoms\[1\]\.id: b1 stands twice"):
        commit(context, {"atoms": twice})

    assert _version(context, "b1") == 1


@pytest.mark.case("C11")
@pytest.mark.reliability("T03")
def test_fifty_first_writers_make_one_entity_and_one_journal(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """Fifty writers enter one entity into a shard that does not exist yet: one node, one journal."""
    entity = {"id": "ent:person:ada", "type": "person", "canonical_name": "Ada"}

    outcomes = at_once([partial(commit, context_of(), {"entities": [entity]})] * 50)

    assert {outcome.code for outcome in outcomes} == {"ok"}
    assert contents(graph, f"{tenant}/w") == {
        "Journal": 1,
        "Entity": 1,
        "Event": 1,
        "Version": 1,
        "Receipt": 50,
        "[HEAD]": 1,
        "[WROTE]": 1,
        "[OF]": 1,
        "[NAMED]": 1,
    }


@pytest.mark.case("C15")
@pytest.mark.parametrize("turns", [20, pytest.param(100, marks=pytest.mark.soak)])
def test_scopes_of_concurrent_calls_never_mix(
    context_of: ContextOf, graph: Graph, tenant: str, turns: int
) -> None:
    """Two tenants write at once through one Graph: no record of one lies in the other's shard."""
    tenants = [f"{tenant}a", f"{tenant}b"]

    def calls(name: str) -> list[Receipt]:
        identity = Identity(
            "cli_test",
            "svc:test",
            "test",
            Scope(tenant_id=name, workspace_id="w"),
            frozenset(CAPABILITIES),
        )
        return [
            commit(
                context_of(identity),
                {
                    "events": [source_event(f"evd_{turn}")],
                    "atoms": [belief(evidence_refs=[f"evd_{turn}"], payload={"object": f"{name} {turn}"})],
                },
            )
            for turn in range(turns)
        ]

    outcomes = at_once([partial(calls, name) for name in tenants])

    assert {outcome.code for outcome in outcomes} == {"ok"}
    for name, outcome in zip(tenants, outcomes, strict=True):
        bodies = newest(graph, f"{name}/w")
        written = {ref for receipt in outcome.result or () for ref in receipt.record["atom_refs"]}
        atoms = {ref: body for ref, body in bodies.items() if body.get("type") == "belief"}
        assert atoms.keys() == written
        assert {body["scope"]["tenant_id"] for body in atoms.values()} == {name}
        assert all(body["payload"]["object"].startswith(f"{name} ") for body in atoms.values())
        checked_journal(graph, f"{name}/w")


@pytest.mark.case("C17")
@pytest.mark.parametrize("each", [15, pytest.param(50, marks=pytest.mark.soak)])
def test_concurrent_writes_are_all_stored(
    context_of: ContextOf, graph: Graph, tenant: str, each: int
) -> None:
    """Ten threads write at once: all is stored, and the journal has just the acknowledged events."""
    commit(context_of(), {"events": [source_event()]})

    def writer(name: int) -> list[Receipt]:
        return [
            commit(context_of(), {"atoms": [belief(payload={"object": f"{name} {turn}"})]})
            for turn in range(each)
        ]

    outcomes = at_once([partial(writer, name) for name in range(10)])

    assert {outcome.code for outcome in outcomes} == {"ok"}
    receipts = [receipt for outcome in outcomes for receipt in outcome.result or ()]
    assert len({receipt.record["atom_refs"][0] for receipt in receipts}) == 10 * each
    acknowledged = {event for receipt in receipts for event in receipt.record["event_ids"]}
    journal = checked_journal(graph, f"{tenant}/w")
    assert {event["event_id"] for event in journal[1:]} == acknowledged
    assert contents(graph, f"{tenant}/w")["Atom"] == 10 * each


@pytest.mark.case("C16")
def test_a_change_made_from_a_stale_reading_is_refused(context_of: ContextOf) -> None:
    """Read, meanwhile another edit, then write: refused with the version and the event in the way."""
    _atoms(context_of(), ["b1"])
    read = get_atom(context_of(), {"atom_id": "b1"})["item"]["record"]
    edited = commit(context_of(), {"atoms": [belief(id="b1", version=1, payload={"object": "their edit"})]})

    with pytest.raises(AmosError) as caught:
        commit(context_of(), {"atoms": [{**read, "payload": {**read["payload"], "object": "my edit"}}]})

    assert caught.value.code == "expected_version_conflict"
    assert caught.value.details == {
        "target_ref": "b1",
        "expected_version": 1,
        "actual_version": 2,
        "conflicting_event_id": edited.record["event_ids"][-1],
        "recommended_action": "refresh",
    }
    assert get_atom(context_of(), {"atom_id": "b1"})["item"]["record"]["payload"]["object"] == "their edit"


@pytest.mark.case("C16")
def test_an_archive_from_a_stale_reading_is_refused(context_of: ContextOf) -> None:
    """Archiving names the version that was read, and another one is refused."""
    _atoms(context_of(), ["b1"])
    commit(context_of(), {"atoms": [belief(id="b1", version=1, payload={"object": "their edit"})]})

    with pytest.raises(AmosError, match="expected_version_conflict"):
        archive(context_of(), {"atom_id": "b1", "reason": "stale", "expected_version": 1})


@pytest.mark.case("C18")
def test_a_lost_race_is_no_error_in_the_log(context: Context, caplog: pytest.LogCaptureFixture) -> None:
    """An expected conflict is an answer: nothing is logged as an error, and no stack trace is."""
    _atoms(context, ["b1"])
    caplog.set_level(logging.DEBUG, "amos_graph")
    caplog.set_level(logging.WARNING, "neo4j")

    with pytest.raises(AmosError, match="expected_version_conflict"):
        commit(context, {"atoms": [belief(id="b1", version=7, payload={"object": "stale"})]})

    assert not [record for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]


def _appender(server: Server, tenant: str, name: int, count: int, home: str) -> None:
    """A process of its own that appends; run by the test below."""
    graph = Graph(connect(server.uri, server.user, server.password))
    scope = Scope(tenant_id=tenant, workspace_id="w")
    identity = Identity("cli_test", f"svc:{name}", "test", scope, frozenset(CAPABILITIES))
    context = Context(graph, Settings(), Archive(Path(home)), identity, scope)
    for turn in range(count):
        commit(context, {"atoms": [belief(payload={"object": f"{name} {turn}"})]})
    graph.close()


@pytest.mark.case("C19")
def test_killed_appenders_neither_fork_nor_reset_the_chain(
    context: Context, graph: Graph, server: Server, tenant: str, tmp_path: Path
) -> None:
    """Eight processes append, three are killed in the midst, maybe holding the head: one chain stays."""
    commit(context, {"events": [source_event()]})
    # A server that has imported the modules once forks the appenders, none of which shares a connection.
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["tests.commands.test_concurrency"])
    arguments: list[tuple[Any, ...]] = [
        (server, tenant, name, 1_000 if name < 3 else 6, str(tmp_path)) for name in range(8)
    ]
    processes = [forks.Process(target=_appender, args=given, daemon=True) for given in arguments]
    for process in processes:
        process.start()
    deadline = time.monotonic() + 120
    for process in processes[3:]:
        process.join(max(0.0, deadline - time.monotonic()))
    for process in processes[:3]:
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
        process.join(30)

    assert [process.exitcode for process in processes] == [-signal.SIGKILL] * 3 + [0] * 5
    started = time.monotonic()
    commit(context, {"atoms": [belief(payload={"object": "after the kills"})]})
    assert time.monotonic() - started < 10, "a dead writer still holds the shard"
    checked_journal(graph, f"{tenant}/w")
    objects = {
        body["payload"].get("object") for body in newest(graph, f"{tenant}/w").values() if "payload" in body
    }
    assert {f"{name} {turn}" for name in range(3, 8) for turn in range(6)} < objects
