"""AtomValue, the compact type system of payload values, and what a value says (spec, "AtomValue")."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

from pydantic import AfterValidator, WithJsonSchema

from amos_graph.domain.canonical import canonical_text
from amos_graph.domain.value_kinds import (
    NAME_LENGTH_MAX,
    TEXT_LENGTH_MAX,
    VALUE_TYPES,
    RefKind,
    check_atom_value,
    check_condition,
    check_detail,
    check_name,
    check_prose,
    check_record,
    check_statement,
    ref_kind,
)

_WORD = re.compile(r"\w+")
_OPAQUE = re.compile(r"(evd|evt|edge|pkt|rto|tmb|cli)_[A-Za-z0-9_\-]+|atom_[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Data:
    """Marks a field as data: an id that somebody wrote in it is text and refers to nothing."""


_VALUE_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": ["string", "number", "boolean"]},
        {
            "type": "object",
            "properties": {
                "value_type": {"enum": list(VALUE_TYPES)},
                "value": {},
                "unit": {"type": "string"},
            },
            "required": ["value_type", "value"],
            "additionalProperties": False,
        },
    ]
}

#: A plain scalar whose type is evident, or an explicit object.
AtomValue = Annotated[Any, AfterValidator(check_atom_value), WithJsonSchema(_VALUE_SCHEMA)]
#: An AtomValue, or a free-form record.
Detail = Annotated[
    Any, AfterValidator(check_detail), WithJsonSchema({"type": ["string", "number", "boolean", "object"]})
]
#: When something applies: a text or a free-form record.
Condition = Annotated[Any, AfterValidator(check_condition), WithJsonSchema({"type": ["string", "object"]})]
#: A free-form record; nulls and nesting stay as they are.
ValueRecord = Annotated[dict[str, Any], AfterValidator(check_record)]
#: Exactly what was said, possibly nothing.
Prose = Annotated[
    str,
    AfterValidator(check_prose),
    Data(),
    WithJsonSchema({"type": "string", "maxLength": TEXT_LENGTH_MAX}),
]
#: A sentence that states something.
Statement = Annotated[
    str,
    AfterValidator(check_statement),
    Data(),
    WithJsonSchema({"type": "string", "pattern": r"\S", "maxLength": TEXT_LENGTH_MAX}),
]
#: A short name that is no id.
Name = Annotated[
    str,
    AfterValidator(check_name),
    WithJsonSchema({"type": "string", "pattern": r"\S", "maxLength": NAME_LENGTH_MAX}),
]


# --- what a value says ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reference:
    """One record that a value refers to, and where."""

    path: str
    kind: RefKind
    ref: str


def references(value: Any, at: str = "") -> Iterator[Reference]:
    """Every entity, relation, enum and evidence id anywhere in a value, with its path."""
    if isinstance(value, str):
        kind = ref_kind(value)
        if kind:
            yield Reference(at, kind, value)
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from references(item, f"{at}[{index}]")
    elif isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if members.get("value_type") in ("string_literal", "external_uri", "quantity"):
            return
        for key, member in members.items():
            yield from references(member, f"{at}.{key[:80]}" if at else key[:80])


def entity_refs(value: Any, at: str = "") -> list[tuple[str, str]]:
    """The entity ids in a value, each with its path."""
    return [(found.path, found.ref) for found in references(value, at) if found.kind == "entity"]


def words(value: Any) -> list[str]:
    """The search text of a value: what its values say, never its keys.

    Names written in one piece (`ent:…`, `snake_case`) are also given word by word,
    since a text index takes them for a single word.
    """
    if isinstance(value, str):
        return _text_words(value)
    if isinstance(value, (list, tuple)):
        return [word for item in cast("list[Any]", value) for word in words(item)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        spoken = [member for key, member in members.items() if key != "value_type"]
        return words(spoken)
    if isinstance(value, bool) or value is None:
        return []
    return [canonical_text(value)]


def texts(value: Any) -> Iterator[str]:
    """Every text in a value that somebody wrote as text: no ids, no numbers, no keys."""
    if isinstance(value, str):
        if value.strip() and not (_OPAQUE.fullmatch(value) or ref_kind(value) or value.startswith("proc:")):
            yield value
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from texts(item)
    elif isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            if key != "value_type":
                yield from texts(member)


def _text_words(text: str) -> list[str]:
    if not text.strip() or _OPAQUE.fullmatch(text):
        return []
    if ref_kind(text) or text.startswith("proc:"):
        return [_spaced(text.partition(":")[2])]
    apart = [_spaced(found) for found in _WORD.findall(text) if "_" in found.strip("_")]
    return [text, *apart]


def _spaced(name: str) -> str:
    return " ".join(re.split(r"[_:./@+\-]+", name)).strip()


def skeleton(value: Any, resolved: Callable[[str], str] = str) -> Any:
    """A value without accidents of spelling: two that mean the same thing are equal (slots).

    `resolved` gives the entity that an entity id became by merging.
    """
    if isinstance(value, str):
        kind = ref_kind(value)
        return resolved(value) if kind == "entity" else value if kind else fold(value)
    if isinstance(value, list):
        return [skeleton(item, resolved) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if "value_type" not in members:
            return {key: skeleton(member, resolved) for key, member in members.items()}
        inner = skeleton(members.get("value"), resolved)
        return [inner, fold(str(members["unit"]))] if "unit" in members else inner
    return value


def fold(name: str) -> str:
    """The form by which names are looked up: NFKC, case folded, invisible marks gone, spaces collapsed."""
    if name.isascii():
        return " ".join(name.lower().split())
    folded = name
    # Folding can leave text that normalises further, so it is repeated until it rests.
    for _ in range(4):
        before = folded
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
        folded = "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")
        if folded == before:
            break
    return " ".join(folded.split())
