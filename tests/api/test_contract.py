"""The service keeps its own OpenAPI document: schemathesis, in process, every check (T17)."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest
import schemathesis
from fastapi import FastAPI
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure
from schemathesis.engine import Status, events, from_schema

OPERATIONS: Final = (
    "events:capture",
    "atoms:commit",
    "atoms:propose",
    "atoms:get",
    "atoms:list",
    "atoms:archive",
    "atoms:restore",
    "atoms:govern",
    "refusals:list",
    "refusals:decide",
    "proposals:ratify",
    "proposals:resolve",
    "constitutional-records:replace",
    "constitutional-records:genesis",
    "ratifications:diachronic-status",
    "artifacts:record",
    "artifacts:get",
    "artifacts:expire",
    "packets:retrieve",
    "outcomes:record",
    "provenance:analyze",
    "verify",
    "health:memory",
    "live",
    "ready",
)
#: The boundary values of every field are many, so each half of each operation has a time of its own:
#: none starves another. `make soak` gives them all the time that they take.
HALVES: Final = ((("examples", "coverage"), 8), (("fuzzing", "stateful"), 4))
ANONYMOUS_S: Final = 10
SOAK_S: Final = 600
EXAMPLES_MAX: Final = 8
_ACCEPTED: Final = ["2xx", "401", "403", "404", "409"]

#: Operation → path of a fault → the rule by which a request may be refused that its schema allows, since
#: JSON Schema cannot say the rule. A refusal for anything else is a failure of the document.
_OWNER: Final = r"payload\.(\w+(\[\d+\])?\.)?access_policy(\.owner_scope)?"
_COMMITTED: Final = {
    r"payload\.\w+(\[\d+\])?\.payload(\..*)?": "what a payload holds depends on its type",
    r"payload\.\w+(\[\d+\])?\.(type|relation|inverse)": "the dictionary has the relation, and of that kind",
    r"payload\.\w+(\[\d+\])?\.lifecycle_state": "whether the atom is there already decides its states",
    r"payload\.\w+(\[\d+\])?\.scope": "the scope is the token's shard, and an entity's is the whole of it",
    r"payload\.\w+(\[\d+\])?\.(id|edge_id|evidence_id)": "one request names no record twice",
    r"payload\.\w+(\[\d+\])?(\.supersedes.*)?": "an edge joins two different atoms",
    _OWNER: "a policy that leaves things to an owner names one",
    r"payload": "the lists of a commit are not all empty",
}
RULES: Final[dict[str, dict[str, str]]] = {
    "atoms:commit": _COMMITTED,
    "atoms:propose": _COMMITTED,
    "events:capture": {
        r"payload\.events\[\d+\]\.payload\.archived": "the mark of an archived payload is the store's own",
        r"payload\.events\[\d+\]\.evidence_id": "one request names no record twice",
        r"payload\.event": "one event, or a list of events",
        _OWNER: "a policy that leaves things to an owner names one",
    },
    "packets:retrieve": {
        r"payload\.payload_filter\.\w+": "which fields can be compared depends on the types asked for",
        r"payload\.result_payload_filter\[\d+\]": "which places payloads have depends on the types asked for",
        r"payload\.as_of_version": "a version beyond the head is not there yet",
    },
    "outcomes:record": {
        r"payload\.\w+_refs(\[\d+\])?": "an atom is judged once, and only where the packet was used",
    },
    "artifacts:record": {
        r"payload\.artifact\.source_trace_refs": "a narrative cites at least one source, in whichever field",
        r"payload\.artifact\.(narrative_scope|balance_report)(\..*)?": "a typed value has its type's form",
        r"payload\.artifact\.expires_at": "it ends in the time to come, and within the longest life",
        _OWNER: "a policy that leaves things to an owner names one",
        r"payload\.artifact\.scope": "the scope is within the token's shard",
    },
    "artifacts:get": {r"payload\.as_of_version": "a version beyond the head is not there yet"},
    "atoms:get": {r"payload\.as_of_version": "a version beyond the head is not there yet"},
    "atoms:list": {
        r"query\.as_of_version": "a version beyond the head is not there yet",
        r"query\.cursor": "a cursor comes from a page with the same filters",
    },
    "atoms:govern": {
        _OWNER: "a policy that leaves things to an owner names one",
        r"payload\.atom_id": "an atom that is put away is governed by nobody",
    },
    "ratifications:diachronic-status": {
        r"payload\.min_interval_seconds": "reconstructions that are more than one lie apart",
    },
    "refusals:list": {
        r"query\.cursor": "a cursor comes from a page with the same filters",
    },
    "verify": {
        r"query\.(first|last)": "a range lies within the journal",
        r"query\.checkpoint_\w+": "a checkpoint is given whole",
    },
}


#: Where a schema says "any JSON", it cannot say which numbers keep all their digits (RFC 8785).
LOSSY: Final = "an integer lies beyond ±(2^53−1)"


def _config(
    operation: str | None, token: str | None, phases: tuple[str, ...], seconds: int
) -> SchemathesisConfig:
    settings: dict[str, Any] = {
        "seed": 20261130,
        "max-time": seconds,
        "phases": {phase: {"enabled": phase in phases} for half, _ in HALVES for phase in half},
        "continue-on-failure": True,
        "headers": {"Authorization": f"Bearer {token}"} if token else {},
        "generation": {
            "mode": "all",
            "max-examples": EXAMPLES_MAX,
            "deterministic": True,
            "database": "none",
        },
        "checks": {"positive_data_acceptance": {"expected-statuses": _ACCEPTED}},
        "operations": [{"exclude-operation-id": operation, "enabled": False}] if operation else [],
    }
    return SchemathesisConfig.from_dict(settings)  # pyright: ignore[reportUnknownMemberType]


def _failures(
    app: FastAPI, operation: str | None, token: str | None, seconds: int | None = None
) -> list[str]:
    """What was wrong with which request."""
    wrong: list[str] = []
    checked = 0
    for phases, usual in HALVES:
        config = _config(operation, token, phases, seconds or usual)
        schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=config)
        for event in from_schema(schema).execute():
            if isinstance(event, events.NonFatalError | events.FatalError):
                wrong.append(repr(event))
            if isinstance(event, events.ScenarioFinished):
                checked += len(event.recorder.checks)
                wrong += _broken(event, operation)
    assert checked > 0
    return wrong


def _broken(event: events.ScenarioFinished, operation: str | None) -> list[str]:
    wrong: list[str] = []
    for case_id, checks in event.recorder.checks.items():
        sent = event.recorder.interactions.get(case_id)
        answered = sent.response.content if sent and sent.response else b""
        for check in checks:
            if check.status is not Status.FAILURE or check.failure_info is None:
                continue
            failure: Failure = check.failure_info.failure
            if check.name == "positive_data_acceptance" and _ruled(operation, answered):
                continue
            request = sent and (sent.request.method, sent.request.uri, sent.request.body)
            wrong.append(f"{request}\n{answered[:1_000]!r}\n{check.name}: {failure}")
    return wrong


def _ruled(operation: str | None, answered: bytes) -> bool:
    """True when every fault is named by a rule that no schema can state."""
    errors = json.loads(answered)["errors"]
    rules = RULES.get(operation or "", {})
    return all(
        entry["code"] == "schema_invalid"
        and (entry["message"] == LOSSY or any(re.fullmatch(rule, entry["path"]) for rule in rules))
        for entry in errors
    )


def test_every_operation_of_the_document_is_tried(app: FastAPI) -> None:
    """None is forgotten here."""
    offered = {entry["operationId"] for item in app.openapi()["paths"].values() for entry in item.values()}
    assert offered == set(OPERATIONS)
    assert set(RULES) <= offered


@pytest.mark.reliability("T17")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_service_keeps_its_contract_for_a_caller_with_a_token(
    app: FastAPI, token: str, operation: str
) -> None:
    """Valid requests are accepted, invalid ones refused, each answer fits its schema, none is a 500."""
    wrong = _failures(app, operation, token)

    assert wrong == [], "\n\n".join(wrong[:10])


@pytest.mark.reliability("T17")
def test_the_service_keeps_its_contract_for_a_caller_without_a_token(app: FastAPI) -> None:
    """Without a token everything but the probes is refused, in the declared shape."""
    wrong = _failures(app, None, None, ANONYMOUS_S)

    assert wrong == [], "\n\n".join(wrong[:10])


@pytest.mark.soak
@pytest.mark.timeout(2 * SOAK_S + 60)
@pytest.mark.reliability("T17")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_contract_holds_for_every_boundary_value(app: FastAPI, token: str, operation: str) -> None:
    """The same without haste: each boundary of each field of each operation."""
    wrong = _failures(app, operation, token, SOAK_S)

    assert wrong == [], "\n\n".join(wrong[:10])
