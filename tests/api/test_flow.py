"""From capture to archive over HTTP and with the Python client: answers equal what the store holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from amos_graph import Amos
from amos_graph.client import Answer
from amos_graph.errors import AmosError
from tests.samples import belief, source_event


def test_what_a_commit_answers_is_what_a_get_finds(http: httpx.Client) -> None:
    """The receipt names the atom, and the atom read back is the one that was sent (C61)."""
    sent = belief(id="belief:one")
    answer = http.post("/v1/atoms:commit", json={"payload": {"atoms": [sent], "events": [source_event()]}})
    body = answer.json()

    assert answer.status_code == 200, body
    assert body["result_status"] == "accepted"
    assert body["payload"]["atom_refs"] == ["belief:one"]
    assert body["graph_version"] == body["payload"]["graph_version"]
    assert len(body["event_ids"]) == 4

    found = http.post("/v1/atoms:get", json={"payload": {"atom_id": "belief:one"}}).json()

    assert found["payload"]["found"] is True


@pytest.mark.case("C03")
def test_remembering_the_same_sentence_twice_is_one_memory(amos: Amos) -> None:
    """`remember` commits a semantic atom with its note, and the second time changes nothing."""
    first = amos.remember("The cat sleeps on the printer.")
    second = amos.remember("The cat sleeps on the printer.")

    assert first["atom_refs"] == second["atom_refs"]
    assert second.event_ids == ()
    assert amos.get(first["atom_refs"][0])["found"] is True


def test_what_became_of_a_packet_is_told_by_the_packet_or_by_its_id(amos: Amos) -> None:
    """The client sends what the packet says of itself; the same told twice counts once."""
    ref = amos.remember("The cat sleeps on the printer.")["atom_refs"][0]
    packet = amos.recall("Where does the cat sleep?")
    first = amos.outcome(packet, helpful_atom_refs=[ref], outcome_labels=["succeeded"])
    again = [
        amos.outcome(packet.payload, helpful_atom_refs=[ref], outcome_labels=["succeeded"]),
        amos.outcome(packet["packet_id"], helpful_atom_refs=[ref], outcome_labels=["succeeded"]),
    ]

    assert (first["updated"], len(first.event_ids), first.replayed) == ([ref], 1, False)
    assert first.graph_version == packet["graph_version"] + 1
    assert all(answer.replayed and answer.payload == first.payload for answer in again)
    assert amos.get(ref)["item"]["utility"] == 0.55
    with pytest.raises(AmosError) as refused:
        amos.outcome(packet, helpful_atom_refs=[ref, "semantic:other"])
    assert (refused.value.code, refused.value.faults[0].path) == (
        "schema_invalid",
        "payload.helpful_atom_refs[1]",
    )


@pytest.mark.case("C15", "C17")
def test_narrowed_views_of_one_client_do_not_mix_their_scopes(amos: Amos) -> None:
    """Concurrent writes through two views of one connection each land in their own project, all of them."""
    views = {name: amos.within({"project_id": name}) for name in ("project:a", "project:b")}

    def write(number: int) -> None:
        name = ("project:a", "project:b")[number % 2]
        views[name].remember(f"Sentence {number} of {name}.")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))

    for name, view in views.items():
        items = view.list(types=["semantic"], limit=100)["items"]
        assert len(items) == 20
        assert all(item["scope"]["project_id"] == name for item in items)
        assert all(name in item["payload"]["statement"] for item in items)
    assert amos.list()["items"] == []
    assert amos.verify()["ok"] is True


@pytest.mark.reliability("T02")
@pytest.mark.case("C12")
def test_one_key_sent_by_many_at_once_is_one_command(amos: Amos) -> None:
    """Twenty equal requests are one event and twenty equal receipts."""
    event = source_event()

    def capture(_: int) -> Answer:
        return amos.capture(event, idempotency_key="once")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(capture, range(20)))

    assert len({repr(answer.payload) for answer in answers}) == 1
    assert sum(answer.replayed for answer in answers) == 19


def test_memory_health_counts_what_is_there(amos: Amos) -> None:
    """By type, state and health; archived atoms are counted as archived."""
    amos.commit(
        [belief(id="belief:one"), belief(id="belief:two", payload={"object": "x"})], events=[source_event()]
    )
    amos.archive("belief:one", "no longer so")

    found = amos.health()

    assert found["atoms"] == 2
    assert found["by_type"] == {"belief": 2}
    assert found["by_lifecycle_state"] == {"active": 1, "archived": 1}
    assert found["by_health_status"] == {"healthy": 2}


def test_what_a_memory_rests_on_is_told(amos: Amos) -> None:
    """The roots of a remembered sentence are its note; an absent atom is not found."""
    ref = amos.remember("The cat sleeps on the printer.", source_ref="note/1")["atom_refs"][0]

    found = amos.provenance(ref, max_depth=2)

    assert (found["found"], found["independent_support_count"], found["ancestry_depth"]) == (True, 1, 1)
    assert [root["source_ref"] for root in found["roots"]] == ["note/1"]
    assert amos.provenance("semantic:absent")["found"] is False
