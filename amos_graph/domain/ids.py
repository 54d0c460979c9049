"""Identifiers and the rules that keep their kinds apart (spec, "Identifier namespaces")."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, WithJsonSchema

from amos_graph.domain.canonical import digest

ID_LENGTH_MAX: Final = 200
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@/+\-]{0,199}")
ENTITY_ID: Final = re.compile(r"ent:[a-z][a-z0-9_]*:[A-Za-z0-9][A-Za-z0-9_.:@/+\-]*")
_RELATION = re.compile(r"rel:[a-z][a-z0-9_]*")
_ENUM = re.compile(r"enum:[a-z][a-z0-9_]*:[a-z0-9][a-z0-9_.\-]*")
_PART = re.compile(r"[a-z0-9][a-z0-9_\-]{0,63}")

RecordKind = Literal[
    "atom", "edge", "entity", "relation", "enum", "evidence", "client", "score", "artifact", "refusal"
]

#: Prefix → kind of record. An id without one of them names an atom.
PREFIXES: Final[dict[str, RecordKind]] = {
    "ent:": "entity",
    "rel:": "relation",
    "enum:": "enum",
    "edge_": "edge",
    "evd_": "evidence",
    "cli_": "client",
    "scr_": "score",
    "art_": "artifact",
    "rfs_": "refusal",
}
#: Prefixes that no atom may take, although no record of ours is stored under them as such.
RESERVED: Final = (*PREFIXES, "proc:", "evt_", "pkt_", "rto_", "tmb_")


def kind_of(ref: str) -> RecordKind:
    """The kind of record that an id names, told from its prefix alone."""
    for prefix, kind in PREFIXES.items():
        if ref.startswith(prefix):
            return kind
    return "atom"


def _matching(pattern: re.Pattern[str], what: str) -> Any:
    def check(text: str) -> str:
        if len(text) > ID_LENGTH_MAX or not pattern.fullmatch(text):
            raise ValueError(f"not {what}")
        return text

    return AfterValidator(check)


def _described(pattern: re.Pattern[str]) -> WithJsonSchema:
    """What OpenAPI says of such an id."""
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern.pattern}$", "maxLength": ID_LENGTH_MAX})


def _atom_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ValueError("not an atom id (1 to 200 of letters, digits and _ . : @ / + -)")
    if text.startswith(RESERVED):
        raise ValueError("an atom id may not start with a prefix reserved for another kind of record")
    return text


_EVIDENCE = re.compile(r"evd_[A-Za-z0-9_\-]+")
_EDGE = re.compile(r"edge_[A-Za-z0-9_\-]+")
_ARTIFACT = re.compile(r"art_[A-Za-z0-9_\-]+")
_EVENT = re.compile(r"evt_[A-Za-z0-9_\-]+")
_PACKET = re.compile(r"pkt_[0-9a-f]{40}")
_NOT_RESERVED = re.compile(rf"(?!{'|'.join(RESERVED)}){_ID.pattern}")

Identifier = Annotated[
    str,
    _matching(_ID, "an identifier (1 to 200 of letters, digits and _ . : @ / + -)"),
    _described(_ID),
]
AtomId = Annotated[str, AfterValidator(_atom_id), _described(_NOT_RESERVED)]
EntityId = Annotated[str, _matching(ENTITY_ID, "an entity id (ent:<type>:<slug>)"), _described(ENTITY_ID)]
RelationId = Annotated[
    str, _matching(_RELATION, "a relation id (rel:<name>, lower case)"), _described(_RELATION)
]
EnumId = Annotated[str, _matching(_ENUM, "an enum id (enum:<group>:<value>)"), _described(_ENUM)]
EvidenceId = Annotated[str, _matching(_EVIDENCE, "an evidence id (evd_…)"), _described(_EVIDENCE)]
EdgeId = Annotated[str, _matching(_EDGE, "an edge id (edge_…)"), _described(_EDGE)]
ArtifactId = Annotated[str, _matching(_ARTIFACT, "an artifact id (art_…)"), _described(_ARTIFACT)]
EventId = Annotated[str, _matching(_EVENT, "an event id (evt_…)"), _described(_EVENT)]
PacketId = Annotated[str, _matching(_PACKET, "a packet id (pkt_…)"), _described(_PACKET)]
ScopePart = Annotated[
    str,
    _matching(_PART, "a lower-case name (letters, digits, _ and -, at most 64)"),
    _described(_PART),
]


def derived_id(prefix: str, content: Any) -> str:
    """The id that a record's own content determines: `atom_<digest>`, `edge_<digest>`, `evd_<digest>`."""
    return f"{prefix}{digest(content)[:40]}"


def slug_of(entity_id: str) -> str:
    """The name in an entity's id: `ent:person:ada_lovelace` → `ada lovelace`."""
    return entity_id.rpartition(":")[2].replace("_", " ")


def with_names(text: str) -> str:
    """A text in which each entity's id is the name within it: the kind would match all of that kind."""
    return ENTITY_ID.sub(lambda found: f" {slug_of(found[0])} ", text)


def shard_key(shard: str) -> str:
    """The shard as one index token, which no analyzer splits."""
    return hashlib.sha256(shard.encode()).hexdigest()[:32]


def relationship_type(relation: str) -> str:
    """The native relationship type of a relation id (`rel:goal_relevance` → `GOAL_RELEVANCE`)."""
    if not _RELATION.fullmatch(relation):
        raise ValueError(f"not a relation id: {relation!r}")
    return relation.removeprefix("rel:").upper()
