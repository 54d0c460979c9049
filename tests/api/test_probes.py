"""`/live` and `/ready` while Neo4j hangs: the one answers, the other does not queue."""

from __future__ import annotations

import threading

import httpx
import pytest
from fastapi import FastAPI

from amos_graph.api import health
from tests.api.conftest import serving


def test_live_answers_and_ready_does_not_queue_while_a_check_hangs(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty probes against a check that hangs: one waits, the others are told 503 at once, `/live` is 200."""
    hanging, released = threading.Event(), threading.Event()

    def hang(_graph: object) -> None:
        hanging.set()
        assert released.wait(30)

    monkeypatch.setattr(health, "check_ready", hang)
    with serving(app) as url, httpx.Client(base_url=url, timeout=5.0, trust_env=False) as http:
        first = threading.Thread(target=lambda: httpx.get(f"{url}/ready", timeout=60, trust_env=False))
        first.start()
        try:
            assert hanging.wait(10)
            answers = [http.get("/ready") for _ in range(50)]
            live = http.get("/live")
        finally:
            released.set()
            first.join()
        assert {answer.status_code for answer in answers} == {503}
        assert answers[0].json()["errors"][0]["code"] == "unavailable"
        assert live.status_code == 200
        # The check came to a good end, and its answer holds for a moment.
        assert http.get("/ready").status_code == 200


def test_a_good_answer_holds_while_the_next_check_runs(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe beside a running check gets the last good answer while that is fresh."""
    readiness: health.Readiness = app.state.readiness
    readiness.check()
    monkeypatch.setattr(health, "READY_FOR_S", 0.0)
    beside: list[str] = []

    def check(_graph: object) -> None:
        readiness.check()
        beside.append("answered")

    monkeypatch.setattr(health, "check_ready", check)
    readiness.check()
    assert beside == ["answered"]


@pytest.mark.parametrize("path", ["/live/", "/ready/", "/v1/atoms/"])
def test_a_path_with_a_slash_too_many_is_not_found(app: FastAPI, path: str) -> None:
    """No redirect: an AmosResponse like on every other path that does not exist."""
    with serving(app) as url:
        answer = httpx.get(url + path, trust_env=False)
    assert answer.status_code == 404
    assert answer.json()["errors"][0]["code"] == "not_found"
