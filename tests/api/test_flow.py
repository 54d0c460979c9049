"""From capture to archive over HTTP and with the Python client: answers equal what the store holds."""

from __future__ import annotations

import httpx
import pytest

from amos_graph import Amos
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
