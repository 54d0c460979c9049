"""Restoring: an archived atom is active again, with the edges that were detached with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.archive import archive, restore
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from amos_graph.queries.recall import recall
from amos_graph.queries.verify import verify
from tests.administrator import run
from tests.samples import belief, source_event

Json = dict[str, Any]


def edge(source: str, relation: str, target: str) -> Json:
    return {
        "edge_id": f"edge_{source}_{target}",
        "source_ref": source,
        "target_ref": target,
        "relation": f"rel:{relation}",
        "evidence_refs": ["evd_turn1"],
        "confidence": {"score": 1.0},
    }


@pytest.fixture
def stocked(context: Context) -> Context:
    """Three beliefs in a row, and one that the first derives from."""
    atoms = [belief(id=ref, payload={"object": f"tea with {ref}"}) for ref in ("b1", "b2", "b3", "b0")]
    joins = [("b1", "supports", "b2"), ("b2", "supports", "b3"), ("b1", "derived_from", "b0")]
    commit(context, {"events": [source_event()], "atoms": atoms, "edges": [edge(*join) for join in joins]})
    return context


def put(context: Context, operation: Any, ref: str, **request: Any) -> Json:
    receipt: Json = operation(context, {"atom_id": ref, "reason": "as the user said", **request}).record
    return receipt


def native(graph: Graph, context: Context) -> set[tuple[str, str, str]]:
    """The native relationships between atoms."""
    rows = run(
        graph,
        "MATCH (a:Atom {shard: $shard})-[r]->(b:Atom) RETURN a.id AS source, type(r) AS type, b.id AS target",
        shard=context.scope.shard,
    )
    return {(row["source"], row["type"], row["target"]) for row in rows}


def test_what_was_archived_comes_back_with_its_edges(stocked: Context, graph: Graph) -> None:
    """Atom, edges and recall are as before, two versions later; reasons are kept, and the store verifies."""
    before = native(graph, stocked)
    put(stocked, archive, "b2")
    assert native(graph, stocked) == {("b1", "DERIVED_FROM", "b0")}

    receipt = put(stocked, restore, "b2", expected_version=2)

    assert native(graph, stocked) == before
    assert set(receipt["updated"]) == {"b2", "edge_b1_b2", "edge_b2_b3"}
    assert len(receipt["created"]) == 1
    item = get_atom(stocked, {"atom_id": "b2"})["item"]
    assert (item["version"], item["lifecycle_state"]) == (3, "active")
    assert [entry["event_type"] for entry in item["provenance"]["revision_history"]] == [
        "atom_restored",
        "atom_archived",
        "atom_committed",
    ]
    assert "b2" in {found["atom_ref"] for found in recall(stocked, {"cues": ["tea with b2"]})["items"]}
    assert verify(graph, stocked.scope.shard).ok


def test_an_edge_waits_for_its_other_end(stocked: Context, graph: Graph) -> None:
    """An edge between two archived atoms is attached when the second of them is back."""
    put(stocked, archive, "b2")
    put(stocked, archive, "b3")

    first = put(stocked, restore, "b2")
    waiting = native(graph, stocked)
    second = put(stocked, restore, "b3")

    assert set(first["updated"]) == {"b2", "edge_b1_b2"}
    assert ("b2", "SUPPORTS", "b3") not in waiting
    assert set(second["updated"]) == {"b3", "edge_b2_b3"}
    assert ("b2", "SUPPORTS", "b3") in native(graph, stocked)
    assert verify(graph, stocked.scope.shard).ok


def test_who_was_superseded_meanwhile_stays_so(stocked: Context, graph: Graph) -> None:
    """Restoring an atom puts it before its successor as little as committing it anew would."""
    commit(stocked, {"atoms": [belief(id="newer", supersedes=["b1"], payload={"object": "coffee"})]})
    put(stocked, archive, "b1")

    put(stocked, restore, "b1")

    assert get_atom(stocked, {"atom_id": "b1"})["omissions"] == [{"reason": "superseded"}]
    keys = "MATCH (a:Atom {shard: $shard, id: 'b1'}) RETURN a.state_key AS key, a:Live AS live"
    assert run(graph, keys, shard=stocked.scope.shard) == [{"key": "superseded", "live": False}]
    assert verify(graph, stocked.scope.shard).ok


def test_only_what_was_archived_is_restored(stocked: Context) -> None:
    """An active atom, a proposal, an absent one and another version are refused, and nothing changes."""
    propose(stocked, {"candidates": [belief(id="maybe", payload={"object": "rain"})]})
    put(stocked, archive, "b3")
    version = get_atom(stocked, {"atom_id": "b1"})["graph_version"]
    reader = replace(stocked, identity=replace(stocked.identity, capabilities=frozenset({"memory.read"})))

    for context, ref, expected, code in (
        (stocked, "b1", None, "schema_invalid"),
        (stocked, "maybe", None, "authorization_denied"),
        (stocked, "absent", None, "not_found"),
        (stocked, "b3", 1, "expected_version_conflict"),
        (reader, "b3", None, "authorization_denied"),
    ):
        with pytest.raises(AmosError) as refused:
            put(context, restore, ref, **({"expected_version": expected} if expected else {}))
        assert refused.value.code == code, ref
    assert get_atom(stocked, {"atom_id": "b1"})["graph_version"] == version


def test_a_restore_sent_twice_is_done_once(stocked: Context) -> None:
    """With its key the second one gets the first one's receipt; without it there is nothing to restore."""
    put(stocked, archive, "b3")
    keyed = replace(stocked, idempotency_key="again")

    first = put(keyed, restore, "b3")

    assert put(keyed, restore, "b3") == first
    with pytest.raises(AmosError, match="no transition leads from active to active"):
        put(stocked, restore, "b3")
