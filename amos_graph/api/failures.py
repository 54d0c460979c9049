"""Every way in which a request can fail, as one answer of one shape."""

from __future__ import annotations

import logging
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from amos_graph.api.calls import request_id_of
from amos_graph.api.envelope import refusal
from amos_graph.domain.canonical import join
from amos_graph.domain.model import FAULTS_MAX
from amos_graph.errors import AmosError, Fault

_log: Final = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    """Answer refusals, FastAPI's own errors and unexpected exceptions in the one shape."""
    app.add_exception_handler(AmosError, _refused)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_middleware(LastResort)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, AmosError)  # noqa: S101 - the type that it is registered for
    request_id = request_id_of(request)
    if error.retryable:
        # Neo4j is away or too slow: one line for each call says it, and the driver's traceback adds nothing.
        _log.warning("request %s: %s: %s%s", request_id, error.code, error.message, _cause(error))
    elif error.status >= 500:
        _log.error("request %s: %s", request_id, error.code, exc_info=error.__cause__)
    elif error.code == "expected_version_conflict":
        # An ordinary race, not a fault of ours (C18).
        _log.warning("request %s: %s", request_id, error.code)
    # HTTP wants the scheme named where a login is missing.
    login = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return refusal(request_id, error, headers=login)


def _cause(error: AmosError) -> str:
    """The kind of what was behind it; its text may hold what a log should not."""
    return f" ({type(error.__cause__).__name__})" if error.__cause__ is not None else ""


def _http(request: Request, error: Exception) -> Response:
    """What routing refuses: no such path is `not_found`, no such method keeps HTTP's own 405."""
    assert isinstance(error, HTTPException)  # noqa: S101
    request_id = request_id_of(request)
    if error.status_code == 404:
        return refusal(request_id, AmosError("not_found", "there is no such path"))
    if error.status_code == 405:
        message = "this path does not take that method"
        return refusal(
            request_id, AmosError("not_found", message), status=405, headers=dict(error.headers or {})
        )
    if error.status_code < 500:
        return refusal(request_id, AmosError("schema_invalid", str(error.detail)))
    return refusal(request_id, AmosError("internal", "the request failed; the log has the cause"))


def _invalid(request: Request, error: Exception) -> Response:
    """FastAPI's own validation: query parameters."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    entries: list[dict[str, Any]] = list(error.errors())[:FAULTS_MAX]
    faults = [Fault(join("", entry["loc"]), str(entry["msg"])) for entry in entries]
    return refusal(
        request_id_of(request),
        AmosError("schema_invalid", f"{faults[0].path}: {faults[0].message}", faults),
    )


class LastResort:
    """The outermost layer: an exception that nothing foresaw is logged with its request and hidden."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # One state for all layers, so that the id found by an inner one is known out here.
        scope.setdefault("state", {})
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except ClientDisconnect:
            # Nobody is left to answer.
            return
        except Exception as error:
            request_id = request_id_of(Request(scope))
            _log.exception("request %s failed", request_id, exc_info=error)
            if started:
                raise
            hidden = AmosError("internal", "the request failed; the log has the cause")
            await refusal(request_id, hidden)(scope, receive, send)
