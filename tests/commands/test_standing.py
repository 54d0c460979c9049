"""What may change whom: proposals stay apart, one successor wins, edges follow their records."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.capture import capture
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.queries.verify import verify
from tests.conftest import ContextOf
from tests.faults.crowd import at_once, attempt
from tests.samples import belief, interaction, source_event


def seen(context: Context, ref: str, **options: Any) -> dict[str, Any] | None:
    return get_atom(context, {"atom_id": ref, **options})["item"]


def other(caller: Identity, *capabilities: str, **scope: Any) -> Identity:
    bound = Scope.model_validate(caller.scope.record() | scope)
    return replace(
        caller,
        client_id="cli_other",
        service_id="svc:other",
        scope=bound,
        capabilities=frozenset(capabilities),
    )


def test_a_name_in_the_request_opens_no_allow_list(context_of: ContextOf, caller: Identity) -> None:
    """Who the caller is, the token says; a user or agent named in the body is nobody's identity."""
    atom = belief(id="b1", access_policy={"allowed_identities": ["alice"]})
    commit(context_of(), {"events": [source_event()], "atoms": [atom]})
    reader = other(caller, "memory.read")

    for scope in (None, {"user_id": "alice"}, {"agent_id": "alice"}):
        assert seen(context_of(reader, scope=scope), "b1") is None
    assert seen(context_of(other(caller, "memory.read", user_id="alice")), "b1") is not None


def test_a_proposal_is_absent_for_who_only_commits(context_of: ContextOf, caller: Identity) -> None:
    """Neither replaced, nor linked, nor superseded, nor told apart from an atom that does not exist."""
    commit(context_of(), {"events": [source_event()], "atoms": [belief(id="a1")]})
    propose(context_of(), {"candidates": [belief(id="p1", payload={"object": "proposed"})]})
    writer = context_of(other(caller, "atom.commit", "memory.read"))

    def told(ref: str) -> list[Any]:
        edge = {"source_ref": "a1", "target_ref": ref, "confidence": {"score": 0.5}}
        tries = [
            attempt(partial(commit, writer, {"edges": [{**edge, "relation": relation}]}))
            for relation in ("rel:supports", "rel:derived_from")
        ]
        successor = belief(id=f"s-{ref}", payload={"object": "new"}, supersedes=[ref])
        tries.append(attempt(partial(commit, writer, {"atoms": [successor]})))
        expecting = replace(writer, expected_versions={ref: 5})
        tries.append(attempt(partial(commit, expecting, {"enums": [{"id": "enum:x:y", "description": "d"}]})))
        return [
            (tried.error and (tried.error.code, tried.error.message.replace(ref, "REF"))) for tried in tries
        ]

    assert len(told("p1")) == 4
    assert told("p1") == told("absent")
    overwritten = belief(id="p1", payload={"object": "overwritten"}, version=1, lifecycle_state="proposed")
    with pytest.raises(AmosError):
        commit(writer, {"atoms": [overwritten]})
    with pytest.raises(AmosError, match="is proposed"):
        commit(context_of(), {"atoms": [overwritten]})


def test_proposing_changes_no_active_atom(context_of: ContextOf, caller: Identity) -> None:
    """A candidate that says what an active atom says, with other evidence, is a proposal of its own."""
    commit(context_of(), {"events": [source_event()], "atoms": [belief(id="a1")]})
    capture(context_of(), {"event": source_event("evd_turn2")})
    proposer = context_of(other(caller, "atom.propose"))

    receipt = propose(proposer, {"candidates": [belief(evidence_refs=["evd_turn2"])]}).record

    item = seen(context_of(), "a1")
    assert (item and item["version"], receipt["updated"]) == (1, [])
    assert receipt["atom_refs"] != ["a1"]


def test_committing_what_waits_as_a_proposal_is_a_conflict(context: Context) -> None:
    """It is not called reused while nothing becomes active; also where it would jam a conversation."""
    event = interaction("talk", 1)
    propose(context, {"events": [source_event()], "candidates": [belief(), event]})

    for atom in (belief(), event):
        with pytest.raises(AmosError) as refused:
            commit(context, {"atoms": [atom]})
        assert (refused.value.code, refused.value.details["recommended_action"]) == (
            "expected_version_conflict",
            "review",
        )


@pytest.mark.case("C13")
def test_of_two_corrections_at_once_one_wins(context: Context, graph: Graph) -> None:
    """Two atoms supersede one: the second gets a conflict that names the superseded atom and says merge."""
    commit(context, {"events": [source_event()], "atoms": [belief(id="base")]})

    def correct(number: int) -> None:
        successor = belief(id=f"c{number}", payload={"object": f"value {number}"}, supersedes=["base"])
        commit(context, {"atoms": [successor]})

    tried = at_once([partial(correct, number) for number in range(6)])
    refused = [result.error for result in tried if result.error]

    assert len(refused) == 5
    assert {(error.code, error.details["target_ref"]) for error in refused} == {
        ("expected_version_conflict", "base")
    }
    assert verify(graph, context.scope.shard).ok


def test_supersession_goes_in_no_circle(context: Context) -> None:
    """Neither over two commands nor within one."""
    commit(context, {"events": [source_event()], "atoms": [belief(id="old")]})
    commit(context, {"atoms": [belief(id="new", payload={"object": "n"}, supersedes=["old"])]})

    with pytest.raises(AmosError, match="circle"):
        commit(context, {"atoms": [belief(id="old", supersedes=["new"], version=1)]})
    ring = [
        belief(id=f"r{number}", payload={"object": f"r{number}"}, supersedes=[f"r{(number + 1) % 3}"])
        for number in range(3)
    ]
    with pytest.raises(AmosError, match="circle"):
        commit(context, {"atoms": ring})


def test_a_successor_that_others_cannot_see_takes_nothing_from_them(context_of: ContextOf) -> None:
    """A narrower scope or policy than the superseded atom's is refused."""
    commit(context_of(), {"events": [source_event()], "atoms": [belief(id="shared")]})
    inside = context_of(scope={"project_id": "p1"})
    narrow = belief(id="mine", payload={"object": "m"}, supersedes=["shared"])

    with pytest.raises(AmosError, match="could not see"):
        commit(inside, {"atoms": [narrow]})
    with pytest.raises(AmosError, match="could not see"):
        commit(context_of(), {"atoms": [{**narrow, "access_policy": {"denied_identities": ["svc:x"]}}]})


def test_an_atom_stays_writable_after_its_neighbour_was_archived(context: Context, graph: Graph) -> None:
    """Its own edge stays detached and stands in nobody's way."""
    relation = {"graph_relations": [{"relation": "rel:supports", "target_ref": "b2"}]}
    atoms = [belief(id="b2", payload={"object": "t"}), belief(id="b1", payload=relation)]
    commit(context, {"events": [source_event()], "atoms": atoms})
    archive(context, {"atom_id": "b2", "reason": "old"})
    item = seen(context, "b1")
    assert item is not None

    receipt = commit(context, {"atoms": [{**item["record"], "salience": 0.9}]}).record

    assert (receipt["updated"], receipt["linked"]) == (["b1"], [])
    with pytest.raises(AmosError, match="is archived"):
        commit(context, {"atoms": [belief(id="b2", payload={"object": "u"}, version=2)]})
    assert verify(graph, context.scope.shard).ok


def test_an_own_edge_follows_its_atom(context: Context, graph: Graph) -> None:
    """Confidence and audience of an edge that an atom asks for are those that the atom says now."""

    def source(score: float, **changes: Any) -> dict[str, Any]:
        asked = {"relation": "rel:supports", "target_ref": "b2", "confidence": {"score": score}}
        return belief(id="b1", payload={"graph_relations": [asked]}, **changes)

    commit(
        context,
        {"events": [source_event()], "atoms": [belief(id="b2", payload={"object": "t"}), source(0.9)]},
    )
    policy = {"denied_identities": ["svc:x"]}

    receipt = commit(context, {"atoms": [source(0.3, version=1, access_policy=policy)]}).record

    edge = next(ref for ref in receipt["updated"] if ref.startswith("edge_"))
    rows = graph.driver.execute_query(
        "MATCH (a:Atom {shard: $shard, id: 'b1'})-[r {edge_id: $edge}]->() "
        "RETURN r.confidence AS confidence, r.access_class = a.access_class AS same",
        {"shard": context.scope.shard, "edge": edge},
    ).records
    assert [(row["confidence"], row["same"]) for row in rows] == [(0.3, True)]
    assert verify(graph, context.scope.shard).ok


def test_new_evidence_goes_to_what_is_still_said(context: Context) -> None:
    """An atom that the same request makes say something else takes no evidence for its old statement."""
    commit(context, {"events": [source_event()], "atoms": [belief(id="b1")]})
    changed = belief(id="b1", payload={"object": "changed"}, version=1)
    request = {"events": [source_event("evd_2")], "atoms": [changed, belief(evidence_refs=["evd_2"])]}

    refs = commit(context, request).record["atom_refs"]

    item = seen(context, "b1")
    assert refs[0] == "b1" != refs[1]
    assert item is not None
    assert item["record"]["evidence_refs"] == ["evd_turn1"]


@pytest.mark.reliability("T02")
def test_a_key_in_another_scope_or_with_other_versions_is_another_request(context_of: ContextOf) -> None:
    """The same payload under the same key, meant for another project, is a conflict and no receipt."""
    commit(context_of(), {"events": [source_event()]})
    request = {"atoms": [belief()]}
    commit(context_of(scope={"project_id": "pa"}, idempotency_key="k"), request)

    for context in (
        context_of(scope={"project_id": "pb"}, idempotency_key="k"),
        context_of(scope={"project_id": "pa"}, idempotency_key="k", expected_versions={"x": 0}),
    ):
        with pytest.raises(AmosError, match="idempotency_conflict"):
            commit(context, request)


def test_the_past_is_read_under_both_policies(context_of: ContextOf, caller: Identity) -> None:
    """A policy that was loosened shows no old secret, one that was tightened takes the past along."""
    denied = {"access_policy": {"denied_identities": ["svc:other"]}}
    first = commit(
        context_of(),
        {"events": [source_event()], "atoms": [belief(id="opened", **denied), belief(id="closed")]},
    ).graph_version
    changes = [
        belief(id="opened", payload={"object": "redacted"}, version=1),
        belief(id="closed", version=1, **denied),
    ]
    commit(context_of(), {"atoms": changes})
    reader = context_of(other(caller, "memory.read"))

    assert seen(reader, "opened") is not None
    for ref in ("opened", "closed"):
        assert seen(reader, ref, as_of_version=first) is None
    assert list_atoms(reader, {"as_of_version": first})["items"] == []


def test_who_may_not_capture_fills_no_disk(context_of: ContextOf, caller: Identity) -> None:
    """A refused command leaves no archived payload behind."""
    reader = context_of(other(caller, "memory.read"))
    large = source_event(payload={"text": "x" * 20_000})

    for call in (capture, commit, partial(propose)):
        request = {"events": [large]} | ({"candidates": [belief()]} if isinstance(call, partial) else {})
        with pytest.raises(AmosError, match="authorization_denied"):
            call(reader, request)
    assert not reader.settings.archive_folder.exists()


def test_an_entity_is_merged_into_one_that_stands_for_itself(context: Context) -> None:
    """An absent target and a circle are refused."""
    commit(context, {"entities": [{"id": "ent:p:a"}, {"id": "ent:p:b"}]})
    with pytest.raises(AmosError, match="no such entity"):
        commit(context, {"entities": [{"id": "ent:p:a", "merged_into": "ent:p:z", "version": 1}]})
    commit(context, {"entities": [{"id": "ent:p:a", "merged_into": "ent:p:b", "version": 1}]})
    with pytest.raises(AmosError, match="name that one"):
        commit(context, {"entities": [{"id": "ent:p:b", "merged_into": "ent:p:a", "version": 1}]})
