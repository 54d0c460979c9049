"""The OpenAPI document: each of its examples works as it stands, and each status it can give is declared."""

from __future__ import annotations

from typing import Any

import httpx
from fastapi import FastAPI

from amos_graph.policy.difference import difference
from amos_graph.settings import Settings
from tests.api.conftest import TokenFor
from tests.clock import Clock
from tests.governance.conftest import AGENT, CRITIC, adjudication, again, covenant
from tests.samples import belief, source_event


def _operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


class Stage:
    """What the examples of some operations need to be there: an id that nobody can know, an agent, time."""

    def __init__(self, http: httpx.Client, agent_token: str, clock: Clock) -> None:
        self.http, self.clock = http, clock
        self.agent = {"Authorization": f"Bearer {agent_token}"}

    def headers(self, path: str) -> dict[str, str]:
        """Only an agent adopts anything."""
        return self.agent if path.startswith(("/v1/proposals", "/v1/constitutional-records")) else {}

    def prepare(self, path: str, payload: dict[str, Any]) -> None:
        match path:
            case "/v1/retrieval-outcomes":
                # The id of a packet depends on who asks and when, so no document can know it.
                asked = payload.get("request", {"cues": ["When is the release?"]})
                packet = self.http.post("/v1/packets:retrieve", json={"payload": asked}).json()
                payload["packet_id"] = packet["payload"]["packet_id"]
            case "/v1/refusals:decide":
                found = self.http.post("/v1/atoms:get", json={"payload": {"atom_id": "belief:release-day"}})
                changed = {**found.json()["payload"]["item"]["record"], "salience": 0.9}
                refused = self.http.post("/v1/atoms:commit", json={"payload": {"atom": changed}})
                assert refused.json()["errors"][0]["code"] == "review_required"
                kept = self.http.get("/v1/refusals").json()["payload"]["items"]
                payload["refusal_id"] = kept[0]["id"]
            case "/v1/constitutional-records:genesis":
                events = [source_event(f"evd_turn{n}") for n in range(1, 4)]
                self._post("/v1/events:capture", {"events": events})
                self._post("/v1/atoms:propose", {"candidates": [covenant("covenant:plain-reports")]})
            case "/v1/proposals:ratify" | "/v1/proposals:resolve":
                ref = payload["proposal_ref"]
                outcome = ref.removeprefix("belief:")
                self._post("/v1/atoms:propose", {"candidates": [belief(id=ref, payload={"object": outcome})]})
                self._judge(payload["adjudication_ref"], ref, outcome=outcome)
            case "/v1/constitutional-records:replace":
                self._succeed(payload["successor_ref"], payload["adjudication_ref"])
            case _:
                pass

    def _succeed(self, successor: str, judgment: str) -> None:
        """A successor that was judged twice, days apart."""
        before, links = covenant()["payload"], {"predecessor_ref": "covenant:plain-reports"}
        diff = difference(before, {**before, "precedence": 9})
        said = covenant(successor, precedence=9, predecessor_diff=diff, **links)
        self._post("/v1/atoms:propose", {"candidates": [said]})
        for n, ref in ((2, f"{judgment}-before"), (3, judgment)):
            self._judge(
                ref,
                successor,
                risk_class="covenant",
                advisory_critic=CRITIC,
                predecessor_diff=diff,
                diachronic=again(n),
            )
            self.clock.pass_(days=2)

    def _judge(self, ref: str, subject: str, **changes: Any) -> None:
        said = adjudication(ref, subject, covenant_refs=["covenant:plain-reports"], **changes)
        self._post("/v1/atoms:commit", {"atoms": [said]})

    def _post(self, path: str, payload: dict[str, Any]) -> None:
        answer = self.http.post(path, json={"payload": payload}, headers=self.agent)
        assert answer.status_code == 200, (path, answer.text)


def test_every_example_is_accepted_in_the_order_of_the_document(
    http: httpx.Client, token_for: TokenFor, settings: Settings, clock: Clock
) -> None:
    """What OpenAPI shows as an example can be sent to a fresh tenant, one after the other."""
    bound = {"tenant_id": settings.tenant, "workspace_id": settings.workspace, "agent_id": AGENT}
    stage = Stage(http, token_for("cli_agent", scope=bound), clock)
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
            stage.prepare(path, body["payload"])
            answer = http.post(path, json=body, headers=stage.headers(path))
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
