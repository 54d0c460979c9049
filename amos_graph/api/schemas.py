"""The schemas of what is posted, put together from the very models that the commands validate with.

A model's own schema leaves out what its validators add. What JSON Schema can say of that is said here,
so that who reads the document, or generates requests from it, knows as much as can be written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from amos_graph.api.envelope import AmosRequest
from amos_graph.domain.association import AssociationEdge
from amos_graph.domain.atoms import PAYLOADS
from amos_graph.domain.canonical import INTEGER_MAX
from amos_graph.domain.confidence import BANDS
from amos_graph.domain.entries import EntityRecord, EnumEntry, RelationEntry
from amos_graph.domain.envelope import MemoryAtom
from amos_graph.domain.evidence import SourceEvent
from amos_graph.domain.lifecycle import (
    EDGE_HEALTH_STATUSES,
    HEALTH_STATUSES,
    LAYERS,
    LIFECYCLE_STATES,
    RETENTION_CLASSES,
)
from amos_graph.domain.packets import PacketRequest
from amos_graph.settings import Settings

REF: Final = "#/components/schemas/"
_SCALARS: Final = ["string", "number", "boolean"]

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
    "OutcomeRequest": {"request": PacketRequest},
}
#: A scope of which tenant and workspace may be left out, and the records that have one.
_WITHIN: Final = "ScopeWithin"
_IN_SHARD: Final = frozenset({"MemoryAtom", "SourceEvent"})
#: Fields that the kernel fills when they are left out, although the stored record always has them.
_FILLED: Final[Mapping[str, frozenset[str]]] = {"MemoryAtom": frozenset({"scope"})}
#: Model → its fields that take one of some words, or a list of them.
_WORDS: Final[Mapping[str, Mapping[str, Iterable[str]]]] = {
    "MemoryAtom": {
        "type": PAYLOADS,
        "layer": LAYERS,
        "lifecycle_state": LIFECYCLE_STATES,
        "health_status": HEALTH_STATUSES,
        "health_flags": HEALTH_STATUSES,
        "retention_class": RETENTION_CLASSES,
    },
    "AssociationEdge": {"health_status": EDGE_HEALTH_STATUSES},
    "PacketRequest": {"requested_memory_types": PAYLOADS},
    "AttentionContext": {"boost_memory_types": PAYLOADS, "suppress_memory_types": PAYLOADS},
    "ListRequest": {"types": PAYLOADS},
}
#: Model → its fields that a setting limits: the setting, and which limit it is in the schema.
_LIMITS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "CaptureRequest": {"events": ("events_max", "maxItems")},
    "CommitRequest": {
        "atoms": ("atoms_max", "maxItems"),
        "edges": ("edges_max", "maxItems"),
        "entities": ("dictionary_max", "maxItems"),
        "relations": ("dictionary_max", "maxItems"),
        "enums": ("dictionary_max", "maxItems"),
        "events": ("events_max", "maxItems"),
    },
    "ProposeRequest": {"candidates": ("atoms_max", "maxItems"), "events": ("events_max", "maxItems")},
    "PacketRequest": {"max_items": ("items_max", "maximum")},
    "ListRequest": {"limit": ("page_max", "maximum")},
    "ListRefusalsRequest": {"limit": ("page_max", "maximum")},
}


def request_name(payload: type[BaseModel]) -> str:
    """The name of the schema of the envelope that carries this payload."""
    return "AmosRequest_" + payload.__name__.removesuffix("Request")


def request_schemas(payloads: set[type[BaseModel]], settings: Settings) -> dict[str, Any]:
    """Every schema that a body is described with, by name."""
    records = {model for fields in _RECORDS.values() for model in fields.values()}
    ordered = sorted({AmosRequest, *payloads, *records}, key=lambda model: model.__name__)
    _, combined = models_json_schema(
        [(model, "validation") for model in ordered], ref_template=REF + "{model}"
    )
    schemas: dict[str, Any] = combined["$defs"]
    for name, fields in _RECORDS.items():
        for field, model in fields.items():
            _refer(schemas[name]["properties"][field], REF + model.__name__)
    for name, filled in _FILLED.items():
        schemas[name]["required"] = [field for field in schemas[name]["required"] if field not in filled]
    # Tenant and workspace are the request's where the scope of a record leaves them out.
    within = {name: value for name, value in schemas["Scope"].items() if name != "required"}
    schemas[_WITHIN] = {**within, "title": _WITHIN}
    for name in _IN_SHARD & schemas.keys():
        scope = schemas[name]["properties"]["scope"]
        for place in (scope, *scope.get("anyOf", ())):
            if place.get("$ref") == REF + "Scope":
                place["$ref"] = REF + _WITHIN
    for name in {*_WORDS, *_LIMITS} & {*schemas}:
        refine(name, schemas[name]["properties"], settings)
    schemas["Confidence"] = _confidence(schemas["Confidence"])
    schemas["CaptureRequest"] = _one_at_least(schemas["CaptureRequest"])
    schemas["PacketRequest"]["properties"]["payload_filter"] = _filter()
    schemas["Budget"]["anyOf"] = [_stated("tokens"), _stated("bytes")]
    bound_integers(schemas)
    envelope = schemas.pop("AmosRequest")
    for payload in payloads:
        properties = {**envelope["properties"], "payload": {"$ref": REF + payload.__name__}}
        schemas[request_name(payload)] = {
            **envelope,
            "title": request_name(payload),
            "properties": properties,
        }
    return schemas


def refine(name: str, properties: Mapping[str, dict[str, Any]], settings: Settings) -> None:
    """Add to a model's properties the words that they take and the limits that are set."""
    for field, words in _WORDS.get(name, {}).items():
        _plain(properties[field])["enum"] = list(words)
    for field, (setting, limit) in _LIMITS.get(name, {}).items():
        properties[field][limit] = getattr(settings, setting)


def bound_integers(schema: Any) -> None:
    """Say of every integer how far integers go (RFC 8785)."""
    if isinstance(schema, dict):
        found = cast("dict[str, Any]", schema)
        if found.get("type") == "integer":
            found.setdefault("minimum", -INTEGER_MAX)
            found.setdefault("maximum", INTEGER_MAX)
        for part in found.values():
            bound_integers(part)
    elif isinstance(schema, list):
        for part in cast("list[Any]", schema):
            bound_integers(part)


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    return schema["items"] if schema.get("type") == "array" else schema


def _refer(schema: dict[str, Any], ref: str) -> None:
    """Put a record's schema where its field says no more than "an object"."""
    if schema.get("type") == "array":
        schema["items"] = {"$ref": ref}
    else:
        schema["anyOf"] = [{"$ref": ref}, {"type": "null"}]


def _confidence(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A level with a score of its band or none, or a score alone."""
    basis = schema["properties"]["basis"]
    levels = [
        {
            "type": "object",
            "properties": {
                "level": {"const": level},
                "score": {"type": ["number", "null"], "minimum": lowest, "maximum": highest},
                "basis": basis,
            },
            "required": ["level"],
            "additionalProperties": False,
        }
        for level, (lowest, highest, _) in BANDS.items()
    ]
    alone = {
        "type": "object",
        "properties": {
            "level": {"type": "null"},
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "basis": basis,
        },
        "required": ["score"],
        "additionalProperties": False,
    }
    return {"title": schema["title"], "description": schema["description"], "anyOf": [*levels, alone]}


def _one_at_least(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Capturing nothing is no request: one event, or a list with at least one."""
    event, events = schema["properties"]["event"], schema["properties"]["events"]
    one, many = event["anyOf"][0], {**events, "minItems": 1}
    common = {"type": "object", "additionalProperties": False}
    return {
        "title": schema["title"],
        "description": schema["description"],
        "anyOf": [
            {**common, "properties": {"event": event, "events": many}, "required": ["events"]},
            {**common, "properties": {"event": one, "events": events}, "required": ["event"]},
        ],
    }


def _stated(name: str) -> dict[str, Any]:
    return {"required": [name], "properties": {name: {"type": "integer"}}}


def _filter() -> dict[str, Any]:
    """Fields of payloads that stand in the graph as properties, each with a plain value."""
    names = sorted({name for payload in PAYLOADS.values() for name in payload.lifted})
    return {
        "title": "Payload Filter",
        "type": "object",
        "properties": {name: {"type": _SCALARS} for name in names},
        "additionalProperties": False,
        "maxProperties": 20,
    }
