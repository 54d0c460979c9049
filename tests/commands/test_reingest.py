"""Saying things again: identity, duplicates, batches against single commits, and edits that keep the rest."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.queries.verify import verify
from tests.conftest import ContextOf
from tests.faults.journal import checked_journal, contents, newest, rows
from tests.samples import belief, source_event


def _get(context: Context, ref: str) -> dict[str, Any]:
    return get_atom(context, {"atom_id": ref})["item"]["record"]


@pytest.mark.case("C02")
def test_a_batch_makes_the_same_graph_as_single_commits(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """Two turns that state one fact: one atom, one edge and both evidences, in a batch and one by one."""

    def turns(n: int) -> dict[str, Any]:
        return {
            "events": [source_event(f"evd_{n}")],
            "atoms": [belief(evidence_refs=[f"evd_{n}"])],
            "edges": [
                {
                    "source_ref": "goal",
                    "target_ref": "hub",
                    "relation": "rel:supports",
                    "evidence_refs": [f"evd_{n}"],
                    "confidence": {"level": "high", "score": 0.9},
                }
            ],
        }

    def described(name: str, requests: list[dict[str, Any]]) -> Any:
        scope = Scope(tenant_id=name, workspace_id="w")
        identity = Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES))
        context = context_of(identity)
        ends = [belief(id=ref, payload={"object": ref}) for ref in ("goal", "hub")]
        commit(context, {"events": [source_event()], "atoms": ends})
        for request in requests:
            commit(context, request)
        checked_journal(graph, f"{name}/w")
        found = contents(graph, f"{name}/w")
        bodies = newest(graph, f"{name}/w").values()
        said = sorted(
            (str(body["payload"]), sorted(body["evidence_refs"]))
            for body in bodies
            if "type" in body and "payload" in body
        )
        edges = sorted(
            (body["relation"], sorted(body["evidence_refs"])) for body in bodies if "edge_id" in body
        )
        kept = ("Atom", "Edge", "Evidence", "Entity", "[SUPPORTS]", "[EVIDENCED_BY]", "[REFERS_TO]")
        return said, edges, {label: found[label] for label in kept}

    both = turns(1)
    for name, more in turns(2).items():
        both[name] = [*both[name], *more]
    batch = described(f"{tenant}a", [both])
    single = described(f"{tenant}b", [turns(1), turns(2)])

    assert batch == single
    said, edges, found = batch
    assert edges == [("rel:supports", ["evd_1", "evd_2"])]
    assert ["evd_1", "evd_2"] in [evidence for _, evidence in said]
    assert (found["Atom"], found["Edge"], found["[SUPPORTS]"]) == (3, 1, 1)


@pytest.mark.case("C06")
def test_an_edge_to_a_stored_atom_is_an_edge_or_an_error(context: Context, graph: Graph, tenant: str) -> None:
    """Relating a new atom to a stored one makes exactly that edge; a target that is not there is refused."""
    commit(context, {"events": [source_event()], "atoms": [belief(id="b")]})
    edge = {
        "source_ref": "a",
        "target_ref": "b",
        "relation": "rel:supports",
        "confidence": {"level": "high", "score": 0.9},
    }

    receipt = commit(context, {"atoms": [belief(id="a", payload={"object": "a"})], "edges": [edge]}).record

    assert receipt["linked"] == receipt["edge_refs"]
    assert len(receipt["linked"]) == 1
    ends = (
        "MATCH (a:Atom {shard: $shard})-[r:SUPPORTS]->(b:Atom) RETURN a.id AS a, r.edge_id AS edge, b.id AS b"
    )
    assert rows(graph, ends, shard=f"{tenant}/w") == [{"a": "a", "edge": receipt["linked"][0], "b": "b"}]
    before = contents(graph, f"{tenant}/w")
    with pytest.raises(AmosError, match=r"not_found: edges\[0\]\.target_ref"):
        commit(context, {"edges": [{**edge, "target_ref": "ghost"}]})
    assert contents(graph, f"{tenant}/w") == before


@pytest.mark.case("C05", "C06")
def test_an_edge_said_again_is_the_same_edge(context: Context, graph: Graph, tenant: str) -> None:
    """The second time, an edge is reused under its first id, and its native relationship stays one."""
    edge = {
        "source_ref": "a",
        "target_ref": "b",
        "relation": "rel:supports",
        "confidence": {"level": "high", "score": 0.8},
    }
    atoms = [belief(id=ref, payload={"object": ref}) for ref in "ab"]
    first = commit(context, {"events": [source_event()], "atoms": atoms, "edges": [edge]}).record

    second = commit(context, {"edges": [edge]}).record

    assert second["edge_refs"] == first["edge_refs"]
    assert second["reused"] == first["edge_refs"]
    assert second["event_ids"] == []
    assert contents(graph, f"{tenant}/w")["[SUPPORTS]"] == 1


@pytest.mark.case("C03", "C05")
def test_an_edge_said_again_otherwise_keeps_its_own_and_says_so(context: Context) -> None:
    """Without an id, another weight or confidence changes nothing, and the receipt warns of each."""
    edge: dict[str, Any] = {
        "source_ref": "a",
        "target_ref": "b",
        "relation": "rel:supports",
        "weight": 0.5,
        "confidence": {"level": "high", "score": 0.8},
    }
    atoms = [belief(id=ref, payload={"object": ref}) for ref in "ab"]
    first = commit(context, {"events": [source_event()], "atoms": atoms, "edges": [edge]}).record
    ref = first["edge_refs"][0]
    low = {"level": "low", "score": 0.3}

    again = commit(context, {"edges": [edge]}).record
    bare = commit(context, {"edges": [{**edge, "weight": None}]}).record
    other = commit(context, {"edges": [{**edge, "weight": 0.9, "confidence": low}]}).record
    twice = commit(context, {"edges": [edge, {**edge, "weight": 0.9}]}).record

    kept = f"{ref} is there already and keeps its own; to change it, send its edge_id and version"
    assert [first["warnings"], again["warnings"], bare["warnings"]] == [[], [], []]
    assert other["warnings"] == [f"edges[0].weight: {kept}", f"edges[0].confidence: {kept}"]
    assert twice["warnings"] == [f"edges[1].weight: {kept}"]
    for receipt in (again, bare, other, twice):
        assert (receipt["reused"], receipt["event_ids"]) == ([ref], [])

    changed = commit(context, {"edges": [{**edge, "edge_id": ref, "version": 1, "weight": 0.9}]}).record
    assert (changed["updated"], changed["warnings"]) == ([ref], [])


@pytest.mark.case("C07")
def test_the_first_id_still_resolves_after_the_same_content_comes_again(context_of: ContextOf) -> None:
    """Content that comes again, with new evidence or none, is found under the id that it got first."""
    first = commit(context_of(), {"events": [source_event()], "atoms": [belief()]}).record["atom_refs"][0]
    again = commit(
        context_of(),
        {"events": [source_event("evd_turn2")], "atoms": [belief(evidence_refs=["evd_turn2"])]},
    ).record

    assert again["atom_refs"] == [first]
    record = _get(context_of(), first)
    assert (record["id"], record["version"]) == (first, 2)
    assert record["evidence_refs"] == ["evd_turn1", "evd_turn2"]


@pytest.mark.case("C03")
def test_an_identical_memory_with_an_id_of_its_own_deletes_nothing(context_of: ContextOf) -> None:
    """The same text under a caller's own id is a record of its own; the first one stays."""
    first = commit(context_of(), {"events": [source_event()], "atoms": [belief()]}).record["atom_refs"][0]
    commit(context_of(), {"atoms": [belief(id="mine")]})

    assert _get(context_of(), first)["lifecycle_state"] == "active"
    assert _get(context_of(), "mine")["lifecycle_state"] == "active"


@pytest.mark.case("C64")
def test_an_edit_of_one_field_keeps_all_others(context_of: ContextOf) -> None:
    """A record read, changed in one field and sent back whole keeps every other field as it was."""
    rich = belief(
        id="b1",
        payload={"qualifiers": {"unit": "days", "nested": {"kept": None, "list": [1, 2.5, "x"]}}},
        salience=0.25,
        utility=0.75,
        layer="semantic",
        health_flags=["contested"],
        retention_class="project",
        access_policy={"allowed_identities": ["svc:test"]},
        decay_policy={"half_life_days": 30},
        index_refs={"vector": "v1"},
        observed_at="2026-01-02T03:04:05Z",
    )
    rich = {name: value for name, value in rich.items() if name not in ("layer", "health_flags")}
    commit(context_of(), {"events": [source_event()], "atoms": [rich]})
    before = _get(context_of(), "b1")

    commit(context_of(), {"atoms": [{**before, "payload": {**before["payload"], "object": "edited"}}]})

    after = _get(context_of(), "b1")
    changed = {"payload", "version", "updated_at", "last_write_event_id"}
    assert {name: after[name] for name in after if name not in changed} == {
        name: before[name] for name in before if name not in changed
    }
    assert after["payload"] == {**before["payload"], "object": "edited"}
    assert after["version"] == 2


@pytest.mark.case("C70")
def test_an_edited_record_is_found_by_its_id_and_its_new_words(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """After an edit the id resolves, lists find the new values, and the text index has the new words only."""
    commit(
        context_of(),
        {"events": [source_event()], "atoms": [belief(id="b1", payload={"object": "heliotrope"})]},
    )
    commit(context_of(), {"atoms": [belief(id="b1", version=1, payload={"object": "vermilion"})]})

    assert _get(context_of(), "b1")["payload"]["object"] == "vermilion"
    assert [item["atom_id"] for item in list_atoms(context_of(), {})["items"]] == ["b1"]
    search = """
    CALL db.index.fulltext.queryNodes('atom_text', 'search_text:' + $word) YIELD node
    WHERE node.shard = $shard RETURN node.id AS id
    """
    assert rows(graph, search, word="vermilion", shard=f"{tenant}/w") == [{"id": "b1"}]
    assert rows(graph, search, word="heliotrope", shard=f"{tenant}/w") == []


def test_new_evidence_for_an_atom_with_edges_of_its_own_reaches_them(context: Context, tenant: str) -> None:
    """The same content with new evidence, sent without the stored atom's supersession, is taken."""
    sources = [source_event(), source_event("evd_2"), source_event("evd_3")]
    commit(context, {"events": sources, "atoms": [belief(id="old", payload={"object": "ent:project:old"})]})
    relations = [{"relation": "rel:supports", "target_ref": "old"}]
    stated = {"supersedes": ["old"], "evidence_refs": ["evd_turn1"]}
    first = commit(context, {"atoms": [belief(**stated)]})
    with_relation = belief(payload={"object": "ent:project:new", "graph_relations": relations})
    second = commit(context, {"atoms": [with_relation]})

    again = commit(context, {"atoms": [belief(evidence_refs=["evd_2"])]})
    once_more = commit(context, {"atoms": [{**with_relation, "evidence_refs": ["evd_3"]}]})

    assert again.record["atom_refs"] == first.record["atom_refs"]
    assert once_more.record["atom_refs"] == second.record["atom_refs"]
    assert len(again.record["updated"]) == len(once_more.record["updated"]) == 2
    bodies = newest(context.graph, f"{tenant}/w")
    by_evidence = {tuple(body["evidence_refs"]) for ref, body in bodies.items() if ref.startswith("edge_")}
    assert by_evidence == {("evd_turn1", "evd_2"), ("evd_turn1", "evd_3")}
    assert verify(context.graph, f"{tenant}/w").ok
