"""What a caller may not see answers like what does not exist (T20)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from amos_graph.commands.execution import Context
from amos_graph.queries.verify import checkpoint_of
from tests.api.conftest import TokenFor, client_of
from tests.samples import belief, source_event

HIDDEN: dict[str, Any] = {"access_policy": {"allowed_identities": ["svc:owner"]}}
NAMES = ("hidden", "absent")


def _requests(name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation, pointed at an atom and an evidence record by id."""
    atom, evidence = f"belief:{name}", f"evd_{name}"
    known = belief(id="belief:mine", payload={"object": "ent:project:other"})
    yield "POST", "/v1/atoms:get", {"payload": {"atom_id": atom}}
    yield (
        "POST",
        "/v1/atoms:get",
        {"payload": {"atom_id": atom, "include_archived": True, "as_of_version": 1}},
    )
    yield (
        "POST",
        "/v1/packets:retrieve",
        {"payload": {"cues": [atom], "evaluated_at": "2030-01-01T00:00:00Z"}},
    )
    yield "POST", "/v1/atoms:archive", {"payload": {"atom_id": atom, "reason": "no"}}
    yield "POST", "/v1/atoms:archive", {"payload": {"atom_id": atom, "reason": "no", "expected_version": 1}}
    yield "POST", "/v1/atoms:commit", {"payload": {"atoms": [{**known, "evidence_refs": [evidence]}]}}
    yield "POST", "/v1/atoms:commit", {"payload": {"atoms": [{**known, "supersedes": [atom]}]}}
    yield (
        "POST",
        "/v1/atoms:commit",
        {"payload": {"edges": [_edge("belief:seen", atom)]}},
    )
    yield "POST", "/v1/atoms:propose", {"payload": {"candidates": [{**known, "evidence_refs": [evidence]}]}}
    yield (
        "POST",
        "/v1/atoms:commit",
        {"expected_versions": {atom: 7}, "payload": {"atoms": [known]}},
    )


def _edge(source: str, target: str) -> dict[str, Any]:
    return {
        "source_ref": source,
        "target_ref": target,
        "relation": "rel:supports",
        "confidence": {"level": "high"},
    }


def _answer(response: httpx.Response, name: str) -> str:
    """The whole answer with the name that was asked about, and what is fresh in each, taken out."""
    body: dict[str, Any] = response.json()
    body.pop("request_id")
    text = str(body).replace(name, "NAME")
    payload: dict[str, Any] = body["payload"] or {}
    for key in ("generated_at", "packet_id"):
        fresh = payload.get(key)
        text = text.replace(str(fresh), key) if fresh else text
    return f"{response.status_code} {text}"


@pytest.mark.reliability("T20")
@pytest.mark.case("C20")
def test_a_hidden_record_answers_like_an_absent_one(url: str, token_for: TokenFor, context: Context) -> None:
    """Status and body are the same on every operation, and nothing is written."""
    hidden_event = source_event("evd_hidden", **HIDDEN)
    with client_of(url, token_for("cli_owner")) as owner:
        answer = owner.post(
            "/v1/atoms:commit",
            json={
                "payload": {
                    "events": [hidden_event, source_event()],
                    "atoms": [
                        belief(id="belief:hidden", evidence_refs=["evd_hidden"], **HIDDEN),
                        belief(id="belief:seen"),
                    ],
                }
            },
        )
        assert answer.status_code == 200, answer.text
    with client_of(url, token_for("cli_other")) as other:
        before = checkpoint_of(context.graph, context.scope.shard)
        hidden, absent = (
            [_answer(other.request(m, p, json=body), name) for m, p, body in _requests(name)]
            for name in NAMES
        )

        for one, two in zip(hidden, absent, strict=True):
            assert one == two
        assert checkpoint_of(context.graph, context.scope.shard) == before
        listed = other.get("/v1/atoms").json()["payload"]["items"]
        assert [item["atom_id"] for item in listed] == ["belief:seen"]
        assert other.get("/v1/health/memory").json()["payload"]["atoms"] == 1


@pytest.mark.reliability("T20")
@pytest.mark.case("C25")
def test_an_idempotency_key_of_another_caller_tells_nothing(url: str, token_for: TokenFor) -> None:
    """The same key and payload from another service is a command of its own."""
    body = {"idempotency_key": "shared-key", "payload": {"events": [source_event()]}}
    with client_of(url, token_for("cli_one")) as one, client_of(url, token_for("cli_two")) as two:
        first = one.post("/v1/events:capture", json=body)
        again = one.post("/v1/events:capture", json=body)
        other = two.post("/v1/events:capture", json=body)

    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["payload"] == first.json()["payload"]
    assert "idempotent-replayed" not in other.headers
