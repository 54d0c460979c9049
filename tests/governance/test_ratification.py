"""Self-ratification: each requirement alone keeps a proposal from becoming active."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from amos_graph.api.app import create_app
from amos_graph.commands.archive import archive, restore
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.commands.governing import govern
from amos_graph.commands.ratification import found, ratify, resolve
from amos_graph.domain.events import EVENT_TYPES
from amos_graph.domain.scope import Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.policy.ratification import ADOPTING, COMMON
from amos_graph.queries.diachronic import diachronic_status
from amos_graph.queries.get import get_atom
from amos_graph.queries.recall import recall
from amos_graph.queries.verify import verify
from amos_graph.settings import Settings
from tests.administrator import run
from tests.clock import Clock
from tests.conftest import ContextOf
from tests.governance.conftest import AGENT, CRITIC, Json, adjudication, again, covenant, judged
from tests.refusals import refusal
from tests.samples import belief, source_event

ASKED = {"proposal_ref": "b1", "adjudication_ref": "adj:1", "expected_version": 1}


def state_of(context: Context, ref: str) -> str:
    found_ = get_atom(context, {"atom_id": ref, "include_proposed": True, "include_archived": True})
    state: str = found_["item"]["lifecycle_state"]
    return state


def native(graph: Graph, context: Context, ref: str) -> set[tuple[str, str, str]]:
    rows = run(
        graph,
        "MATCH (a:Atom {shard: $shard})-[r]->(b:Atom) WHERE $ref IN [a.id, b.id] "
        "RETURN a.id AS source, type(r) AS type, b.id AS target",
        shard=context.scope.shard,
        ref=ref,
    )
    return {(row["source"], row["type"], row["target"]) for row in rows}


def test_what_was_judged_becomes_active_with_its_edges(founded: Context, graph: Graph) -> None:
    """The proposal is live, joined to its judgment and to what its record asks for; the event binds all."""
    commit(founded, {"atoms": [belief(id="b0", payload={"object": "water"})]})
    relation = {"relation": "rel:supports", "target_ref": "b0"}
    propose(founded, {"candidates": [belief(id="b1", payload={"graph_relations": [relation]})]})
    judged(founded)
    receipt = ratify(founded, ASKED).record

    assert receipt["atom_ref"] == "b1"
    assert state_of(founded, "b1") == "active"
    assert native(graph, founded, "b1") == {("b1", "SUPPORTS", "b0"), ("adj:1", "ADJUDICATES", "b1")}
    assert native(graph, founded, "adj:1") >= {("adj:1", "INVOKES", "covenant:1")}
    assert "b1" in {item["atom_ref"] for item in recall(founded, {"cues": ["Amos"]})["items"]}
    (event,) = run(
        graph,
        "MATCH (e:Event {shard: $shard, event_type: 'proposal_ratified'}) RETURN e.payload AS payload",
        shard=founded.scope.shard,
    )
    for told in ('"adjudication_ref":"adj:1"', '"covenant_refs":["covenant:1"]', '"expected_version":1'):
        assert told in event["payload"]
    assert verify(graph, founded.scope.shard).ok


#: Check → what breaks it, and it alone.
BROKEN: dict[str, Json] = {
    "subject": {"subject_ref": "b2"},
    "guidance": {"covenant_refs": ["covenant:none"]},
    "risk_class": {"risk_class": "goal"},
    "predecessor_diff": {"predecessor_diff": [{"path": "/subject", "after": "x"}]},
    "outcome": {"outcome": "deferred"},
    "diachronic": {"diachronic": again(1, original_reasoning_shown=True)},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_judgment_that_misses_one_requirement_adopts_nothing(proposed: Context, name: str) -> None:
    """The refusal names the requirement, and the proposal stays one."""
    if name not in ("guidance", "diachronic"):
        judged(proposed, "adj:0")
    judged(proposed, **BROKEN[name])
    error = refusal(lambda: ratify(proposed, ASKED))
    assert (error.code, error.details["failed"]) == ("authorization_denied", [name])
    assert state_of(proposed, "b1") == "proposed"


def test_every_requirement_of_the_table_has_a_test_that_breaks_it_alone() -> None:
    """What this module breaks by other means is named here."""
    elsewhere = {"capability", "ratifier", "lifecycle", "adjudication", "scope", "critic"}
    assert set(BROKEN) | elsewhere == COMMON.keys() | ADOPTING.keys()


def test_the_capability_is_the_tokens(proposed: Context) -> None:
    """Without self_ratification nobody ratifies; the body cannot bring it."""
    judged(proposed)
    lesser = replace(
        proposed,
        identity=replace(
            proposed.identity, capabilities=proposed.identity.capabilities - {"self_ratification"}
        ),
    )
    assert refusal(lambda: ratify(lesser, ASKED)).code == "authorization_denied"
    error = refusal(lambda: ratify(proposed, {**ASKED, "authorization_context": {"self_ratification": True}}))
    assert (error.code, error.faults[0].path) == ("schema_invalid", "authorization_context")


def test_the_ratifier_is_the_identity_of_the_token(
    proposed: Context, context_of: ContextOf, caller: Identity
) -> None:
    """Another agent neither writes the judgment in its name nor ratifies by it; nor does a token of none."""
    judged(proposed)
    other = Scope.model_validate({**caller.scope.record(), "agent_id": "critic"})
    stranger = context_of(replace(caller, client_id="cli_other", scope=other))
    error = refusal(
        lambda: commit(stranger, {"events": [source_event()], "atoms": [adjudication("adj:2", "b1")]})
    )
    assert error.code == "authorization_denied"
    assert error.faults[0].path == "atoms[0].payload.ratifier.identity_ref"
    nobody = context_of(caller, scope={"agent_id": AGENT})
    error = refusal(lambda: ratify(nobody, ASKED))
    assert error.details["failed"] == ["ratifier"]


def test_a_judgment_needs_its_capability(proposed: Context) -> None:
    """Without self_adjudication an adjudication is not written."""
    lesser = replace(
        proposed,
        identity=replace(
            proposed.identity, capabilities=proposed.identity.capabilities - {"self_adjudication"}
        ),
    )
    assert refusal(lambda: judged(lesser)).code == "authorization_denied"


def test_only_a_proposal_is_ratified(proposed: Context) -> None:
    """What is active already, or was put away, is none; a belief is no adjudication."""
    judged(proposed)
    error = refusal(lambda: ratify(proposed, {**ASKED, "adjudication_ref": "covenant:1"}))
    assert error.faults[0].message.startswith("adjudication")
    ratify(proposed, ASKED)
    error = refusal(lambda: ratify(proposed, {**ASKED, "expected_version": 2}))
    assert error.details["failed"] == ["lifecycle"]


def test_scopes_match(founded: Context) -> None:
    """A judgment of a narrower scope decides on nothing wider, and guidance of the identity holds in both."""
    narrow = {"agent_id": AGENT, "project_id": "p1"}
    within = replace(founded, scope=founded.identity.within(narrow))
    propose(founded, {"candidates": [belief(id="b1")]})
    commit(within, {"atoms": [adjudication("adj:1", "b1") | {"scope": narrow}]})
    assert refusal(lambda: ratify(within, ASKED)).details["failed"] == ["scope"]
    propose(within, {"candidates": [belief(id="b2", payload={"object": "tea"})]})
    commit(within, {"atoms": [adjudication("adj:2", "b2")]})
    asked = {"proposal_ref": "b2", "adjudication_ref": "adj:2", "expected_version": 1}
    assert ratify(within, asked).record["atom_ref"] == "b2"


def test_a_version_that_was_not_judged_is_a_conflict(proposed: Context) -> None:
    """The wording that was judged is the one that is adopted; a judgment of an earlier one does not count."""
    judged(proposed)
    propose(proposed, {"candidates": [belief(id="b1", version=1, payload={"object": "tea"})]})
    assert refusal(lambda: ratify(proposed, ASKED)).code == "expected_version_conflict"
    error = refusal(lambda: ratify(proposed, {**ASKED, "expected_version": 2}))
    assert error.details["failed"] == ["diachronic"]


def test_a_covenant_is_reached_again_apart_and_on_new_experience(founded: Context, clock: Clock) -> None:
    """Too early, or on what was known, counts nothing and blocks nothing that comes later."""
    propose(founded, {"candidates": [covenant("covenant:2", name="calm")]})
    common = {"risk_class": "covenant", "advisory_critic": CRITIC}
    asked = {"proposal_ref": "covenant:2", "expected_version": 1}
    status = {"subject_ref": "covenant:2", "identity_ref": f"ent:agent:{AGENT}"}

    def counted(ref: str, **changes: Any) -> list[str]:
        judged(founded, ref, "covenant:2", **common, **changes)
        told = diachronic_status(founded, status)
        return [one["adjudication_ref"] for one in told["qualifying"]]

    assert counted("adj:1") == ["adj:1"]
    assert counted("adj:2", diachronic=again(2)) == ["adj:1"]
    clock.pass_(days=2)
    assert counted("adj:3", diachronic=again(1)) == ["adj:1"]
    assert counted("adj:4", diachronic=again(2) | {"new_experience_refs": []}) == ["adj:1"]
    assert counted("adj:5", diachronic=again(2) | {"new_experience_refs": ["evd_made_up"]}) == ["adj:1"]
    error = refusal(lambda: ratify(founded, {**asked, "adjudication_ref": "adj:1"}))
    assert error.details["failed"] == ["diachronic"]
    assert counted("adj:6", diachronic=again(2)) == ["adj:1", "adj:6"]
    told = diachronic_status(founded, status)
    assert told["satisfied"]
    assert told["qualifying"][1]["seconds_since_previous"] > 172_800
    assert ratify(founded, {**asked, "adjudication_ref": "adj:6"}).record["diachronic"]["satisfied"]


def test_a_stated_threshold_only_raises_the_bar(proposed: Context) -> None:
    """An adjudication may ask for more than its class does, and for no less."""
    judged(proposed, ratification_threshold={"required_confirmations": 2, "min_interval_seconds": 60})
    assert refusal(lambda: ratify(proposed, ASKED)).details["failed"] == ["diachronic"]
    told = diachronic_status(
        proposed, {"subject_ref": "b1", "identity_ref": AGENT, "required_confirmations": 1}
    )
    assert told["required_confirmations"] == 1
    error = refusal(
        lambda: diachronic_status(
            proposed, {"subject_ref": "b1", "identity_ref": AGENT, "required_confirmations": 2}
        )
    )
    assert (error.code, error.faults[0].path) == ("schema_invalid", "min_interval_seconds")


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        ("rejected", "archived"),
        ("revised", "archived"),
        ("withdrawn", "archived"),
        ("deferred", "proposed"),
        ("contested", "proposed"),
    ],
)
def test_what_is_not_adopted_is_resolved(proposed: Context, graph: Graph, outcome: str, state: str) -> None:
    """Terminal outcomes archive, the others leave a proposal; dissent stays on record."""
    judged(proposed, outcome=outcome, dissent_refs=["evd_turn2"])
    receipt = resolve(proposed, ASKED).record
    assert state_of(proposed, "b1") == state
    assert receipt["adjudication_ref"] == "adj:1"
    (event,) = run(
        graph,
        "MATCH (e:Event {shard: $shard, event_type: 'proposal_resolved'}) RETURN e.payload AS payload",
        shard=proposed.scope.shard,
    )
    assert '"dissent_refs":["evd_turn2"]' in event["payload"]
    joined = {("adj:1", "ADJUDICATES", "b1")} if state == "archived" else set[tuple[str, str, str]]()
    assert native(graph, proposed, "b1") == joined
    assert verify(graph, proposed.scope.shard).ok


def test_deferring_forgets_no_reconstruction(proposed: Context) -> None:
    """A proposal that was deferred is worded as before, so what was reached stays reached."""
    judged(proposed)
    judged(proposed, "adj:2", outcome="deferred")
    resolve(proposed, {**ASKED, "adjudication_ref": "adj:2"})
    assert ratify(proposed, {**ASKED, "expected_version": 2}).record["atom_ref"] == "b1"


def test_what_adopts_does_not_resolve(proposed: Context) -> None:
    """A positive outcome is ratified."""
    judged(proposed)
    error = refusal(lambda: resolve(proposed, ASKED))
    assert (error.code, error.faults[0].path) == ("authorization_denied", "adjudication_ref")


@pytest.mark.reliability("T32")
def test_of_ratifying_and_resolving_at_once_one_happens(proposed: Context, graph: Graph) -> None:
    """Eight callers, half of whom adopt and half reject: one wins."""
    judged(proposed)
    judged(proposed, "adj:2", outcome="rejected")
    done: list[str] = []
    refused: list[str] = []

    def decide(operation: Any, ref: str) -> None:
        try:
            operation(proposed, {**ASKED, "adjudication_ref": ref})
            done.append(ref)
        except AmosError as error:
            refused.append(error.code)

    ways = [(ratify, "adj:1"), (resolve, "adj:2")] * 4
    threads = [threading.Thread(target=decide, args=way) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert set(refused) == {"expected_version_conflict"}
    assert state_of(proposed, "b1") == ("active" if done == ["adj:1"] else "archived")
    assert verify(graph, proposed.scope.shard).ok


def test_a_constitution_begins_once(planner: Context, graph: Graph) -> None:
    """Not a second time, not in a race, and for each agent by itself."""
    propose(planner, {"candidates": [covenant(f"covenant:{n}", name=f"rule_{n}") for n in range(8)]})
    done: list[int] = []
    refused: list[str] = []

    def begin(n: int) -> None:
        try:
            found(planner, {"record_refs": [f"covenant:{n}"]})
            done.append(n)
        except AmosError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=begin, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert set(refused) == {"authorization_denied"}
    item = get_atom(planner, {"atom_id": f"covenant:{done[0]}"})["item"]
    assert item["lifecycle_state"] == "active"
    assert any(ref.startswith("evd_genesis_") for ref in item["evidence_refs"])
    assert verify(graph, planner.scope.shard).ok


def test_nobody_takes_the_place_of_a_beginning(
    planner: Context, context_of: ContextOf, caller: Identity
) -> None:
    """The store's own ids are refused, a token of no agent founds nothing, a belief begins nothing."""
    stolen = source_event("evd_genesis_0000000000000000000000000000000000000000")
    error = refusal(lambda: commit(planner, {"events": [stolen]}))
    assert (error.code, error.faults[0].path) == ("schema_invalid", "events[0].evidence_id")
    propose(planner, {"candidates": [covenant(), belief(id="b1")]})
    assert (
        refusal(lambda: found(context_of(caller), {"record_refs": ["covenant:1"]})).code
        == "authorization_denied"
    )
    error = refusal(lambda: found(planner, {"record_refs": ["b1"]}))
    assert (error.code, error.faults[0].path) == ("schema_invalid", "record_refs[0]")
    error = refusal(lambda: found(planner, {"record_refs": ["covenant:1", "covenant:9"]}))
    assert (error.code, error.faults[0].path) == ("not_found", "record_refs[1]")


RETAIN: Json = {"reason": "no", "retention_class": "durable"}
GENERIC: dict[str, tuple[Any, Json]] = {
    "commit": (commit, {"atoms": [covenant()]}),
    "commit as a new version": (commit, {"atoms": [covenant(rule="Anything goes.") | {"version": 2}]}),
    "propose over it": (propose, {"candidates": [covenant(rule="Anything goes.") | {"version": 2}]}),
    "archive": (archive, {"atom_id": "covenant:1", "reason": "no"}),
    "restore": (restore, {"atom_id": "covenant:1", "reason": "no"}),
    "govern": (govern, {"atom_id": "covenant:1", **RETAIN}),
    "supersede": (
        commit,
        {"atoms": [belief(id="b9", payload={"object": "power"}, supersedes=["covenant:1"])]},
    ),
    "commit the proposal": (commit, {"atoms": [belief(id="b1", version=1)]}),
    "restore the proposal": (restore, {"atom_id": "b1", "reason": "yes"}),
    "archive the proposal": (archive, {"atom_id": "b1", "reason": "no"}),
    "govern the proposal": (govern, {"atom_id": "b1", **RETAIN}),
}


@pytest.mark.parametrize("name", GENERIC)
def test_no_generic_operation_takes_the_place_of_ratification(proposed: Context, name: str) -> None:
    """With every capability and full trust, a proposal stays one, and what binds stays as it is."""
    mighty = replace(proposed, identity=replace(proposed.identity, trust_level=10))
    before = get_atom(mighty, {"atom_id": "covenant:1"})["item"]
    operation, request = GENERIC[name]
    with pytest.raises(AmosError):
        operation(mighty, request)
    assert state_of(mighty, "b1") == "proposed"
    after = get_atom(mighty, {"atom_id": "covenant:1"})["item"]
    assert (after["version"], after["payload"]) == (before["version"], before["payload"])


def test_every_way_to_write_an_atom_is_one_of_these(settings: Settings, graph: Graph) -> None:
    """A new endpoint, or a new event of atoms, has to say here how it leaves proposals alone."""
    app = create_app(graph, settings, Archive(settings.archive_folder))
    posted = {path for path, item in app.openapi()["paths"].items() if "post" in item}
    generic = {f"/v1/atoms:{verb}" for verb in ("commit", "propose", "archive", "restore", "govern")}
    guarded = {
        "/v1/proposals:ratify",
        "/v1/proposals:resolve",
        "/v1/constitutional-records:replace",
        "/v1/constitutional-records:genesis",
    }
    no_atoms = {
        "/v1/events:capture",
        "/v1/retrieval-outcomes",
        "/v1/artifacts:record",
        "/v1/artifacts:expire",
        "/v1/refusals:decide",
    }
    reads = {
        "/v1/atoms:get",
        "/v1/artifacts:get",
        "/v1/packets:retrieve",
        "/v1/provenance:analyze",
        "/v1/ratifications:diachronic-status",
    }
    assert posted == generic | guarded | no_atoms | reads
    assert {name for name, kinds in EVENT_TYPES.items() if "atom" in kinds} == {
        *("atom_proposed", "atom_committed", "atom_updated"),
        *("atom_archived", "atom_restored", "atom_governed"),
        *("constitution_founded", "proposal_ratified", "proposal_resolved"),
        "constitutional_record_replaced",
    }


@pytest.mark.reliability("T20")
def test_what_is_hidden_is_absent_to_its_judge(proposed: Context) -> None:
    """A hidden proposal, judgment or predecessor answers like an unknown one."""
    hidden = belief(id="b2", payload={"object": "tea"}, access_policy={"denied_identities": ["cli_planner"]})
    other = replace(proposed, identity=replace(proposed.identity, client_id="cli_second"))
    propose(other, {"candidates": [hidden]})
    judged(proposed, subject="b2")
    for operation in (ratify, resolve):
        answers = [
            refusal(partial(operation, proposed, {**ASKED, "proposal_ref": ref})).entries()
            for ref in ("b2", "b404")
        ]
        assert answers[0] == answers[1]
    told = [
        diachronic_status(proposed, {"subject_ref": ref, "identity_ref": AGENT}) for ref in ("b2", "b404")
    ]
    assert [one.pop("subject_ref") for one in told] == ["b2", "b404"]
    assert told[0] == told[1]
