"""What programs of the state machine found, one by one, so that each stays found (T13)."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.errors import AmosError
from amos_graph.queries.list import list_atoms
from amos_graph.queries.verify import verify
from tests.faults.journal import newest
from tests.samples import belief, source_event

pytestmark = pytest.mark.reliability("T13")


@pytest.fixture
def stocked(context: Context) -> Context:
    """A shard with two pieces of evidence."""
    commit(context, {"events": [source_event(), source_event("evd_turn2")]})
    return context


def _says(what: str, **changes: Any) -> dict[str, Any]:
    return belief(payload={"object": what}, **changes)


def _standing(context: Context) -> dict[str, str]:
    items = list_atoms(context, {"lifecycle_states": []})["items"]
    return {item["atom_id"]: item["state_key"] for item in items}


def _refused(context: Context, **request: Any) -> AmosError:
    before = newest(context.graph, context.scope.shard)
    with pytest.raises(AmosError) as caught:
        commit(context, request)
    assert newest(context.graph, context.scope.shard) == before
    return caught.value


def test_an_atom_that_nobody_supersedes_any_more_stands_again(stocked: Context) -> None:
    """The version that drops `supersedes` gives its target back to recall, though it does not name it."""
    commit(stocked, {"atoms": [_says("one", id="a"), _says("two", id="b", supersedes=["a"])]})
    assert _standing(stocked) == {"a": "superseded", "b": "live"}
    commit(stocked, {"atoms": [_says("two", id="b", version=1)]})

    assert _standing(stocked) == {"a": "live", "b": "live"}
    assert verify(stocked.graph, stocked.scope.shard).ok


def test_a_claim_is_never_taken_for_an_atom_that_says_something_else_now(stocked: Context) -> None:
    """The id made from a content was given to it for life, and its atom has changed: told, not lost."""
    (ref,) = commit(stocked, {"atoms": [_says("one")]}).record["atom_refs"]
    commit(stocked, {"atoms": [_says("another", id=ref, version=1)]})
    refused = _refused(stocked, atoms=[_says("one")])

    assert refused.code == "expected_version_conflict"
    assert (refused.details["target_ref"], refused.details["actual_version"]) == (ref, 2)
    assert commit(stocked, {"atoms": [_says("one", evidence_refs=["evd_turn2"])]}).record["created"]


def test_a_proposal_changes_nothing_that_is_active(stocked: Context) -> None:
    """Who may only propose cannot bring back evidence that was taken from an active atom."""
    (ref,) = commit(stocked, {"atoms": [_says("one")]}).record["atom_refs"]
    said_again = propose(stocked, {"candidates": [_says("one")]})
    assert ref in said_again.record["reused"]
    commit(stocked, {"atoms": [_says("one", id=ref, version=1, evidence_refs=["evd_turn2"])]})
    with pytest.raises(AmosError) as caught:
        propose(stocked, {"candidates": [_says("one")]})

    assert caught.value.code == "expected_version_conflict"
    assert newest(stocked.graph, stocked.scope.shard)[ref]["evidence_refs"] == ["evd_turn2"]


def test_an_edge_that_was_asked_for_and_submitted_at_once_is_the_submitters(stocked: Context) -> None:
    """It stays when the atom that asked for it too does so no more."""
    joins = {"relation": "rel:supports", "target_ref": "a"}
    asking = belief(id="b", payload={"object": "two", "graph_relations": [joins]})
    edge = {"source_ref": "b", **joins, "confidence": {"score": 0.5}}
    done = commit(stocked, {"atoms": [_says("one", id="a"), asking], "edges": [edge]})
    commit(stocked, {"atoms": [_says("two", id="b", version=1)]})

    body = newest(stocked.graph, stocked.scope.shard)[done.record["edge_refs"][0]]
    assert (body["derivation"], body["lifecycle_state"]) == ("submitted", "active")


def test_one_request_gives_an_atom_one_successor(stocked: Context) -> None:
    """Of two corrections in one request none is taken, as of two in two requests one is refused."""
    commit(stocked, {"atoms": [_says("one", id="a")]})
    two = [_says("two", id="b", supersedes=["a"]), _says("three", id="c", supersedes=["a"])]

    assert _refused(stocked, atoms=two).code == "expected_version_conflict"


def test_an_archived_atom_keeps_its_one_successor(stocked: Context) -> None:
    """Neither a second successor nor a circle gets in because the superseded atom was archived since."""
    commit(stocked, {"atoms": [_says("one", id="a"), _says("two", id="b", supersedes=["a"])]})
    archive(stocked, {"atom_id": "a", "reason": "old"})
    back = {"source_ref": "a", "relation": "rel:supersedes", "target_ref": "b", "confidence": {"score": 1.0}}

    assert _refused(stocked, atoms=[_says("three", id="c", supersedes=["a"])]).code == (
        "expected_version_conflict"
    )
    assert _refused(stocked, edges=[back]).code == "schema_invalid"


def test_what_a_request_makes_an_atom_say_is_not_stored_beside_it(stocked: Context) -> None:
    """A claim without an id joins the atom that the same request updates to say so."""
    commit(stocked, {"atoms": [_says("one", id="a")]})
    atoms = [_says("two", id="a", version=1), _says("two", evidence_refs=["evd_turn2"])]
    done = commit(stocked, {"atoms": atoms})

    assert done.record["atom_refs"] == ["a", "a"]
    assert newest(stocked.graph, stocked.scope.shard)["a"]["evidence_refs"] == ["evd_turn1", "evd_turn2"]
