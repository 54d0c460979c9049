"""Honest writes: what an answer says is what stands in Neo4j, and a write that fails leaves nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.capture import capture
from amos_graph.commands.clients import register_client, revoke_client
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Command, Context, Moment, Plan, execute
from amos_graph.commands.view import View
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.projection import project
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.procedures import Procedure
from amos_graph.graph.transactions import Graph, Tx
from tests.conftest import ContextOf
from tests.faults.journal import checked_journal, contents, events, newest, rows
from tests.samples import belief, source_event

_NODE = """
MATCH (n {shard: $shard})
WHERE coalesce(n.id, n.edge_id, n.evidence_id) = $ref AND NOT n:Event AND NOT n:Version
RETURN n {.*} AS properties, labels(n) AS labels
"""


def _edge(**changes: Any) -> dict[str, Any]:
    confidence = {"level": "medium", "score": 0.6}
    return {
        "source_ref": "a",
        "target_ref": "b",
        "relation": "rel:supports",
        "confidence": confidence,
        **changes,
    }


@pytest.mark.case("C61")
def test_what_an_answer_names_stands_in_neo4j_property_by_property(
    context: Context, graph: Graph, tenant: str
) -> None:
    """Each record that a receipt names is read back with Cypher and equals its projection in full."""
    receipt = commit(
        context,
        {
            "events": [source_event()],
            "atoms": [belief(id=ref, payload={"object": f"ent:thing:{ref}"}) for ref in "ab"],
            "edges": [_edge(evidence_refs=["evd_turn1"])],
            "relations": [{"id": "rel:outranks", "kind": "edge", "description": "stands above"}],
            "enums": [{"id": "enum:mood:calm", "description": "calm"}],
            "entities": [{"id": "ent:person:ada", "type": "person", "aliases": ["Countess"]}],
        },
    ).record
    named = [*receipt["created"], *receipt["linked"]]
    shard = f"{tenant}/w"
    bodies = newest(graph, shard)

    assert len(named) == len(set(named)) == len(receipt["event_ids"]) == receipt["graph_version"]
    assert set(named) == bodies.keys()
    for event in checked_journal(graph, shard):
        for write in event["payload"]["writes"]:
            (row,) = rows(graph, _NODE, shard=shard, ref=write["ref"])
            node = project(write["kind"], shard, bodies[write["ref"]], event["event_id"])
            native = {
                name: value.to_native() if hasattr(value, "to_native") else value
                for name, value in row["properties"].items()
            }
            assert native == node.properties
            assert set(row["labels"]) == set(node.labels)


@pytest.mark.case("C61")
@pytest.mark.parametrize(
    "number", [0, -1, 1.0, 1e-7, 0.1 + 0.2, 2**53 - 1, -(2**53 - 1), 1e300, 5e-324, 1e21]
)
def test_numbers_come_back_as_they_were_sent(
    context: Context, graph: Graph, tenant: str, number: float
) -> None:
    """A number in a payload is stored exactly, also where lists mix whole and broken ones."""
    mixed = {"mixed": [number, 0.5, 7], "nothing": None}
    commit(
        context,
        {
            "events": [source_event()],
            "atoms": [belief(id="b1", payload={"object": number, "qualifiers": mixed})],
        },
    )

    payload = newest(graph, f"{tenant}/w")["b1"]["payload"]
    assert payload["object"] == number
    assert payload["qualifiers"] == mixed


@pytest.mark.case("C75")
def test_no_event_without_its_mutation(context: Context, graph: Graph, tenant: str) -> None:
    """A projection that fails after the events were appended takes them back, and all else with them."""
    commit(context, {"events": [source_event()], "atoms": [belief(id="a")]})
    before = contents(graph, f"{tenant}/w")
    journal = checked_journal(graph, f"{tenant}/w")

    def decided(_view: View, moment: Moment) -> Plan:
        # An edge whose far end is missing cannot be projected; the appended event must go with it.
        body = {
            **_edge(target_ref="missing"),
            "edge_id": "edge_x",
            "schema_version": "amos.v1",
            "evidence_refs": list[str](),
            "scope": context.scope.record(),
            "weight": 0.5,
            "derivation": "submitted",
            "lifecycle_state": "active",
            "health_status": "healthy",
            "version": 1,
            "created_at": moment.now,
            "updated_at": moment.now,
            "last_writer": moment.writer,
        }
        draft = Draft("edge_committed", "link_atoms", (Write("edge", "edge_x", 1, body),))
        return Plan(drafts=(draft,), linked=("edge_x",))

    with pytest.raises(AmosError) as caught:
        execute(context, Command("commit_atoms", "atom.commit", {"x": 1}), decided)

    assert caught.value.code == "projection_failed"
    assert contents(graph, f"{tenant}/w") == before
    assert checked_journal(graph, f"{tenant}/w") == journal


@pytest.mark.case("C75")
def test_a_failure_after_any_statement_leaves_nothing(
    context_of: ContextOf, graph: Graph, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that dies after its n-th statement, for each n, leaves no event, record or receipt."""

    class DiedError(Exception):
        """The service's end in the midst of a command."""

    ran: list[str] = []
    limit = 0
    answered = Tx._answered  # pyright: ignore[reportPrivateUsage] - what every statement passes

    def dying(self: Tx, procedure: Any, rows: Any, counters: Any) -> Any:
        result = answered(self, procedure, rows, counters)
        ran.append(procedure.name)
        if len(ran) == limit:
            raise DiedError
        return result

    request = {
        "events": [source_event()],
        "atoms": [belief(id=ref, payload={"object": ref}) for ref in "ab"],
        "edges": [_edge()],
    }
    monkeypatch.setattr(Tx, "_answered", dying)
    died = 0
    while True:
        ran.clear()
        limit = died + 1
        try:
            receipt = commit(context_of(idempotency_key="k"), request)
        except DiedError:
            died += 1
            assert contents(graph, f"{tenant}/w") == {}, f"left behind after {ran[-1]}"
        else:
            break

    assert died == len(ran) >= 6, "every statement of the command was the last one once"
    assert not receipt.replayed
    checked_journal(graph, f"{tenant}/w")


@pytest.mark.case("C75")
def test_every_mutation_has_its_entry(context: Context, graph: Graph, tenant: str) -> None:
    """Capture, commit, update, propose and archive each leave the entry that names what they wrote."""
    capture(context, {"event": source_event()})
    commit(context, {"atoms": [belief(id="a")]})
    commit(context, {"atoms": [belief(id="a", version=1, payload={"object": "b"})]})
    propose(context, {"candidates": [belief(id="p", payload={"object": "maybe"})]})
    archive(context, {"atom_id": "a", "reason": "done"})

    journal = events(graph, f"{tenant}/w")

    assert [
        (event["event_type"], event["target_refs"][0])
        for event in journal
        if "ent:" not in event["target_refs"][0]
    ] == [
        ("evidence_captured", "evd_turn1"),
        ("atom_committed", "a"),
        ("atom_updated", "a"),
        ("atom_proposed", "p"),
        ("evidence_captured", journal[-2]["target_refs"][0]),
        ("atom_archived", "a"),
    ]
    for event in journal:
        assert event["actor"] == "svc:test"
        assert event["authorization_context"]["client_id"] == "cli_test"


@pytest.mark.case("C60")
def test_an_acknowledged_write_is_durable_before_its_answer(
    context: Context, graph: Graph, tenant: str
) -> None:
    """There is no queue: when a command answers, another connection reads all of it at once."""
    for n in range(20):
        receipt = commit(
            context,
            {
                "events": [source_event(f"evd_{n}")],
                "atoms": [belief(evidence_refs=[f"evd_{n}"], payload={"object": n})],
            },
        ).record
        assert events(graph, f"{tenant}/w")[-1]["event_id"] == receipt["event_ids"][-1]
        assert receipt["atom_refs"][0] in newest(graph, f"{tenant}/w")


@pytest.mark.case("C60", "C65")
def test_a_disk_that_refuses_a_payload_is_told(
    context_of: ContextOf, graph: Graph, tenant: str, tmp_path: Path
) -> None:
    """A large payload that cannot be archived fails its command on both write paths, as a whole."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    base = context_of()
    context = Context(base.graph, base.settings, Archive(blocked), base.identity, base.scope)
    large = source_event(payload={"text": "x" * 20_000})

    for write, request in ((capture, {"event": large}), (commit, {"events": [large], "atoms": [belief()]})):
        with pytest.raises(AmosError, match="unavailable: the evidence archive cannot be written"):
            write(context, request)

    assert contents(graph, f"{tenant}/w") == {}


def test_a_journal_entry_holds_no_free_text(context: Context, graph: Graph, tenant: str) -> None:
    """Ids, enums and digests only: no text of a memory, an evidence or a reason stands in an event."""
    secret = "xyzzy plugh"
    commit(
        context,
        {
            "events": [source_event(payload={"text": secret})],
            "atoms": [belief(id="a", payload={"object": secret, "qualifiers": {"note": secret}})],
        },
    )
    archive(context, {"atom_id": "a", "reason": secret})

    assert secret not in json.dumps(events(graph, f"{tenant}/w"))
    receipts = rows(graph, "MATCH (r:Receipt {shard: $shard}) RETURN r {.*} AS r", shard=f"{tenant}/w")
    assert len(receipts) == 2
    assert secret not in repr(receipts)


@pytest.mark.reliability("T03")
def test_the_lock_precedes_every_read(context: Context, tenant: str) -> None:
    """Each command takes the shard's lock with its first statement, and never again in that transaction."""
    ran: list[str] = []

    def observe(procedure: Procedure[Any], _rows: list[dict[str, Any]], _counters: Any) -> None:
        ran.append(procedure.name)

    watched = Graph(context.graph.driver, context.graph.database, observer=observe)
    seen = replace(context, graph=watched, causal_parent_ids=())
    commands: list[Callable[[], Any]] = [
        lambda: capture(seen, {"event": source_event()}),
        lambda: commit(seen, {"atoms": [belief(id="a")]}),
        lambda: commit(
            replace(seen, expected_versions={"a": 1}), {"atoms": [belief(id="a", payload={"object": "b"})]}
        ),
        lambda: propose(seen, {"candidates": [belief(id="p", payload={"object": "maybe"})]}),
        lambda: archive(seen, {"atom_id": "a", "reason": "done"}),
        lambda: register_client(
            seen, {"id": "cli_x", "service_id": "svc:x", "capabilities": ["memory.read"]}
        ),
        lambda: revoke_client(seen, "cli_x"),
    ]
    for command in commands:
        ran.clear()
        command()
        assert ran[0] == "journal/lock_shard"
        assert ran.count("journal/lock_shard") == 1
        assert len(ran) > 2
