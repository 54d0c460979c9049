"""What every typed payload has in common; subclassing `Payload` with an `atom_type` registers a type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal, cast, get_args

from pydantic import Field, model_validator

from amos_graph.domain.captions import CAPTION_LENGTH_MAX, caption, clip
from amos_graph.domain.confidence import Confidence
from amos_graph.domain.ids import AtomId, EvidenceId, Identifier, RelationId
from amos_graph.domain.mentions import Mention, mentions
from amos_graph.domain.model import Strict
from amos_graph.domain.times import Timestamp
from amos_graph.domain.value_kinds import fault
from amos_graph.domain.values import (
    Data,
    Detail,
    Name,
    Reference,
    Statement,
    ValueRecord,
    references,
    skeleton,
    texts,
    words,
)

#: Members of one list field of a payload.
ITEMS_MAX: Final = 200
GRAPH_RELATIONS_MAX: Final = 100
#: A longer text is found by search and not by a native property.
LIFTED_LENGTH_MAX: Final = 1_000

#: Fields of the envelope; a payload that repeats one is told where it belongs.
ENVELOPE_FIELDS: Final = frozenset(
    {
        "id",
        "type",
        "schema_version",
        "payload",
        "evidence_refs",
        "scope",
        "confidence",
        "salience",
        "utility",
        "layer",
        "lifecycle_state",
        "health_status",
        "health_flags",
        "retention_class",
        "access_policy",
        "created_at",
        "observed_at",
        "updated_at",
        "last_accessed",
        "decay_policy",
        "version",
        "supersedes",
        "revision_history",
        "index_refs",
        "last_writer",
        "last_write_event_id",
    }
)
#: Native properties of `:Atom` that no lifted field may overwrite.
RESERVED_PROPERTIES: Final = ENVELOPE_FIELDS | {
    "shard",
    "title",
    "access_class",
    "valid_from",
    "valid_until",
    "content_digest",
    "search_text",
    "shard_key",
    "state_key",
}

#: A list of values or free-form records.
Details = Annotated[list[Detail], Field(max_length=ITEMS_MAX)]
#: A list of ids of records of ours.
Refs = Annotated[list[Identifier], Field(max_length=ITEMS_MAX)]
AtomRefs = Annotated[list[AtomId], Field(max_length=ITEMS_MAX)]

#: What an agent's experience has shown (spec, `outcome_category`).
OutcomeCategory = Literal["capability", "limitation", "procedure", "observation"]

_PLACE = re.compile(r"\{(\w+)\}")
_NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


def lift(*fields: str, **paths: str) -> Mapping[str, str]:
    """Native properties that are named as their fields, and others with the path of their field."""
    return MappingProxyType({**{field: field for field in fields}, **paths})


class Interval(Strict):
    """When something holds: from the first instant until before the second; open where null."""

    from_: Timestamp | None = Field(default=None, alias="from")
    until: Timestamp | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Interval:
        if self.from_ is None and self.until is None:
            raise fault("an interval names a beginning or an end", "from")
        # Canonical times compare as text.
        if self.from_ is not None and self.until is not None and self.until < self.from_:
            raise fault("lies before from", "until")
        return self


class GraphRelation(Strict):
    """An edge that the producer of an atom asks for (spec, `payload.graph_relations`)."""

    relation: RelationId
    target_ref: AtomId
    evidence_refs: list[EvidenceId] | None = Field(default=None, max_length=ITEMS_MAX)
    confidence: Confidence | None = None
    qualifiers: ValueRecord | None = None


class ProposalRetention(Strict):
    """How long and how many proposals of one kind are kept (spec, `payload.proposal_retention`)."""

    deduplication_key: Name | None = None
    ttl_seconds: int | None = Field(default=None, ge=1, le=10 * 366 * 24 * 3600)
    active_quota: int | None = Field(default=None, ge=0, le=1_000_000)
    proposed_quota: int | None = Field(default=None, ge=0, le=1_000_000)

    @model_validator(mode="after")
    def _asks_for_something(self) -> ProposalRetention:
        if not self.record():
            raise fault("names a key, a time or a quota")
        return self


class Payload(Strict):
    """The schema-bound content of an atom, with what the graph needs to know about its fields."""

    #: The envelope's `type`; a class without one is shared fields for others.
    atom_type: ClassVar[str] = ""
    #: The kind label of its `:Atom` nodes.
    label: ClassVar[str] = ""
    #: Native property ← payload path: the fields that people filter on.
    lifted: ClassVar[Mapping[str, str]] = _NO_NAMES
    #: Field → role of its REFERS_TO relationships, where it is not the field's own name.
    roles: ClassVar[Mapping[str, str]] = _NO_NAMES
    #: Fields that make the slot: two atoms with the same slot and other content compete. Empty: none do.
    slot: ClassVar[tuple[str, ...]] = ()
    #: The caption, with fields in braces.
    role_text: ClassVar[str] = ""

    #: Paths of the fields that say from when and until when it holds; None where none does.
    holds: ClassVar[tuple[str | None, str | None]] = (None, None)
    #: `layer` and `retention_class` of an atom that names none, where they are not those of every atom.
    defaults: ClassVar[Mapping[str, str]] = _NO_NAMES
    #: Why no ordinary command may write this type; empty where one may.
    guard: ClassVar[str] = ""
    #: True where an atom keeps what it said; what comes after it is another atom.
    immutable: ClassVar[bool] = False
    #: Relations of other atoms and bookkeeping: neither search text nor references of this atom.
    apart: ClassVar[frozenset[str]] = frozenset({"graph_relations", "proposal_retention"})

    semantic_facets: ValueRecord | None = None
    graph_relations: list[GraphRelation] | None = Field(default=None, max_length=GRAPH_RELATIONS_MAX)
    proposal_retention: ProposalRetention | None = None

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        if "atom_type" in cls.__dict__:
            _check_declaration(cls)

    @model_validator(mode="before")
    @classmethod
    def _leave_the_envelope_alone(cls, value: Any) -> Any:
        if isinstance(value, dict):
            for key in cast("dict[str, Any]", value):
                if key in ENVELOPE_FIELDS and key not in cls.model_fields:
                    raise fault("belongs in the envelope, not in the payload", key)
        return cast("Any", value)

    def record(self) -> dict[str, Any]:
        """The caller's JSON with canonical times: no key dropped, none added."""
        return self.model_dump(mode="json", exclude_unset=True, by_alias=True)

    @cached_property
    def said(self) -> Mapping[str, Any]:
        """`record`, made once: what everything here that only reads it is told from."""
        return self.record()

    def title(self) -> str:
        """One short line for people."""
        record = self.said
        return clip(_PLACE.sub(lambda place: caption(record.get(place[1], "")), self.role_text))

    @classmethod
    def interval(cls, record: Mapping[str, Any]) -> tuple[str | None, str | None]:
        """From when and until when a record of this type holds; None where it leaves that open."""
        begins, ends = (_at(record, path) if path else None for path in cls.holds)
        return begins, ends

    @property
    def valid_from(self) -> str | None:
        """When the claim begins to hold, for types that say so."""
        return self.interval(self.said)[0]

    @property
    def valid_until(self) -> str | None:
        """When the claim ceases to hold, for types that say so."""
        return self.interval(self.said)[1]

    def lifted_values(self) -> dict[str, Any]:
        """The lifted native properties: scalars and lists of text; what is neither stays in the payload."""
        record = self.said
        found = {name: _native(_at(record, path)) for name, path in self.lifted.items()}
        return {name: value for name, value in found.items() if value is not None}

    def entity_refs(self, at: str = "payload") -> list[tuple[str, str]]:
        """The entities that this payload refers to, each with its path; prose refers to nothing."""
        return [(found.path, found.ref) for _, found in self._found(at) if found.kind == "entity"]

    def entity_roles(self) -> list[tuple[str, str]]:
        """Each role with the entity that plays it, once."""
        found = [
            (self.roles.get(field, field), found.ref)
            for field, found in self._found("")
            if found.kind == "entity"
        ]
        return list(dict.fromkeys(found))

    def references(self, at: str = "payload") -> list[Reference]:
        """Every dictionary, entity and evidence id of this payload, graph_relations included."""
        own = [found for _, found in self._found(at)]
        return [*own, *references(self.said.get("graph_relations"), f"{at}.graph_relations")]

    def _found(self, at: str) -> list[tuple[str, Reference]]:
        return self.found_in(self.said, at)

    @classmethod
    def found_in(cls, record: Mapping[str, Any], at: str = "") -> list[tuple[str, Reference]]:
        """Each field with what it refers to, in the record of a payload or in a part of it."""
        return [
            (field, found)
            for field, value in record.items()
            if field not in cls.apart and field not in _data_fields(cls)
            for found in references(value, f"{at}.{field}" if at else field)
        ]

    def words(self) -> list[str]:
        """The search text of the payload: its values, never its keys."""
        return words([value for field, value in self.said.items() if field not in self.apart])

    def mentions(self) -> list[Mention]:
        """The names in what the payload says, whatever entities it refers to."""
        said = [
            text for field, value in self.said.items() if field not in self.apart for text in texts(value)
        ]
        return mentions(said)

    def slot_values(self, resolved: Callable[[str], str] = str) -> dict[str, Any] | None:
        """What competes for one place (with the scope): type and skeleton; None if nothing does.

        `resolved` is `Sameness.resolved`, so that two names of one entity compete for one place.
        """
        record = self.said
        if not self.slot or any(record.get(field) is None for field in self.slot):
            return None
        return {"type": self.atom_type, **{field: skeleton(record[field], resolved) for field in self.slot}}


class Dated(Payload):
    """A claim that holds for a time."""

    holds = ("validity_interval.from", "validity_interval.until")

    validity_interval: Interval | None = None


class Experience(Payload):
    """What a profile item rests on when an agent learned it (spec, "experience-derived … atoms")."""

    profile_update_source: Name | None = None
    agent_id: Identifier | None = None
    experience_kind: Name | None = None
    outcome_category: OutcomeCategory | None = None
    source_count: int | None = Field(default=None, ge=0)
    recent_source_refs: Refs | None = None
    supported_count: int | None = Field(default=None, ge=0)
    failed_count: int | None = Field(default=None, ge=0)
    reuse_guidance: Statement | None = None

    @model_validator(mode="after")
    def _counted(self) -> Experience:
        named = len(set(self.recent_source_refs or ()))
        if self.source_count is not None and self.source_count < named:
            raise fault(f"less than the {named} sources that are named", "source_count")
        return self


class Learned(Experience):
    """A type that is not always about an agent, and names it where it is."""

    subject_agent: Identifier | None = None


def _check_declaration(model: type[Payload]) -> None:
    """A type that contradicts itself or another one is refused when it is declared."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", model.atom_type) or not re.fullmatch(
        r"[A-Z][A-Za-z0-9]*", model.label
    ):
        raise TypeError(f"{model.__name__}: atom_type and label name the type")
    fields = model.model_fields
    named = {path.partition(".")[0] for path in model.lifted.values()}
    named |= {path.partition(".")[0] for path in model.holds if path}
    named |= {*model.roles, *model.slot, *_PLACE.findall(model.role_text)}
    unknown = named - set(fields)
    if unknown:
        raise TypeError(f"{model.__name__}: declares {', '.join(sorted(unknown))}, which it lacks")
    taken = {
        name
        for name in model.lifted
        if name in RESERVED_PROPERTIES or name.startswith(("scope_", "confidence_"))
    }
    if taken:
        raise TypeError(f"{model.__name__}: lifts onto {', '.join(sorted(taken))} of the envelope")


@cache
def _data_fields(model: type[Payload]) -> frozenset[str]:
    """The fields of a type that hold text or data of others."""
    return frozenset(name for name, field in model.model_fields.items() if is_data(field))


def is_data(field: Any) -> bool:
    """True for a field that holds text or data of others, in which an id refers to nothing."""
    return any(isinstance(mark, Data) for mark in field.metadata) or _mentions_data(field.annotation)


def _mentions_data(annotation: Any) -> bool:
    return any(
        isinstance(part, Data) or _mentions_data(part)
        for part in (*get_args(annotation), *getattr(annotation, "__metadata__", ()))
        if not isinstance(part, str)
    )


def _at(record: Any, path: str) -> Any:
    place: Any = record
    for step in path.split("."):
        if not isinstance(place, dict):
            return None
        place = cast("dict[str, Any]", place).get(step)
    return place


def _native(value: Any) -> Any:
    """A value as a native property, or None where it would not be one of a plain type."""
    if isinstance(value, dict):
        explicit = cast("dict[str, Any]", value)
        if "value_type" not in explicit:
            return None
        return caption(explicit, CAPTION_LENGTH_MAX) if "unit" in explicit else _native(explicit["value"])
    if isinstance(value, list):
        texts = [item for item in cast("list[Any]", value) if isinstance(item, str)]
        return texts if len(texts) == len(cast("list[Any]", value)) else None
    # An index takes keys of about 8 kB at most, and a filter on a cut text would lie.
    return None if isinstance(value, str) and len(value) > LIFTED_LENGTH_MAX else value
