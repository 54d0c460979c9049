"""What OpenAPI says of each operation: request and response schemas, status codes, examples.

Bodies are parsed by our own strict parser and not by FastAPI, so their schemas are added here.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from amos_graph.api.envelope import AmosResponse
from amos_graph.api.examples import EXAMPLES
from amos_graph.api.schemas import REF, bound_integers, refine, request_name, request_schemas
from amos_graph.settings import Settings

#: Status → when it comes. Every operation that needs a token declares all of them.
STATUSES: Final[Mapping[int, str]] = {
    401: "authorization_denied: no valid token",
    403: "authorization_denied, scope_denied or evidence_denied",
    404: "not_found: absent, or nothing that this caller may know of",
    409: "idempotency_conflict, expected_version_conflict, review_required or retention_policy_denied",
    422: "schema_invalid, with the path of each fault",
    429: "capacity_limited",
    500: "internal or projection_failed",
    503: "unavailable or derived_index_stale: send the same again, with the same idempotency key",
}
_SCOPE_FIELDS: Final = ("project_id", "user_id", "agent_id", "session_id", "task_id", "tool_environment_id")


class _Declared:
    """Models by operation, as the routers declare them."""

    posted: Final[dict[str, type[BaseModel]]] = {}
    queried: Final[dict[str, type[BaseModel]]] = {}


def post(operation: str, payload: type[BaseModel]) -> dict[str, Any]:
    """The route options of a POST whose envelope carries `payload`."""
    _Declared.posted[operation] = payload
    return {
        "operation_id": operation,
        "responses": responses(),
        "openapi_extra": {
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {"$ref": REF + request_name(payload)},
                        "examples": EXAMPLES[operation],
                    }
                },
            }
        },
    }


def get(operation: str, query: type[BaseModel] | None = None, *, scoped: bool = True) -> dict[str, Any]:
    """The route options of a GET whose parameters are the fields of `query` and the scope to ask in."""
    parameters: list[dict[str, Any]] = []
    if query is not None:
        _Declared.queried[operation] = query
        parameters += _query_parameters(query, EXAMPLES.get(operation, {}))
    if scoped:
        parameters += [
            {
                "name": name,
                "in": "query",
                "required": False,
                "description": "Narrows the scope of the token.",
                "schema": {"type": "string", "pattern": r"^[A-Za-z0-9][A-Za-z0-9_.:@/+\-]{0,199}$"},
            }
            for name in _SCOPE_FIELDS
        ]
    return {
        "operation_id": operation,
        "responses": responses(),
        "openapi_extra": {"parameters": parameters},
    }


def responses(*extra: int) -> dict[int | str, dict[str, Any]]:
    """AmosResponse for 200 and for every way to be refused."""
    wanted = {200: "The request was carried out."} | ({code: STATUSES[code] for code in extra or STATUSES})
    return {code: {"model": AmosResponse, "description": text} for code, text in wanted.items()}


def install(app: FastAPI, settings: Settings) -> None:
    """Complete the app's OpenAPI document with the schemas of what is posted, and the limits that are set."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            schemas = request_schemas({*_Declared.posted.values()}, settings)
            document["components"]["schemas"].update(schemas)
            app.openapi_schema = _with_limits(document, settings)
        return app.openapi_schema

    app.openapi = openapi


def _with_limits(document: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The document with what its parameters take, of which the routers' declarations know no settings."""
    limited = copy.deepcopy(document)
    for item in limited["paths"].values():
        for operation in item.values():
            model = _Declared.queried.get(operation["operationId"])
            if model is not None:
                properties = {entry["name"]: entry["schema"] for entry in operation["parameters"]}
                refine(model.__name__, properties, settings)
                bound_integers(properties)
    return limited


def _query_parameters(model: type[BaseModel], examples: Mapping[str, Any]) -> list[dict[str, Any]]:
    schema = model.model_json_schema()
    parameters: list[dict[str, Any]] = []
    for name, field in schema.get("properties", {}).items():
        # A query cannot say null; leaving the parameter out does.
        plain = next((kind for kind in field.get("anyOf", []) if kind.get("type") != "null"), field)
        shown = {key: value for key, value in plain.items() if key not in ("title", "anyOf")}
        parameter: dict[str, Any] = {"name": name, "in": "query", "required": False, "schema": shown}
        if "default" in field and field["default"] is not None:
            shown["default"] = field["default"]
        if name in examples:
            parameter["example"] = examples[name]
        parameters.append(parameter)
    return parameters
