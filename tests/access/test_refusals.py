"""What is refused and kept: the review queue, the conflict queue, rejections."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.deciding import decide_refusal
from amos_graph.commands.execution import Context
from amos_graph.commands.governing import govern
from amos_graph.domain.scope import Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from amos_graph.queries.refusals import list_refusals
from amos_graph.queries.verify import verify
from tests.conftest import ContextOf
from tests.refusals import refusal
from tests.samples import belief, source_event

Json = dict[str, Any]
REVIEW = {"mutation_policy": "review"}


@pytest.fixture
def steward(context_of: ContextOf, caller: Identity) -> Context:
    """Somebody else who decides."""
    return context_of(replace(caller, client_id="cli_steward", service_id="svc:steward"))


@pytest.fixture
def guarded(context: Context) -> Context:
    """A belief that is changed after a review alone."""
    commit(context, {"events": [source_event()], "atoms": [belief(id="b1", access_policy=REVIEW)]})
    return context


def change(context: Context, says: str = "tea") -> Json:
    atom = belief(id="b1", version=1, access_policy=REVIEW, scope={}, payload={"object": says})
    receipt: Json = commit(context, {"atoms": [atom]}).record
    return receipt


def queued(context: Context, **filters: Any) -> list[Json]:
    items: list[Json] = list_refusals(context, filters)["items"]
    return items


def decide(context: Context, ref: str, decision: str, **more: Any) -> Json:
    receipt: Json = decide_refusal(context, {"refusal_id": ref, "decision": decision, **more}).record
    return receipt


def test_what_needs_a_review_waits_and_is_done_once_when_approved(
    guarded: Context, steward: Context, graph: Graph
) -> None:
    """The same command sent again is carried out once; a third time it waits anew."""
    assert refusal(lambda: change(guarded)).code == "review_required"
    (waiting,) = queued(steward, codes=["review_required"])
    assert waiting["operation"] == "commit_atoms"
    assert waiting["target_refs"] == ["b1"]
    assert waiting["request"]["atoms"][0]["payload"]["object"] == "tea"
    assert refusal(lambda: change(guarded)).code == "review_required"
    assert queued(steward)[0]["attempts"] == 2

    decide(steward, waiting["id"], "approve")
    assert refusal(lambda: change(guarded, "coffee")).code == "review_required"
    assert change(guarded)["updated"] == ["b1"]
    assert get_atom(guarded, {"atom_id": "b1"})["item"]["payload"]["object"] == "tea"
    assert queued(steward, statuses=["used"])[0]["decided_by"] == "cli_steward"
    # The next change is another command, and this one's version is another too.
    later = belief(id="b1", version=2, access_policy=REVIEW, payload={"object": "milk"})
    assert refusal(lambda: commit(guarded, {"atoms": [later]})).code == "review_required"
    assert verify(graph, guarded.scope.shard).ok


def test_whoever_asks_does_not_approve(guarded: Context, context_of: ContextOf, caller: Identity) -> None:
    """Neither the same token nor another one of the same user or agent."""
    bound = Scope.model_validate({**caller.scope.record(), "user_id": "ada"})
    one = context_of(replace(caller, client_id="cli_one", scope=bound))
    two = context_of(replace(caller, client_id="cli_two", scope=bound))
    assert refusal(lambda: change(one)).code == "review_required"
    (waiting,) = queued(two)
    for asker in (one, two):
        error = refusal(partial(decide, asker, waiting["id"], "approve"))
        assert (error.code, error.faults[0].path) == ("authorization_denied", "decision")
    assert decide(two, waiting["id"], "decline")["status"] == "declined"
    assert refusal(lambda: change(one)).code == "review_required"
    assert queued(two, statuses=["declined"])[0]["attempts"] == 2
    assert queued(two, codes=["review_required"]) == []


def test_what_was_decided_is_not_decided_again(guarded: Context, steward: Context) -> None:
    """Of two decisions one wins, and the other learns of it."""
    refusal(lambda: change(guarded))
    (waiting,) = queued(steward)
    ref = waiting["id"]
    assert (
        refusal(lambda: decide(steward, ref, "approve", expected_version=7)).code
        == "expected_version_conflict"
    )
    decide(steward, ref, "decline", expected_version=1)
    error = refusal(lambda: decide(steward, ref, "approve"))
    assert (error.code, error.faults[0].path) == ("schema_invalid", "refusal_id")


@pytest.mark.reliability("T32")
def test_an_approval_is_used_once_in_a_race(guarded: Context, steward: Context, graph: Graph) -> None:
    """Eight callers send the approved command at once: one carries it out."""
    refusal(lambda: change(guarded))
    decide(steward, queued(steward)[0]["id"], "approve")
    done: list[Json] = []
    refused: list[str] = []

    def send() -> None:
        try:
            done.append(change(guarded))
        except AmosError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Whoever comes later finds the content as wanted already, or the version gone on.
    assert sum(bool(receipt["event_ids"]) for receipt in done) == 1
    assert set(refused) <= {"expected_version_conflict", "review_required"}
    assert verify(graph, guarded.scope.shard).ok


def test_conflicts_of_high_risk_stand_in_a_queue(context: Context, steward: Context) -> None:
    """A stale correction of a preference is kept; one of an ordinary belief is not."""
    payload = {
        "holder": "ent:user:primary",
        "polarity": "prefers",
        "target": "ent:thing:tea",
        "applicability_scope": "mornings",
        "strength": "high",
    }
    preference = belief(id="p1", type="preference") | {"payload": payload}
    commit(context, {"events": [source_event()], "atoms": [preference, belief(id="b1")]})
    stale = [
        preference | {"version": 5, "payload": {**payload, "strength": "low"}},
        belief(id="b1", version=5, payload={"object": "tea"}),
    ]
    for atom in stale:
        error = refusal(partial(commit, context, {"atoms": [atom]}))
        assert error.code == "expected_version_conflict"
    (kept,) = queued(steward, codes=["expected_version_conflict"])
    assert kept["target_refs"] == ["p1"]
    assert "request" not in kept
    error = refusal(lambda: decide(steward, kept["id"], "approve"))
    assert (error.code, error.faults[0].path) == ("schema_invalid", "decision")
    assert decide(steward, kept["id"], "dismiss")["status"] == "dismissed"
    assert queued(steward) == []


@pytest.mark.case("C75")
def test_a_refusal_of_high_risk_leaves_an_event_and_no_change(
    context: Context, context_of: ContextOf, caller: Identity, steward: Context, graph: Graph
) -> None:
    """The journal tells who was refused what and by which rule, without a word of what was asked for."""
    commit(context, {"events": [source_event()], "atoms": [belief(id="b1")]})
    weak = context_of(replace(caller, client_id="cli_weak", capabilities=frozenset({"memory.read"})))
    asked = {"atom_id": "b1", "retention_class": "durable", "reason": "a secret reason"}
    assert refusal(lambda: govern(weak, asked)).code == "authorization_denied"
    (kept,) = queued(steward)
    assert (kept["code"], kept["operation"]) == ("authorization_denied", "govern_atom")
    assert (kept["client_id"], kept["risk"]) == ("cli_weak", "high")
    found = graph.driver.execute_query(
        "MATCH (e:Event {shard: $shard, event_type: 'command_rejected'}) RETURN e {.*} AS event",
        shard=context.scope.shard,
    ).records
    assert len(found) == 1
    assert "secret" not in str(found[0]["event"]) + str(kept)
    assert get_atom(context, {"atom_id": "b1"})["item"]["version"] == 1
    assert verify(graph, context.scope.shard).ok


def test_an_audited_record_keeps_every_refusal(
    context: Context, context_of: ContextOf, caller: Identity, steward: Context
) -> None:
    """With audit_level full, a refused change of low risk is kept too."""
    for ref, level in (("b1", "full"), ("b2", "standard")):
        policy = {"mutation_policy": "nobody", "audit_level": level}
        atom = belief(id=ref, access_policy=policy, payload={"object": ref})
        commit(context, {"events": [source_event()], "atoms": [atom]})
        later = belief(id=ref, version=1, access_policy=policy, payload={"object": ref}, salience=0.9)
        assert refusal(partial(commit, context, {"atoms": [later]})).code == "authorization_denied"
    (kept,) = queued(steward)
    assert kept["target_refs"] == ["b1"]


@pytest.mark.reliability("T20")
def test_refusals_of_another_scope_are_absent(
    guarded: Context, context_of: ContextOf, caller: Identity
) -> None:
    """A steward of one project neither lists nor decides what another project's caller was refused."""
    inside = context_of(scope={"project_id": "p1"})
    refusal(lambda: change(inside))
    (waiting,) = queued(context_of(scope={"project_id": "p1"}))
    elsewhere = context_of(replace(caller, client_id="cli_else"), scope={"project_id": "p2"})
    assert queued(elsewhere) == []
    hidden, absent = (
        refusal(partial(decide, elsewhere, ref, "decline")) for ref in (waiting["id"], "rfs_" + "0" * 40)
    )
    assert hidden.entries() == absent.entries()
    # And no ordinary read finds one.
    assert refusal(lambda: get_atom(guarded, {"atom_id": waiting["id"]})).code == "schema_invalid"


def test_the_listing_is_paged(context: Context, steward: Context) -> None:
    """Pages are bounded, in order, and a cursor is good for its filters alone."""
    atoms = [belief(id=f"b{n}", access_policy=REVIEW, payload={"object": f"t{n}"}) for n in range(5)]
    commit(context, {"events": [source_event()], "atoms": atoms})
    for atom in atoms:
        later = atom | {"version": 1, "salience": 0.9}
        refusal(partial(commit, context, {"atoms": [later]}))
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = list_refusals(steward, {"limit": 2, **({"cursor": cursor} if cursor else {})})
        seen += [item["target_refs"][0] for item in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [f"b{n}" for n in range(5)]
    assert cursor is None
    first = list_refusals(steward, {"limit": 2})["next_cursor"]
    error = refusal(lambda: list_refusals(steward, {"limit": 2, "cursor": first, "statuses": ["used"]}))
    assert error.faults[0].path == "cursor"
    assert refusal(lambda: list_refusals(steward, {"limit": 201})).faults[0].path == "limit"
    assert refusal(lambda: list_refusals(steward, {"codes": ["internal"]})).faults[0].path == "codes[0]"


def test_a_flood_of_attempts_is_counted_to_a_bound(
    guarded: Context, steward: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the bound an attempt leaves no trace, and is refused all the same."""
    monkeypatch.setattr("amos_graph.commands.refusals.ATTEMPTS_MAX", 3)
    for _ in range(6):
        assert refusal(lambda: change(guarded)).code == "review_required"
    (waiting,) = queued(steward)
    assert (waiting["attempts"], waiting["version"]) == (3, 3)
