"""One shape for every answer, whatever went wrong and wherever."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from amos_graph import Amos
from amos_graph.errors import AmosError
from tests.api.conftest import assert_refused, client_of, serving
from tests.samples import belief, source_event


def test_unknown_paths_and_methods_answer_in_the_one_shape(http: httpx.Client) -> None:
    """404 and 405 are AmosResponses too, and 405 says what is allowed."""
    assert_refused(http.get("/v1/nothing"), 404, "not_found")
    assert_refused(http.post("/v1/atoms:nothing", json={}), 404, "not_found")
    wrong = http.get("/v1/atoms:commit")
    assert_refused(wrong, 405, "not_found")
    assert wrong.headers["allow"] == "POST"
    assert_refused(http.delete("/v1/atoms"), 405, "not_found")


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("limit=x", "query.limit"),
        ("limit=1.5", "query.limit"),
        ("limit=1&limit=2", "query.limit"),
        ("surprise=1", "query.surprise"),
        ("limit=0", "query.limit"),
        ("limit=100000", "query.limit"),
        ("cursor=%00", "query.cursor"),
        ("valid_at=yesterday", "query.valid_at"),
        ("as_of_version=-1", "query.as_of_version"),
        ("project_id=%20", "query.project_id"),
    ],
)
def test_a_wrong_parameter_is_named(http: httpx.Client, query: str, path: str) -> None:
    """A listing refuses what it does not understand, in place of ignoring it."""
    answer = http.get(f"/v1/atoms?{query}")
    assert_refused(answer, 422, "schema_invalid")
    assert answer.json()["errors"][0]["path"] == path


def test_a_fault_of_the_envelope_is_named_there(http: httpx.Client) -> None:
    """What stands beside the payload is not told as if it stood in it."""
    commit = {"payload": {"atoms": [belief(id="belief:one")], "events": [source_event()]}}
    stale = http.post("/v1/atoms:commit", json={**commit, "expected_versions": {"belief:one": 3}})
    assert_refused(stale, 409, "expected_version_conflict")
    orphan = http.post("/v1/atoms:commit", json={**commit, "causal_parent_ids": ["evt_absent"]})
    assert_refused(orphan, 404, "not_found")
    made = http.post("/v1/atoms:commit", json=commit)
    assert made.status_code == 200
    other = belief(id="belief:one", payload={"object": "tea"})
    again = http.post("/v1/atoms:commit", json={"payload": {"atoms": [other]}})
    assert_refused(again, 409, "expected_version_conflict")

    paths = [answer.json()["errors"][0]["path"] for answer in (stale, orphan, again)]
    assert paths == ["expected_versions.belief:one", "causal_parent_ids[0]", "payload.atoms[0]"]


def test_conflicts_are_conflicts_and_carry_the_current_version(http: httpx.Client) -> None:
    """A stale version and a reused key are 409, `conflict`, and not retryable."""
    atom = belief(id="belief:one")
    payload: dict[str, Any] = {"atoms": [atom], "events": [source_event()]}
    assert (
        http.post("/v1/atoms:commit", json={"idempotency_key": "k1", "payload": payload}).status_code == 200
    )

    reused: dict[str, Any] = {"idempotency_key": "k1", "payload": {**payload, "events": []}}
    key = http.post("/v1/atoms:commit", json=reused)
    assert_refused(key, 409, "idempotency_conflict")
    assert key.json()["result_status"] == "conflict"
    assert key.json()["retryable"] is False
    stale = {"expected_versions": {"belief:one": 0}, "payload": {"atoms": [atom]}}
    answer = http.post("/v1/atoms:commit", json=stale)
    assert_refused(answer, 409, "expected_version_conflict")
    assert answer.json()["errors"][0]["details"]["actual_version"] == 1


def test_a_request_id_is_echoed_and_a_bad_one_is_replaced(http: httpx.Client) -> None:
    """The body's id comes first, then the header's; one that is none is never repeated."""
    sent = http.post("/v1/atoms:get", json={"request_id": "req:7", "payload": {"atom_id": "belief:a"}})
    assert sent.json()["request_id"] == "req:7"
    refused = http.post("/v1/atoms:get", json={"request_id": "req:8", "payload": {}})
    assert refused.json()["request_id"] == "req:8"
    assert http.get("/v1/atoms", headers={"X-Request-Id": "h-1"}).json()["request_id"] == "h-1"
    bad = http.get("/v1/atoms", headers={"X-Request-Id": "<script>"}).json()["request_id"]
    assert bad.startswith("req_")


def test_a_scope_is_read_in_one_spelling(http: httpx.Client) -> None:
    """The examples' spelling is taken and warned of wherever a scope may stand; both at once are refused."""
    twice = {"project": "p", "project_id": "p"}
    event = source_event()
    event.pop("evidence_id")
    for path, payload in {
        "/v1/packets:retrieve": {"cues": ["x"]},
        "/v1/atoms:get": {"atom_id": "belief:a"},
        "/v1/events:capture": {"events": [event]},
    }.items():
        answer = http.post(path, json={"payload": {**payload, "scope": {"project": "p"}}}).json()
        assert answer["errors"] == []
        assert answer["warnings"] == ["payload.scope.project: read as project_id"]
        refused = http.post(path, json={"payload": {**payload, "scope": twice}})
        assert_refused(refused, 422, "schema_invalid", "payload.scope.project")
        assert_refused(
            http.post(path, json={"payload": payload, "scope": twice}), 422, "schema_invalid", "scope.project"
        )
    event["scope"] = {"tenant_id": "t", "workspace_id": "w", **twice}
    refused = http.post("/v1/events:capture", json={"payload": {"events": [event]}})
    assert_refused(refused, 422, "schema_invalid", "payload.events[0].scope.project")


def test_an_unforeseen_failure_is_hidden_and_logged_with_its_request(
    app: FastAPI, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The caller learns an id, the log learns the cause."""

    @app.get("/v1/broken")
    def broken() -> None:
        raise ZeroDivisionError("a secret of the inside")

    assert broken
    with serving(app) as url, client_of(url, token) as http, caplog.at_level(logging.ERROR):
        answer = http.get("/v1/broken", headers={"X-Request-Id": "h-2"})

    assert_refused(answer, 500, "internal")
    assert "secret" not in answer.text
    assert "h-2" in caplog.text
    assert "ZeroDivisionError" in caplog.text


class _Answers(httpx.BaseTransport):
    """A network that fails in a given order, and notes what was sent."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.sent: list[dict[str, Any]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(httpx.Response(200, content=request.read()).json())
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _response(status: int, code: str | None) -> httpx.Response:
    errors: list[dict[str, Any]] = [{"code": code, "message": "m", "path": "", "details": {}}] if code else []
    return httpx.Response(
        status,
        json={
            "request_id": "r",
            "result_status": "accepted",
            "graph_version": 1,
            "event_ids": [],
            "warnings": [],
            "errors": errors,
            "retryable": status == 503,
            "payload": {},
        },
    )


def test_the_client_retries_with_one_key_what_may_be_retried() -> None:
    """A cut connection and a 503 are tried again with the same key; the third answer counts."""
    network = _Answers(httpx.ConnectError("cut"), _response(503, "unavailable"), _response(200, None))

    with Amos("http://x", "amos_t", transport=network) as amos:
        amos.capture(source_event())

    keys = {sent["idempotency_key"] for sent in network.sent}
    assert (len(network.sent), len(keys)) == (3, 1)


@pytest.mark.parametrize(
    "code",
    [
        "schema_invalid",
        "authorization_denied",
        "expected_version_conflict",
        "idempotency_conflict",
        "internal",
    ],
)
def test_the_client_does_not_retry_what_would_fail_again(code: str) -> None:
    """Refusals and conflicts are raised at once, with the service's own code."""
    network = _Answers(_response(AmosError(code, "").status, code))

    with Amos("http://x", "amos_t", transport=network) as amos, pytest.raises(AmosError) as raised:
        amos.capture(source_event())

    assert raised.value.code == code
    assert len(network.sent) == 1


_PROXY_PAGE = "<html><h1>502 Bad Gateway</h1></html>"
_PROXY_JSON = {"errors": ["upstream connect error"]}


@pytest.mark.parametrize("status", [502, 503, 504])
@pytest.mark.parametrize("body", [{"text": _PROXY_PAGE}, {"json": _PROXY_JSON}, {"text": ""}], ids=str)
def test_the_client_retries_what_a_proxy_answers_for_the_service(status: int, body: dict[str, Any]) -> None:
    """A proxy's own page is tried again like an answer of ours, with the same key."""
    network = _Answers(httpx.Response(status, **body), httpx.Response(status, **body), _response(200, None))

    with Amos("http://x", "amos_t", transport=network) as amos:
        amos.capture(source_event())

    keys = {sent["idempotency_key"] for sent in network.sent}
    assert (len(network.sent), len(keys)) == (3, 1)


def test_the_client_says_who_answered_when_it_was_never_the_service() -> None:
    """After the last attempt the error is retryable and names the status; other pages are raised at once."""
    away = _Answers(*[httpx.Response(502, text=_PROXY_PAGE)] * 3)
    with Amos("http://x", "t", attempts_max=3, transport=away) as amos, pytest.raises(AmosError) as raised:
        amos.capture(source_event())
    assert (raised.value.code, raised.value.retryable, away.answers) == ("unavailable", True, [])
    assert "HTTP 502" in raised.value.message

    other = _Answers(httpx.Response(200, text="<html>Welcome</html>"))
    with Amos("http://x", "t", transport=other) as amos, pytest.raises(AmosError) as raised:
        amos.recall("anything")
    assert (raised.value.code, raised.value.retryable) == ("internal", False)


@pytest.mark.reliability("T18")
@pytest.mark.parametrize("odd", [float("nan"), 2**53, "\ud800", {1: 2}, {1, 2}], ids=repr)
def test_the_client_refuses_what_no_body_can_carry_before_it_sends(odd: Any) -> None:
    """In the service's own words, with the path, and without a request."""
    network = _Answers()

    with Amos("http://x", "t", transport=network) as amos, pytest.raises(AmosError) as raised:
        amos.capture(source_event(payload={"x": [odd]}))

    assert raised.value.code == "schema_invalid"
    assert raised.value.faults[0].path == "payload.events[0].payload.x[0]"
    assert network.sent == []


def test_the_client_gives_up_after_its_attempts() -> None:
    """Retries are bounded."""
    network = _Answers(*[_response(503, "unavailable")] * 3)

    with (
        Amos("http://x", "amos_t", attempts_max=3, transport=network) as amos,
        pytest.raises(AmosError) as raised,
    ):
        amos.recall("anything")

    assert raised.value.code == "unavailable"
    assert network.answers == []
