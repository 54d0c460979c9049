"""The OpenAPI document: each of its examples works as it stands, and each status it can give is declared."""

from __future__ import annotations

from typing import Any

import httpx
from fastapi import FastAPI


def _operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


def test_every_example_is_accepted_in_the_order_of_the_document(http: httpx.Client) -> None:
    """What OpenAPI shows as an example can be sent to a fresh tenant, one after the other."""
    document = http.get("/openapi.json").json()
    sent = 0
    for method, path, operation in _operations(document):
        if method == "get":
            params = {
                parameter["name"]: parameter["example"]
                for parameter in operation.get("parameters", [])
                if "example" in parameter
            }
            answer = http.get(path, params=params)
            assert answer.status_code == 200, (path, answer.json())
            sent += 1
            continue
        for name, example in operation["requestBody"]["content"]["application/json"]["examples"].items():
            body = example["value"]
            if path == "/v1/retrieval-outcomes":
                # The id of a packet depends on who asks and when, so no document can know it.
                asked = body["payload"].get("request", {"cues": ["When is the release?"]})
                packet = http.post("/v1/packets:retrieve", json={"payload": asked}).json()
                body["payload"]["packet_id"] = packet["payload"]["packet_id"]
            answer = http.post(path, json=body)
            assert answer.status_code == 200, (path, name, answer.text)
            assert answer.json()["result_status"] == "accepted"
            sent += 1

    assert sent >= len(_operations(document))


def test_every_operation_declares_its_statuses_and_its_token(app: FastAPI) -> None:
    """All but the probes ask for the token, and every operation declares how it can be refused."""
    for _, path, operation in _operations(app.openapi()):
        probe = path in ("/live", "/ready")
        assert ("security" in operation) is not probe, path
        assert operation["summary"], path
        assert operation["description"], path
        if not probe:
            assert {"200", "403", "404", "409", "422", "429", "500", "503"} <= set(operation["responses"]), (
                path
            )
