"""AmosRequest and AmosResponse: one shape in, one shape out, for every status (design §7)."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from amos_graph.domain.ids import EventId, Identifier
from amos_graph.domain.model import Strict
from amos_graph.domain.scope import AskedScope
from amos_graph.errors import AmosError

RETRY_AFTER_S: Final = 1
REQUEST_ID_HEADER: Final = "X-Request-Id"
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@/+\-]{0,199}")

ResultStatus = Literal["accepted", "rejected", "conflict", "partial", "error"]
_CONFLICTS: Final = frozenset({"idempotency_conflict", "expected_version_conflict"})


class ClaimedIdentity(Strict):
    """Who the body says is calling; each field that is given must equal the token's."""

    client_id: str | None = None
    service_id: str | None = None
    process_type: str | None = None
    agent_id: str | None = None
    tenant_id: str | None = None
    workspace_id: str | None = None
    project_id: str | None = None
    user_id: str | None = None
    capabilities: list[str] | None = Field(default=None, max_length=100)
    trust_level: int | None = None


class AmosRequest(Strict):
    """The envelope of every POST (spec, "Common request envelope")."""

    request_id: Identifier | None = None
    client_identity: ClaimedIdentity | None = None
    scope: AskedScope | None = None
    idempotency_key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    expected_versions: dict[Identifier, Annotated[int, Field(ge=0, le=2**53 - 1)]] = Field(
        default_factory=dict[str, int],
        max_length=10_000,
        # pydantic describes the keys and forgets to say that there are no others.
        json_schema_extra={"additionalProperties": False},
    )
    #: Every read is served from the newest committed state, so each of the three is met.
    consistency_requirement: Literal["strong", "monotonic", "eventual"] | None = None
    causal_parent_ids: list[EventId] = Field(default_factory=list[str], max_length=100)
    payload: dict[str, Any]


class ErrorEntry(BaseModel):
    """One thing that is wrong."""

    code: str
    message: str
    path: str
    details: dict[str, Any]


class AmosResponse(BaseModel):
    """The envelope of every answer, whatever its status (spec, "Common response envelope")."""

    request_id: str
    result_status: ResultStatus
    graph_version: int | None
    event_ids: list[str]
    warnings: list[str]
    errors: list[ErrorEntry]
    retryable: bool
    payload: dict[str, Any] | None


def new_request_id() -> str:
    return f"req_{uuid.uuid4().hex}"


def usable_request_id(text: str | None) -> str | None:
    """The id if it is one; an id that is not is replaced, never echoed."""
    return text if text and _REQUEST_ID.fullmatch(text) else None


def answer(
    request_id: str,
    payload: Mapping[str, Any],
    *,
    graph_version: int | None = None,
    event_ids: Sequence[str] = (),
    warnings: Sequence[str] = (),
    partial: bool = False,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """The answer to a request that was carried out."""
    return _response(
        200,
        {
            "request_id": request_id,
            "result_status": "partial" if partial else "accepted",
            "graph_version": graph_version,
            "event_ids": list(event_ids),
            "warnings": list(warnings),
            "errors": [],
            "retryable": False,
            "payload": dict(payload),
        },
        headers,
    )


def refusal(
    request_id: str,
    error: AmosError,
    *,
    status: int | None = None,
    payload: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """The answer to a request that was refused or failed; `status` only where HTTP itself has one."""
    code = status or error.status
    waits = {"Retry-After": str(RETRY_AFTER_S)} if code in (429, 503) else {}
    return _response(
        code,
        {
            "request_id": request_id,
            "result_status": _result_status(error),
            "graph_version": None,
            "event_ids": [],
            "warnings": [],
            "errors": error.entries(),
            "retryable": error.retryable,
            "payload": dict(payload) if payload is not None else None,
        },
        {**waits, **(headers or {})},
    )


def _result_status(error: AmosError) -> ResultStatus:
    if error.status >= 500:
        return "error"
    return "conflict" if error.code in _CONFLICTS else "rejected"


class _Answer(JSONResponse):
    """JSON as the store holds it: text as text, and nothing that is not JSON."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _response(status: int, body: dict[str, Any], headers: Mapping[str, str] | None) -> JSONResponse:
    return _Answer(body, status, {REQUEST_ID_HEADER: body["request_id"], **(headers or {})})
