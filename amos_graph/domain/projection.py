"""The projection: from the newest body of a record to what stands in the graph, as a pure function.

The same functions give the parameters of `cypher/project/*`, the comparison in verification and,
later, replay. Source: design §3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from amos_graph.domain.artifact import CITED, COUNTEREVIDENCE
from amos_graph.domain.atoms import payload_type
from amos_graph.domain.atoms.payload import Payload
from amos_graph.domain.canonical import canonical_text
from amos_graph.domain.captions import clip
from amos_graph.domain.ids import RecordKind, derived_id, relationship_type, shard_key, with_names
from amos_graph.domain.lifecycle import recall_default
from amos_graph.domain.mentions import Mention, name_key
from amos_graph.domain.scope import AccessPolicy, Scope, access_class
from amos_graph.domain.score import NUMBERS
from amos_graph.domain.times import parse_time
from amos_graph.domain.values import fold, words

SEARCH_TEXT_MAX: Final = 20_000
_TIMES: Final = frozenset(
    {
        "created_at",
        "observed_at",
        "updated_at",
        "captured_at",
        "valid_from",
        "valid_until",
        "revoked_at",
        "expires_at",
        "generated_at",
    }
)


@dataclass(frozen=True, slots=True)
class Relationship:
    """The native relationship that an active edge stands for."""

    type: str
    source_ref: str
    target_ref: str
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Node:
    """A record as it stands in the graph."""

    kind: RecordKind
    ref: str
    version: int
    labels: tuple[str, ...]
    properties: dict[str, Any]
    evidence: tuple[str, ...] = ()
    #: (role, entity id) of each REFERS_TO.
    entities: tuple[tuple[str, str], ...] = ()
    #: What the texts of an atom name; each is a MENTIONS.
    mentions: tuple[Mention, ...] = ()
    #: The keys of an entity's names; each is a NAMED.
    names: tuple[str, ...] = ()
    relationship: Relationship | None = None
    #: (role, ref, version) of each TOLD_FROM.
    sources: tuple[tuple[str, str, int], ...] = ()


#: Kind of record → (label, property that holds its id).
KEYS: Final[Mapping[RecordKind, tuple[str, str]]] = {
    "atom": ("Atom", "id"),
    "edge": ("Edge", "edge_id"),
    "entity": ("Entity", "id"),
    "relation": ("RelationType", "id"),
    "enum": ("EnumValue", "id"),
    "evidence": ("Evidence", "evidence_id"),
    "client": ("Client", "id"),
    "score": ("Score", "id"),
    "artifact": ("Artifact", "id"),
    "refusal": ("Refusal", "id"),
}


def project(
    kind: RecordKind, shard: str, body: Mapping[str, Any], event_id: str, *, superseded: bool = False
) -> Node:
    """The node of a record's newest body; `superseded` matters for atoms alone."""
    if kind == "atom":
        return _atom(shard, body, event_id, superseded=superseded)
    return _PROJECTIONS[kind](shard, body, event_id)


def state_key(lifecycle_state: str, health_status: str, *, superseded: bool) -> str:
    """One index token for what ordinary recall makes of an atom: `live`, or why it is not."""
    if lifecycle_state != "active":
        return lifecycle_state
    if superseded:
        return "superseded"
    return "live" if recall_default(lifecycle_state, health_status) else health_status


def stream_id(atom_body: Mapping[str, Any]) -> str:
    """The interaction stream that an interaction_event belongs to: its scope and its conversation."""
    return derived_id("str_", [atom_body["scope"], atom_body["payload"]["conversation_id"]])


def _common(shard: str, body: Mapping[str, Any], event_id: str) -> dict[str, Any]:
    return {
        "shard": shard,
        "version": body["version"],
        "last_writer": body["last_writer"],
        "last_write_event_id": event_id,
    }


def _atom(shard: str, body: Mapping[str, Any], event_id: str, *, superseded: bool) -> Node:
    model = payload_type(body["type"])
    payload = model.model_validate(body["payload"])
    key = state_key(body["lifecycle_state"], body["health_status"], superseded=superseded)
    properties = _common(shard, body, event_id) | {
        **_same(body, "id", "type", "schema_version", "salience", "utility", "layer", "lifecycle_state"),
        **_same(body, "health_status", "health_flags", "retention_class", "supersedes", "evidence_refs"),
        **_times(body, "created_at", "observed_at", "updated_at"),
        **_confidence(body["confidence"]),
        **_scope(body),
        "payload": canonical_text(body["payload"]),
        "valid_from": _moment(payload.valid_from),
        "valid_until": _moment(payload.valid_until),
        "content_digest": content_digest(body),
        "search_text": search_text(body["id"], payload),
        "shard_key": shard_key(shard),
        "state_key": key,
        "title": payload.title(),
        "decay_policy": canonical_text(body["decay_policy"]) if "decay_policy" in body else None,
        "index_refs": canonical_text(body["index_refs"]) if "index_refs" in body else None,
        **payload.lifted_values(),
        **({"stream_id": stream_id(body)} if body["type"] == "interaction_event" else {}),
    }
    return Node(
        kind="atom",
        ref=body["id"],
        version=body["version"],
        labels=("Atom", model.label, *(("Live",) if key == "live" else ())),
        properties=_without_none(properties),
        evidence=tuple(sorted(body["evidence_refs"])),
        entities=tuple(sorted(set(payload.entity_roles()))),
        mentions=tuple(payload.mentions()),
    )


def _edge(shard: str, body: Mapping[str, Any], event_id: str) -> Node:
    properties = _common(shard, body, event_id) | {
        **_same(body, "edge_id", "source_ref", "target_ref", "relation", "schema_version", "weight"),
        **_same(body, "lifecycle_state", "health_status", "derivation", "evidence_refs"),
        **_times(body, "created_at", "updated_at", "valid_from"),
        **_confidence(body["confidence"]),
        **_scope(body),
        "title": body["relation"].removeprefix("rel:"),
    }
    relationship = None
    if body["lifecycle_state"] == "active":
        relationship = Relationship(
            type=relationship_type(body["relation"]),
            source_ref=body["source_ref"],
            target_ref=body["target_ref"],
            properties={
                "edge_id": body["edge_id"],
                "weight": float(body["weight"]),
                "confidence": float(body["confidence"]["score"]),
                "access_class": properties["access_class"],
            },
        )
    return Node(
        kind="edge",
        ref=body["edge_id"],
        version=body["version"],
        labels=("Edge",),
        properties=_without_none(properties),
        evidence=tuple(sorted(body["evidence_refs"])),
        relationship=relationship,
    )


def _evidence(shard: str, body: Mapping[str, Any], event_id: str) -> Node:
    properties = _common(shard, body, event_id) | {
        **_same(body, "evidence_id", "schema_version", "source_type", "source_ref", "checksum"),
        **_times(body, "captured_at"),
        **_scope(body),
        "payload": canonical_text(body["payload"]),
        "title": f"{body['source_type']} {body['source_ref']}"[:80],
    }
    return Node("evidence", body["evidence_id"], body["version"], ("Evidence",), _without_none(properties))


def _entity(shard: str, body: Mapping[str, Any], event_id: str) -> Node:
    names = [body["canonical_name"], *body.get("labels", []), *body.get("aliases", [])]
    folded = sorted({fold(name) for name in names})
    properties = _common(shard, body, event_id) | {
        **_same(body, "id", "type", "canonical_name", "labels", "aliases", "merged_into"),
        "split_into": list(body.get("split_into", [])),
        **_times(body, "created_at", "updated_at"),
        "external_refs": canonical_text(body.get("external_refs", [])),
        "names": folded,
        "names_text": " ".join(folded),
        "shard_key": shard_key(shard),
        "title": body["canonical_name"][:80],
    }
    return Node(
        kind="entity",
        ref=body["id"],
        version=body["version"],
        labels=("Entity",),
        properties=_without_none(properties),
        names=tuple(sorted({key for name in names if (key := name_key(name))})),
    )


def _score(shard: str, body: Mapping[str, Any], event_id: str) -> Node:
    numbers = [f"{name} {body[name]:.2f}" for name in NUMBERS if name in body]
    properties = _common(shard, body, event_id) | {
        **_same(body, "id", "of_ref", "of_version", *NUMBERS, "relation", "source_ref", "target_ref"),
        **_times(body, "created_at", "updated_at"),
        "title": ", ".join(numbers),
    }
    return Node("score", body["id"], body["version"], ("Score",), _without_none(properties))


def _artifact(shard: str, body: Mapping[str, Any], event_id: str) -> Node:
    versions = body["source_versions"]
    cited: dict[str, list[str]] = {field: body[field] for field in (*CITED, COUNTEREVIDENCE)}
    properties = _common(shard, body, event_id) | {
        **_same(body, "id", "artifact_type", "schema_version", "subject_agent", "narrative"),
        **cited,
        **_same(body, "rendering_target", "lifecycle_state"),
        **_times(body, "generated_at", "expires_at", "created_at", "updated_at"),
        **_scope(body),
        "narrative_scope": canonical_text(body["narrative_scope"]),
        "balance_report": canonical_text(body["balance_report"]),
        "title": clip(body["narrative"]),
    }
    return Node(
        kind="artifact",
        ref=body["id"],
        version=body["version"],
        labels=("Artifact",),
        properties=_without_none(properties),
        entities=(("subject_agent", body["subject_agent"]),),
        sources=tuple(sorted({(field, ref, versions[ref]) for field, refs in cited.items() for ref in refs})),
    )


def _refusal(shard: str, body: Mapping[str, Any], event_id: str) -> Node:
    request = body.get("request")
    properties = _common(shard, body, event_id) | {
        **_same(body, "id", "schema_version", "code", "reason_code", "operation", "risk", "target_refs"),
        **_same(body, "client_id", "agent_id", "user_id", "status", "attempts", "decided_by", "decision"),
        **_times(body, "created_at", "updated_at"),
        **_scope(body),
        "request": canonical_text(request) if request is not None else None,
        "title": f"{body['operation']}: {body['code']}",
    }
    return Node("refusal", body["id"], body["version"], ("Refusal",), _without_none(properties))


def _definition(kind: RecordKind) -> Callable[[str, Mapping[str, Any], str], Node]:
    def build(shard: str, body: Mapping[str, Any], event_id: str) -> Node:
        label, _ = KEYS[kind]
        plain = {
            name: _native(name, value)
            for name, value in body.items()
            if isinstance(value, (str, bool, int, float))
            or (isinstance(value, list) and all(isinstance(entry, str) for entry in value))  # pyright: ignore[reportUnknownVariableType]
        }
        nested = {name: canonical_text(value) for name, value in body.items() if isinstance(value, dict)}
        title = str(body.get("name") or body["id"])
        properties = _common(shard, body, event_id) | plain | nested | {"title": title[:80]}
        return Node(kind, body["id"], body["version"], (label,), _without_none(properties))

    return build


_PROJECTIONS: Final[Mapping[RecordKind, Callable[[str, Mapping[str, Any], str], Node]]] = {
    "edge": _edge,
    "evidence": _evidence,
    "entity": _entity,
    "relation": _definition("relation"),
    "enum": _definition("enum"),
    "client": _definition("client"),
    "score": _score,
    "artifact": _artifact,
    "refusal": _refusal,
}


def search_text(atom_id: str, payload: Payload) -> str:
    """What cues may match: id, type and payload values, never payload keys (spec, token matching)."""
    return " ".join([*words(atom_id), *words(payload.atom_type), *payload.words()])[:SEARCH_TEXT_MAX]


def said_text(atom_id: str, atom_type: str, search_text: str) -> str:
    """What an atom says, from its stored search text: without its id and type, entities by their names."""
    return with_names(search_text[len(" ".join([*words(atom_id), *words(atom_type)])) + 1 :])


def content_digest(body: Mapping[str, Any]) -> str:
    """What an atom says and to whom: type, audience and payload."""
    content = {"type": body["type"], "access_class": class_of(body), "payload": body["payload"]}
    return derived_id("", content)


def class_of(body: Mapping[str, Any]) -> str:
    """The access class of a stored body."""
    policy = body.get("access_policy")
    return _class_of(tuple(body["scope"].items()), canonical_text(policy) if policy else None)


@lru_cache(maxsize=4_096)
def _class_of(scope: tuple[tuple[str, str], ...], policy: str | None) -> str:
    """Kept, since most records of a shard share their class with many others."""
    return access_class(
        Scope.model_validate(dict(scope)),
        AccessPolicy.model_validate(json.loads(policy)) if policy else None,
    )


def _scope(body: Mapping[str, Any]) -> dict[str, Any]:
    policy = body.get("access_policy")
    return {
        **{f"scope_{name}": value for name, value in body["scope"].items()},
        "access_policy": canonical_text(policy) if policy else None,
        "access_class": class_of(body),
    }


def _confidence(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "confidence_level": value["level"],
        "confidence_score": float(value["score"]),
        "confidence_basis": canonical_text(value["basis"]) if value.get("basis") else None,
    }


def _same(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: _native(name, body.get(name)) for name in names}


def _times(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: _moment(body.get(name)) for name in names}


def _moment(text: str | None) -> datetime | None:
    return parse_time(text) if text else None


#: Numbers that are always stored as FLOAT, since canonical JSON writes 1.0 as 1.
_FLOATS: Final = frozenset({"salience", "utility", "weight", "spread_weight"})


def _native(name: str, value: Any) -> Any:
    if name in _TIMES and isinstance(value, str):
        return parse_time(value)
    if name in _FLOATS and value is not None:
        return float(value)
    return value


def _without_none(properties: dict[str, Any]) -> dict[str, Any]:
    """Neo4j stores no null; an empty list is stored, since it says that there is none."""
    return {name: value for name, value in properties.items() if value is not None}
