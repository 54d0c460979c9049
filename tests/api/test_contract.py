"""The service keeps its own OpenAPI document: schemathesis, in process, every check (T17)."""

from __future__ import annotations

from typing import Any, Final

import pytest
import schemathesis
from fastapi import FastAPI
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema

#: The boundary values of every field are many, so each half has a time of its own: neither starves the other.
HALVES: Final = (("examples", "coverage"), ("fuzzing", "stateful"))
SECONDS_MAX: Final = 20.0
EXAMPLES_MAX: Final = 8
#: What JSON Schema cannot say: what a payload must hold by its type, that a triple is whole, that a version
#: is not beyond the head, whose cursor it is. These may refuse with 422 what their schema allows; they still
#: may not accept what it forbids, and every other check is as strict as it comes.
_RULED: Final = (
    "events:capture",
    "atoms:commit",
    "atoms:propose",
    "packets:retrieve",
    "atoms:get",
    "atoms:list",
    "verify",
)
_ACCEPTED: Final = ["2xx", "401", "403", "404", "409"]


def _config(token: str | None, phases: tuple[str, ...]) -> SchemathesisConfig:
    positive: dict[str, Any] = {"positive_data_acceptance": {"expected-statuses": _ACCEPTED}}
    ruled = {"positive_data_acceptance": {"expected-statuses": [*_ACCEPTED, "422"]}}
    settings: dict[str, Any] = {
        "seed": 20261130,
        "max-time": SECONDS_MAX,
        "phases": {phase: {"enabled": phase in phases} for half in HALVES for phase in half},
        "continue-on-failure": True,
        "headers": {"Authorization": f"Bearer {token}"} if token else {},
        "generation": {
            "mode": "all",
            "max-examples": EXAMPLES_MAX,
            "deterministic": True,
            "database": "none",
        },
        "checks": positive,
        "operations": [{"include-operation-id": operation, "checks": ruled} for operation in _RULED],
    }
    return SchemathesisConfig.from_dict(settings)  # pyright: ignore[reportUnknownMemberType]


def _failures(app: FastAPI, token: str | None) -> tuple[int, list[str]]:
    """How many requests were checked, and what was wrong with which."""
    found = [_run(app, _config(token, phases)) for phases in HALVES]
    return sum(checked for checked, _ in found), [entry for _, wrong in found for entry in wrong]


def _run(app: FastAPI, config: SchemathesisConfig) -> tuple[int, list[str]]:
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=config)
    checked = 0
    wrong: list[str] = []
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            wrong.append(repr(event))
        if not isinstance(event, events.ScenarioFinished):
            continue
        for case_id, checks in event.recorder.checks.items():
            checked += 1
            sent = event.recorder.interactions.get(case_id)
            wrong += [
                f"{sent and sent.request.method} {sent and sent.request.uri}\n"
                f"{sent and sent.request.body}\n{check.name}: {check.failure_info.failure}"
                for check in checks
                if check.status is Status.FAILURE and check.failure_info
            ]
    return checked, wrong


@pytest.mark.reliability("T17")
def test_the_service_keeps_its_contract_for_a_caller_with_a_token(app: FastAPI, token: str) -> None:
    """Valid requests are accepted, invalid ones refused, each answer fits its schema, none is a 500."""
    checked, wrong = _failures(app, token)

    assert wrong == [], "\n\n".join(wrong[:10])
    assert checked > 50


@pytest.mark.reliability("T17")
def test_the_service_keeps_its_contract_for_a_caller_without_a_token(app: FastAPI) -> None:
    """Without a token everything but the probes is refused, in the declared shape."""
    checked, wrong = _failures(app, None)

    assert wrong == [], "\n\n".join(wrong[:10])
    assert checked > 50
