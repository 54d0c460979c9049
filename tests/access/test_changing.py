"""Changing is judged apart from reading, on the policy that a record has under the lock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.commands.governing import govern
from amos_graph.domain.scope import Identity, Scope
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.queries.provenance import analyze_provenance
from amos_graph.queries.recall import recall
from amos_graph.queries.verify import verify
from tests.conftest import ContextOf
from tests.refusals import refusal
from tests.samples import belief, source_event

Json = dict[str, Any]
OWNER = {"owner_scope": {"user_id": "ada"}}


@pytest.fixture
def ada(context_of: ContextOf, caller: Identity) -> Context:
    """The owner, who asks within the whole workspace."""
    bound = Scope.model_validate({**caller.scope.record(), "user_id": "ada"})
    return context_of(replace(caller, client_id="cli_ada", service_id="svc:ada", scope=bound))


def stored(context: Context, policy: Json | None = None, **changes: Any) -> Json:
    """A belief with this policy."""
    atom = belief(id="b1", **({"access_policy": policy} if policy else {}), **changes)
    receipt: Json = commit(context, {"events": [source_event()], "atoms": [atom]}).record
    return receipt


def changed(context: Context, policy: Json, says: str) -> Json:
    atom = belief(id="b1", version=1, access_policy=policy, scope={}, payload={"object": says})
    receipt: Json = commit(context, {"atoms": [atom]}).record
    return receipt


def test_a_mutation_policy_keeps_a_record_for_its_owner(context: Context, ada: Context, graph: Graph) -> None:
    """Others read it; the owner changes it."""
    policy = {"mutation_policy": "owner", **OWNER}
    stored(context, policy)
    error = refusal(lambda: changed(context, policy, "tea"))
    assert (error.code, error.faults[0].path) == ("authorization_denied", "atoms[0]")
    assert error.details["rule"] == "specific_policy"
    assert refusal(lambda: archive(context, {"atom_id": "b1", "reason": "no"})).code == "authorization_denied"
    assert get_atom(context, {"atom_id": "b1"})["found"]
    assert changed(ada, policy, "tea")["updated"] == ["b1"]
    assert verify(graph, context.scope.shard).ok


def test_superseding_is_a_change_of_what_is_superseded(context: Context) -> None:
    """Nobody puts another atom in the place of one that they may not change."""
    stored(context, {"mutation_policy": "nobody"})
    later = belief(id="b2", payload={"object": "tea"}, supersedes=["b1"])
    error = refusal(lambda: commit(context, {"atoms": [later]}))
    assert error.code == "authorization_denied"
    assert error.faults[0].path == "atoms[0].supersedes[0]"
    assert not get_atom(context, {"atom_id": "b2"})["found"]


def test_evidence_that_is_added_is_a_change_too(context: Context) -> None:
    """The same content from somebody else adds evidence only where the record may be changed."""
    policy = {"mutation_policy": "nobody"}
    atom = belief(access_policy=policy)
    commit(context, {"events": [source_event()], "atoms": [atom]})
    again = belief(access_policy=policy, evidence_refs=["evd_turn2"])
    error = refusal(lambda: commit(context, {"events": [source_event("evd_turn2")], "atoms": [again]}))
    assert error.code == "authorization_denied"


HIGH: list[tuple[str, Json]] = [
    ("belief", {"health_status": "contradicted"}),
    ("belief", {"retention_class": "durable"}),
    ("belief", {"access_policy": {"denied_identities": ["cli_x"]}}),
    ("preference", {"payload": {"strength": "low"}}),
]
ORDINARY: list[tuple[str, Json]] = [
    ("belief", {"payload": {"object": "tea"}}),
    ("belief", {"health_status": "stale"}),
    ("preference", {"health_status": "stale"}),
]
PREFERENCE = {
    "holder": "ent:user:primary",
    "polarity": "prefers",
    "target": "ent:thing:tea",
    "applicability_scope": "mornings",
    "strength": "high",
}


def change_of(context: Context, kind: str, change: Json) -> Json:
    """A stored atom of this type, and its next version."""
    base = belief(id="b1", type=kind)
    base["payload"] = PREFERENCE if kind == "preference" else base["payload"]
    commit(context, {"events": [source_event()], "atoms": [base]})
    payload = {**base["payload"], **change.get("payload", {})}
    return {**base, **change, "payload": payload, "version": 1}


@pytest.mark.parametrize(("kind", "change"), HIGH)
def test_a_change_of_high_risk_needs_trust(context: Context, kind: str, change: Json) -> None:
    """A token that is not trusted is refused what one that is trusted may do."""
    later = change_of(context, kind, change)
    doubtful = replace(context, identity=replace(context.identity, client_id="cli_new", trust_level=0))
    error = refusal(lambda: commit(doubtful, {"atoms": [later]}))
    assert (error.code, error.details["rule"]) == ("authorization_denied", "high_risk")
    assert commit(context, {"atoms": [later]}).record["updated"] == ["b1"]


@pytest.mark.parametrize(("kind", "change"), ORDINARY)
def test_an_ordinary_change_needs_no_trust(context: Context, kind: str, change: Json) -> None:
    """A token that is not trusted makes changes of lower risk."""
    later = change_of(context, kind, change)
    doubtful = replace(context, identity=replace(context.identity, client_id="cli_new", trust_level=0))
    assert commit(doubtful, {"atoms": [later]}).record["updated"] == ["b1"]


def test_the_trust_that_is_needed_is_a_setting(context: Context, caller: Identity) -> None:
    """AMOS_HIGH_RISK_TRUST_MIN takes effect."""
    stored(context)
    settings = context.settings.model_copy(update={"high_risk_trust_min": 7})
    strict = replace(context, settings=settings, identity=replace(caller, trust_level=6))
    asked = {"atom_id": "b1", "retention_class": "user_pinned", "reason": "keep"}
    assert refusal(lambda: govern(strict, asked)).details["rule"] == "high_risk"
    govern(replace(strict, identity=replace(caller, trust_level=7)), asked)


@pytest.mark.reliability("T19")
def test_withheld_evidence_is_said_and_not_shown(context: Context, ada: Context, graph: Graph) -> None:
    """Get, list, packets, past packets and provenance show the atom and not what it rests on."""
    relation = {"relation": "rel:supports", "target_ref": "b0", "evidence_refs": ["evd_turn1"]}
    commit(context, {"events": [source_event()], "atoms": [belief(id="b0", payload={"object": "water"})]})
    stored(
        context,
        {"evidence_visibility": "owner", **OWNER},
        payload={"object": "oolong", "graph_relations": [relation]},
    )
    version = get_atom(context, {"atom_id": "b1"})["graph_version"]
    for reader, withheld in ((context, True), (ada, False)):
        found = get_atom(reader, {"atom_id": "b1"})["item"]
        then = get_atom(reader, {"atom_id": "b1", "as_of_version": version})["item"]
        listed = next(i for i in list_atoms(reader, {})["items"] if i["atom_ref"] == "b1")
        past = next(
            i for i in list_atoms(reader, {"as_of_version": version})["items"] if i["atom_ref"] == "b1"
        )
        packet = recall(reader, {"cues": ["oolong"]})
        old = recall(reader, {"cues": ["oolong"], "as_of_version": version})
        packed, aged = (next(i for i in one["items"] if i["atom_ref"] == "b1") for one in (packet, old))
        for item in (found, then, listed, past, packed, aged):
            assert item["evidence_withheld"] == withheld
            assert item["evidence_refs"] == ([] if withheld else ["evd_turn1"])
            said = item["payload"]["graph_relations"][0].get("evidence_refs")
            assert said == (None if withheld else ["evd_turn1"])
        for item in (found, then, packed, aged):
            assert len(item["evidence"]) == (0 if withheld else 1)
        analysis = analyze_provenance(reader, {"atom_ref": "b1"})
        assert ("evd_turn1" in str(analysis)) != withheld
    assert verify(graph, context.scope.shard).ok


def test_what_may_not_be_read_is_not_taken_away(context: Context, ada: Context) -> None:
    """A replacement that drops evidence which its author may not see is refused; one that keeps it is not."""
    policy = {"evidence_visibility": "owner", **OWNER}
    stored(context, policy)
    other = belief(id="b1", version=1, access_policy=policy, scope={}, evidence_refs=["evd_turn2"])
    commit(context, {"events": [source_event("evd_turn2")]})
    error = refusal(lambda: commit(context, {"atoms": [other]}))
    assert (error.code, error.faults[0].path) == ("evidence_denied", "atoms[0].evidence_refs")
    assert commit(ada, {"atoms": [other]}).record["updated"] == ["b1"]


def test_governing_changes_policy_and_retention_alone(context: Context, graph: Graph) -> None:
    """The content stays, own edges follow the policy, the reason is evidence, and repeats change nothing."""
    relation = {"relation": "rel:supports", "target_ref": "b0"}
    commit(context, {"events": [source_event()], "atoms": [belief(id="b0", payload={"object": "water"})]})
    stored(context, payload={"graph_relations": [relation]})
    before = get_atom(context, {"atom_id": "b1"})["item"]["record"]
    policy = {"denied_identities": ["cli_guest"]}
    asked = {"atom_id": "b1", "access_policy": policy, "retention_class": "user_pinned", "reason": "mine"}
    receipt = govern(context, {**asked, "expected_version": 1}).record
    after = get_atom(context, {"atom_id": "b1"})["item"]
    assert after["record"]["access_policy"] == policy
    assert after["record"]["retention_class"] == "user_pinned"
    assert after["record"]["payload"] == before["payload"]
    assert after["provenance"]["revision_history"][0]["event_type"] == "atom_governed"
    assert len([ref for ref in receipt["updated"] if ref.startswith("edge_")]) == 1
    edges = [
        row["policy"]
        for row in graph.driver.execute_query(
            "MATCH (e:Edge {shard: $shard, source_ref: 'b1'}) RETURN e.access_policy AS policy",
            shard=context.scope.shard,
        ).records
    ]
    assert edges == ['{"denied_identities":["cli_guest"]}']
    again = govern(context, asked).record
    assert (again["event_ids"], again["updated"]) == ([], [])
    assert govern(context, {"atom_id": "b1", "access_policy": {}, "reason": "all"}).record["updated"]
    assert "access_policy" not in get_atom(context, {"atom_id": "b1"})["item"]["record"]
    assert verify(graph, context.scope.shard).ok


@pytest.mark.reliability("T20")
def test_what_is_hidden_or_put_away_is_not_governed(
    context: Context, context_of: ContextOf, caller: Identity
) -> None:
    """A hidden atom is absent; an archived one is restored first; a proposal is decided otherwise."""
    stored(context, {"denied_identities": ["cli_guest"]})
    guest = context_of(replace(caller, client_id="cli_guest"))
    asked = {"retention_class": "durable", "reason": "keep"}
    hidden, absent = (
        refusal(lambda ref=ref: govern(guest, {"atom_id": ref, **asked})) for ref in ("b1", "b9")
    )
    assert hidden.entries() == absent.entries()
    assert hidden.code == "not_found"
    archive(context, {"atom_id": "b1", "reason": "old"})
    error = refusal(lambda: govern(context, {"atom_id": "b1", **asked}))
    assert (error.code, error.faults[0].path) == ("schema_invalid", "atom_id")


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({"atom_id": "b1", "reason": "x"}, "access_policy"),
        ({"atom_id": "b1", "reason": "x", "retention_class": "forever"}, "retention_class"),
        (
            {"atom_id": "b1", "reason": "x", "access_policy": {"mutation_policy": "owner"}},
            "access_policy.owner_scope",
        ),
        (
            {"atom_id": "b1", "reason": "x", "access_policy": {"mutation_policy": "me"}},
            "access_policy.mutation_policy",
        ),
        ({"atom_id": "b1", "reason": "", "retention_class": "durable"}, "reason"),
    ],
)
def test_a_fault_of_governing_names_its_place(context: Context, request_: Json, path: str) -> None:
    """Bad input is refused with the field's path."""
    error = refusal(lambda: govern(context, {"atom_id": "b1", "reason": "x", **request_}))
    assert (error.code, error.faults[0].path) == ("schema_invalid", path)
