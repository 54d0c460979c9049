"""Tokens: no call without one, one identical refusal, and the body never outranks it."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from amos_graph.commands.clients import revoke_client
from amos_graph.commands.execution import Context
from amos_graph.domain.times import format_time
from tests.api.conftest import TokenFor, assert_refused, client_of
from tests.samples import belief, source_event

POSTS = (
    "/v1/events:capture",
    "/v1/atoms:propose",
    "/v1/atoms:commit",
    "/v1/atoms:archive",
    "/v1/atoms:get",
    "/v1/packets:retrieve",
)
GETS = ("/v1/atoms", "/v1/verify", "/v1/health/memory")


def _all(http: httpx.Client) -> list[httpx.Response]:
    sent = [http.post(path, json={"payload": {}}) for path in POSTS]
    return sent + [http.get(path) for path in GETS]


def _shown(response: httpx.Response) -> tuple[int, Any]:
    body = response.json()
    del body["request_id"]
    return response.status_code, body


def test_nothing_is_read_or_written_without_a_token(anonymous: httpx.Client) -> None:
    """Only the probes and the documentation answer an anonymous caller."""
    for response in _all(anonymous):
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert_refused(response, 401, "authorization_denied")
    for path in ("/live", "/ready", "/docs", "/openapi.json"):
        assert anonymous.get(path).status_code == 200


@pytest.mark.reliability("T20")
def test_every_bad_token_gets_the_same_answer(url: str, token_for: TokenFor, context: Context) -> None:
    """Missing, malformed, unknown, expired and revoked are not told apart."""
    past = format_time(datetime.now(UTC) - timedelta(seconds=1))
    expired = token_for("cli_expired", expires_at=past)
    revoked = token_for("cli_revoked")
    revoke_client(context, "cli_revoked")
    headers = [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer amos_" + "x" * 43},
        {"Authorization": "Bearer amos_" + "x" * 5_000},
        {"Authorization": f"Bearer {expired}"},
        {"Authorization": f"Bearer {revoked}"},
        {"Authorization": f"bearer {revoked}"},
    ]
    with client_of(url) as http:
        answers = [http.post("/v1/atoms:get", json={"payload": {}}, headers=header) for header in headers]

    assert len({repr(_shown(answer)) for answer in answers}) == 1
    assert_refused(answers[0], 401, "authorization_denied")


@pytest.mark.reliability("T22")
def test_a_revoked_token_is_denied_from_the_next_call_on(
    url: str, token_for: TokenFor, context: Context
) -> None:
    """No cache outlives a revocation, on an open connection either."""
    with client_of(url, token_for("cli_short")) as http:
        assert http.get("/v1/atoms").status_code == 200

        revoke_client(context, "cli_short")

        for response in _all(http):
            assert_refused(response, 401, "authorization_denied")


@pytest.mark.reliability("T22")
def test_a_token_is_good_until_just_before_it_expires(url: str, token_for: TokenFor) -> None:
    """The boundary itself is already too late."""
    until = datetime.now(UTC) + timedelta(seconds=3)
    with client_of(url, token_for("cli_brief", expires_at=format_time(until))) as http:
        assert http.get("/v1/atoms").status_code == 200
        time.sleep(max(0.0, (until - datetime.now(UTC)).total_seconds()))
        assert_refused(http.get("/v1/atoms"), 401, "authorization_denied")


def test_a_capability_that_the_token_lacks_is_denied(url: str, token_for: TokenFor) -> None:
    """A reader cannot write, a writer without `memory.read` cannot read."""
    commit = {"payload": {"atoms": [belief()], "events": [source_event()]}}
    with client_of(url, token_for("cli_reader", capabilities=["memory.read"])) as http:
        assert http.get("/v1/atoms").status_code == 200
        assert_refused(http.post("/v1/atoms:commit", json=commit), 403, "authorization_denied")
        assert_refused(http.get("/v1/verify"), 403, "authorization_denied")
    with client_of(url, token_for("cli_blind", capabilities=["atom.commit"])) as http:
        assert http.post("/v1/atoms:commit", json=commit).status_code == 200
        assert_refused(http.get("/v1/atoms"), 403, "authorization_denied")
        assert_refused(http.get("/v1/health/memory"), 403, "authorization_denied")
        for path in ("/v1/atoms:get", "/v1/packets:retrieve"):
            asked = {"payload": {"atom_id": "belief:a"} if path.endswith("get") else {"cues": ["a"]}}
            assert_refused(http.post(path, json=asked), 403, "authorization_denied")


def test_the_token_outranks_what_a_body_says_of_its_sender(http: httpx.Client, tenant: str) -> None:
    """A body may repeat the token's identity and may not claim another one (design §7)."""
    event = source_event()
    true = {"service_id": "svc:writer", "client_id": "cli_writer", "tenant_id": tenant, "workspace_id": "w"}
    for claims in (
        {"client_identity": true, "payload": {"events": [event]}},
        {"payload": {"events": [event], "actor": "svc:writer"}},
        {"payload": {"events": [event], "requester": "cli_writer"}},
        {"payload": {"events": [event], "authorization_context": true}},
    ):
        assert http.post("/v1/events:capture", json=claims).status_code == 200
    for claims, path in (
        ({"client_identity": {"service_id": "svc:root"}, "payload": {}}, "client_identity.service_id"),
        ({"client_identity": {"agent_id": "agent:x"}, "payload": {}}, "client_identity.agent_id"),
        (
            {"client_identity": {"capabilities": ["memory.read"]}, "payload": {}},
            "client_identity.capabilities",
        ),
        ({"payload": {"events": [event], "actor": "svc:root"}}, "payload.actor"),
        ({"payload": {"events": [event], "actor": True}}, "payload.actor"),
        ({"payload": {"events": [event], "requester": {"id": "x"}}}, "payload.requester"),
        (
            {"payload": {"events": [event], "authorization_context": {"client_id": "cli_root"}}},
            "payload.authorization_context.client_id",
        ),
    ):
        assert_refused(http.post("/v1/events:capture", json=claims), 403, "authorization_denied", path)


def test_a_request_can_narrow_the_tokens_scope_and_not_leave_it(
    url: str, token_for: TokenFor, tenant: str
) -> None:
    """Envelope, payload and query narrow alike; another tenant, workspace or project is refused."""
    bound = {"tenant_id": tenant, "workspace_id": "w", "project_id": "project:a"}
    with client_of(url, token_for("cli_bound", scope=bound)) as http:
        for scope in ({}, {"project_id": "project:a"}, {"project": "project:a"}, {"agent_id": "agent:x"}):
            for body in ({"scope": scope}, {"payload": {"scope": scope}}):
                event = {"source_type": "note", "source_ref": "note"}
                payload = {"events": [event], **body.get("payload", {})}
                answer = http.post("/v1/events:capture", json={**body, "payload": payload})
                assert answer.status_code == 200, answer.text
        for scope in ({"project_id": "project:b"}, {"tenant_id": "other"}, {"workspace_id": "other"}):
            for body in ({"scope": scope}, {"payload": {"scope": scope}}):
                payload = {"events": [source_event("evd_scoped")], **body.get("payload", {})}
                answer = http.post("/v1/events:capture", json={**body, "payload": payload})
                assert_refused(answer, 403, "scope_denied")
        assert_refused(http.get("/v1/atoms", params={"project_id": "project:b"}), 403, "scope_denied")
        assert_refused(http.get("/v1/health/memory", params={"tenant_id": "x"}), 403, "scope_denied")
