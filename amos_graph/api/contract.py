"""What OpenAPI says of each operation: request and response schemas, status codes, examples.

Bodies are parsed by our own strict parser and not by FastAPI, so their schemas are put together here,
from the very models that the commands validate with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from amos_graph.api.envelope import AmosRequest, AmosResponse
from amos_graph.api.examples import EXAMPLES
from amos_graph.domain.association import AssociationEdge
from amos_graph.domain.atoms import PAYLOADS
from amos_graph.domain.dictionary import EntityRecord, EnumEntry, RelationEntry
from amos_graph.domain.envelope import MemoryAtom
from amos_graph.domain.evidence import SourceEvent

_REF: Final = "#/components/schemas/"
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
#: Request model → its fields that hold records which are validated one by one, with their models.
_RECORDS: Final[Mapping[str, Mapping[str, type[BaseModel]]]] = {
    "CaptureRequest": {"event": SourceEvent, "events": SourceEvent},
    "CommitRequest": {
        "atom": MemoryAtom,
        "atoms": MemoryAtom,
        "edges": AssociationEdge,
        "entities": EntityRecord,
        "relations": RelationEntry,
        "enums": EnumEntry,
        "events": SourceEvent,
    },
    "ProposeRequest": {"candidates": MemoryAtom, "events": SourceEvent},
}
#: Fields that the kernel fills when they are left out, although the stored record always has them.
_FILLED: Final[Mapping[str, frozenset[str]]] = {"MemoryAtom": frozenset({"scope"})}
_SCOPE_FIELDS: Final = ("project_id", "user_id", "agent_id", "session_id", "task_id", "tool_environment_id")


class _Posted:
    """Request models by operation, as the routers declare them."""

    models: Final[dict[str, type[BaseModel]]] = {}


def post(operation: str, payload: type[BaseModel]) -> dict[str, Any]:
    """The route options of a POST whose envelope carries `payload`."""
    _Posted.models[operation] = payload
    return {
        "operation_id": operation,
        "responses": responses(),
        "openapi_extra": {
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {"$ref": _REF + request_name(payload)},
                        "examples": EXAMPLES[operation],
                    }
                },
            }
        },
    }


def get(operation: str, query: type[BaseModel] | None = None, *, scoped: bool = True) -> dict[str, Any]:
    """The route options of a GET whose parameters are the fields of `query` and the scope to ask in."""
    parameters = _query_parameters(query, EXAMPLES.get(operation, {})) if query else []
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


def request_name(payload: type[BaseModel]) -> str:
    """The name of the schema of the envelope that carries this payload."""
    return "AmosRequest_" + payload.__name__.removesuffix("Request")


def install(app: FastAPI) -> None:
    """Complete the app's OpenAPI document with the schemas of what is posted."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            document["components"]["schemas"].update(_request_schemas())
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi


def _request_schemas() -> dict[str, Any]:
    records = {model for fields in _RECORDS.values() for model in fields.values()}
    payloads = set(_Posted.models.values())
    ordered = sorted({AmosRequest, *payloads, *records}, key=lambda model: model.__name__)
    _, combined = models_json_schema(
        [(model, "validation") for model in ordered], ref_template=_REF + "{model}"
    )
    schemas: dict[str, Any] = combined["$defs"]
    for name, fields in _RECORDS.items():
        for field, model in fields.items():
            _refer(schemas[name]["properties"][field], _REF + model.__name__)
    for name, filled in _FILLED.items():
        schemas[name]["required"] = [field for field in schemas[name]["required"] if field not in filled]
    schemas["MemoryAtom"]["properties"]["type"]["enum"] = list(PAYLOADS)
    envelope = schemas.pop("AmosRequest")
    for payload in payloads:
        properties = {**envelope["properties"], "payload": {"$ref": _REF + payload.__name__}}
        schemas[request_name(payload)] = {
            **envelope,
            "title": request_name(payload),
            "properties": properties,
        }
    return schemas


def _refer(schema: dict[str, Any], ref: str) -> None:
    """Put a record's schema where its field says no more than "an object"."""
    if schema.get("type") == "array":
        schema["items"] = {"$ref": ref}
    else:
        schema["anyOf"] = [{"$ref": ref}, {"type": "null"}]


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
