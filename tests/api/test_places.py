"""A refusal names the place in the request as its sender wrote it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import TokenFor
from tests.samples import belief, source_event

WRONG = source_event(source_type="Not A Type")


@pytest.mark.parametrize(
    ("path", "payload", "place"),
    [
        ("/v1/events:capture", WRONG, "payload.source_type"),
        ("/v1/events:capture", {"event": WRONG}, "payload.event.source_type"),
        ("/v1/events:capture", {"events": [source_event(), WRONG]}, "payload.events[1].source_type"),
        ("/v1/events:capture", {"event": source_event(), "events": [source_event()]}, "payload.event"),
        ("/v1/atoms:commit", belief(salience="high"), "payload.salience"),
        ("/v1/atoms:commit", {"atom": belief(salience="high")}, "payload.atom.salience"),
        ("/v1/atoms:commit", {"atoms": [belief(salience="high")]}, "payload.atoms[0].salience"),
        ("/v1/atoms:commit", {"events": [WRONG]}, "payload.events[0].source_type"),
    ],
)
def test_a_fault_has_the_path_that_was_sent(
    http: httpx.Client, path: str, payload: dict[str, Any], place: str
) -> None:
    """A bare record is not in a list that its sender never wrote."""
    answer = http.post(path, json={"payload": payload})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == place


def test_a_scope_that_is_out_of_reach_is_named(
    http: httpx.Client, url: str, token_for: TokenFor, tenant: str
) -> None:
    """In the query, in the payload and in the envelope."""
    bound = {"tenant_id": tenant, "workspace_id": "w", "project_id": "p1"}
    headers = {"Authorization": f"Bearer {token_for('cli_bound', scope=bound)}"}
    with httpx.Client(base_url=url, headers=headers) as narrow:
        answers = {
            "query.project_id": narrow.get("/v1/atoms", params={"project_id": "p2"}),
            "payload.scope.project_id": narrow.post(
                "/v1/atoms:get", json={"payload": {"atom_id": "b1", "scope": {"project_id": "p2"}}}
            ),
            "scope.project_id": narrow.post(
                "/v1/atoms:get", json={"payload": {"atom_id": "b1"}, "scope": {"project_id": "p2"}}
            ),
        }
    for place, answer in answers.items():
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (403, place)


def test_a_conflict_over_evidence_names_the_event(http: httpx.Client) -> None:
    """The second of two events says otherwise than what is stored."""
    assert http.post("/v1/events:capture", json={"payload": source_event()}).status_code == 200
    other = source_event(payload={"text": "something else"})
    answer = http.post("/v1/events:capture", json={"payload": {"events": [source_event("evd_new"), other]}})
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (409, "payload.events[1]")


def test_an_event_need_not_repeat_tenant_and_workspace(http: httpx.Client) -> None:
    """They are the request's, as for atoms."""
    sent = source_event(scope={"project_id": "p1"})
    assert http.post("/v1/events:capture", json={"payload": {"event": sent}}).status_code == 200


def test_the_key_may_stand_in_the_header(http: httpx.Client) -> None:
    """A repeat is a repeat; another key in the body, or another request under the key, is refused."""
    headers = {"Idempotency-Key": "k1"}
    first = http.post("/v1/events:capture", json={"payload": source_event()}, headers=headers)
    again = http.post(
        "/v1/events:capture", json={"payload": source_event(), "idempotency_key": "k1"}, headers=headers
    )
    assert again.json()["payload"] == first.json()["payload"]
    assert again.headers["Idempotent-Replayed"] == "true"
    differs = {"payload": source_event(), "idempotency_key": "k2"}
    refused = http.post("/v1/events:capture", json=differs, headers=headers)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "idempotency_key")
    other = {"payload": source_event(payload={"text": "other"}), "idempotency_key": "k1"}
    refused = http.post("/v1/events:capture", json=other)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (409, "idempotency_key")
