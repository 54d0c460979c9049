"""How each kind of payload value is checked, with the place of whatever is wrong inside it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final, Literal, cast, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from amos_graph.domain.canonical import INTEGER_MAX
from amos_graph.domain.ids import EntityId, EnumId, EvidenceId, RelationId
from amos_graph.domain.times import canonical_time

#: Prose: what was said or stated, in full. Anything longer is evidence and belongs to the archive.
TEXT_LENGTH_MAX: Final = 100_000
#: One literal inside a value.
LITERAL_LENGTH_MAX: Final = 10_000
#: Names, units, keys.
NAME_LENGTH_MAX: Final = 200
#: Members of one list or record.
MEMBERS_MAX: Final = 1_000
#: Levels of lists and records inside one value.
VALUE_DEPTH_MAX: Final = 8
#: The same two for JSON that others shaped (a tool's arguments and answer).
DATA_MEMBERS_MAX: Final = 10_000
DATA_DEPTH_MAX: Final = 20

ValueType = Literal[
    "entity_ref",
    "relation_ref",
    "enum_ref",
    "string_literal",
    "number",
    "boolean",
    "timestamp",
    "duration",
    "quantity",
    "list",
    "record",
    "evidence_ref",
    "external_uri",
]
VALUE_TYPES: Final[tuple[ValueType, ...]] = get_args(ValueType)

RefKind = Literal["entity", "relation", "enum", "evidence"]

#: Prefix → what a string that begins with it refers to, and the shape that it must have.
_REFS: Final[tuple[tuple[str, RefKind, TypeAdapter[str]], ...]] = (
    ("ent:", "entity", TypeAdapter(EntityId)),
    ("rel:", "relation", TypeAdapter(RelationId)),
    ("enum:", "enum", TypeAdapter(EnumId)),
    ("evd_", "evidence", TypeAdapter(EvidenceId)),
)
_DURATION = re.compile(
    r"-?P(?=\d|T\d)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)", re.ASCII
)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s\x00-\x1f\x7f<>\"{}|\\^`]+")

Path = tuple[str | int, ...]


def fault(message: str, *location: str | int) -> ValidationError:
    """A validation fault at a place below the field whose validator raises it."""
    # The message is no template: braces in it must not be looked up in a context.
    problem = PydanticCustomError("value", "{text}", {"text": message})
    return ValidationError.from_exception_data(
        "value", [InitErrorDetails(type=problem, loc=location, input=None)]
    )


def ref_kind(text: str) -> RefKind | None:
    """What a well-formed reference names; None for every other string."""
    for prefix, kind, shape in _REFS:
        if text.startswith(prefix):
            return kind if _fits(shape, text) else None
    return None


def is_entity(value: Any) -> bool:
    """True for a well-formed entity id."""
    return isinstance(value, str) and ref_kind(value) == "entity"


def _fits(shape: TypeAdapter[str], text: str) -> bool:
    try:
        shape.validate_python(text, strict=True)
    except ValidationError:
        return False
    return True


def check_atom_value(value: Any) -> Any:
    return _typed(value, (), 0)


def check_detail(value: Any) -> Any:
    if isinstance(value, dict):
        return _free(cast("dict[Any, Any]", value), (), 0)
    return _typed(value, (), 0)


def check_condition(value: Any) -> Any:
    if not isinstance(value, (str, dict)):
        raise fault("a condition is a text or a record")
    return check_detail(cast("Any", value))


def check_record(value: dict[str, Any]) -> Any:
    return _free(value, (), 0)


def _typed(value: Any, path: Path, depth: int) -> Any:
    """A plain scalar, or an explicit object that names its type."""
    if isinstance(value, str):
        return _plain_text(value, path)
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return _number(value, path)
    if isinstance(value, dict):
        explicit = cast("dict[str, Any]", value)
        if "value_type" in explicit:
            return _explicit(explicit, path, depth)
        raise fault('an object names its type: {"value_type": "record", "value": {…}}', *path)
    if isinstance(value, list):
        raise fault('a list is written {"value_type": "list", "value": […]}', *path)
    raise fault("a value is text, a number, true, false or an object with value_type", *path)


def _plain_text(text: str, path: Path) -> str:
    _bounded(text, LITERAL_LENGTH_MAX, path)
    if not text.strip():
        raise fault("blank text", *path)
    for prefix, kind, shape in _REFS:
        if text.startswith(prefix) and not _fits(shape, text):
            hint = '{"value_type": "string_literal", "value": …} keeps it as text'
            raise fault(f"begins with {prefix} but is no {kind} id; {hint}", *path)
    return text


def _explicit(value: dict[str, Any], path: Path, depth: int) -> dict[str, Any]:
    """`{"value_type": …, "value": …}`, and `unit` where it is a quantity."""
    kind = value["value_type"]
    if not isinstance(kind, str) or kind not in _KINDS:
        raise fault(f"no value type; known are {', '.join(VALUE_TYPES)}", *path, "value_type")
    if "value" not in value:
        raise fault("missing", *path, "value")
    allowed = {"value_type", "value", "unit"} if kind == "quantity" else {"value_type", "value"}
    for key in value:
        if key not in allowed:
            raise fault(f"unknown in a value of type {kind}", *path, str(key)[:80])
    if kind == "quantity":
        unit = value.get("unit")
        if not isinstance(unit, str) or not unit.strip():
            raise fault("a quantity names its unit", *path, "unit")
        _bounded(unit, NAME_LENGTH_MAX, (*path, "unit"))
    return {**value, "value": _KINDS[kind](value["value"], (*path, "value"), depth)}


def _reference(kind: RefKind) -> Callable[[Any, Path, int], str]:
    def check(value: Any, path: Path, _depth: int) -> str:
        if not isinstance(value, str) or ref_kind(value) != kind:
            raise fault(f"not a well-formed {kind} id", *path)
        return value

    return check


def _literal(value: Any, path: Path, _depth: int) -> str:
    if not isinstance(value, str):
        raise fault("not text", *path)
    _bounded(value, LITERAL_LENGTH_MAX, path)
    return value


def _number(value: Any, path: Path, _depth: int = 0) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise fault("not a number", *path)
    beyond = abs(value) > INTEGER_MAX if isinstance(value, int) else not math.isfinite(value)
    if beyond:
        raise fault("not a finite number within ±(2^53−1)", *path)
    return value


def _boolean(value: Any, path: Path, _depth: int) -> bool:
    if not isinstance(value, bool):
        raise fault("not true or false", *path)
    return value


def _timestamp(value: Any, path: Path, _depth: int) -> str:
    if not isinstance(value, str):
        raise fault("not an RFC 3339 date-time", *path)
    try:
        return canonical_time(value)
    except ValueError as error:
        raise fault(str(error), *path) from error


def _duration(value: Any, path: Path, _depth: int) -> str:
    if not isinstance(value, str) or len(value) > NAME_LENGTH_MAX or not _DURATION.fullmatch(value):
        raise fault("not an ISO 8601 duration (P3D, PT1H30M, P2W)", *path)
    return value


def _uri(value: Any, path: Path, _depth: int) -> str:
    if not isinstance(value, str) or len(value) > LITERAL_LENGTH_MAX or not _URI.fullmatch(value):
        raise fault("not a URI with a scheme", *path)
    if any(value.startswith(prefix) for prefix, _, _ in _REFS):
        raise fault("a reference to a record of ours is no external URI", *path)
    return value


def _list(value: Any, path: Path, depth: int) -> list[Any]:
    if not isinstance(value, list):
        raise fault("not a list", *path)
    members = cast("list[Any]", value)
    _nested(members, path, depth)
    return [_typed(member, (*path, index), depth + 1) for index, member in enumerate(members)]


def _members(value: Any, path: Path, depth: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise fault("not an object", *path)
    members = cast("dict[str, Any]", value)
    _nested(members, path, depth)
    return {_key(key, path): _typed(member, (*path, key), depth + 1) for key, member in members.items()}


_KINDS: Final[dict[str, Callable[[Any, Path, int], Any]]] = {
    "entity_ref": _reference("entity"),
    "relation_ref": _reference("relation"),
    "enum_ref": _reference("enum"),
    "string_literal": _literal,
    "number": _number,
    "boolean": _boolean,
    "timestamp": _timestamp,
    "duration": _duration,
    "quantity": _number,
    "list": _list,
    "record": _members,
    "evidence_ref": _reference("evidence"),
    "external_uri": _uri,
}


def _free(value: Any, path: Path, depth: int) -> Any:
    """Any bounded JSON, nulls included; an object that names a value type is held to it."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if "value_type" in members:
            return _explicit(members, path, depth)
        _nested(members, path, depth)
        return {_key(key, path): _free(member, (*path, key), depth + 1) for key, member in members.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        _nested(items, path, depth)
        return [_free(item, (*path, index), depth + 1) for index, item in enumerate(items)]
    if isinstance(value, str):
        return _bounded(value, LITERAL_LENGTH_MAX, path)
    if value is None or isinstance(value, bool):
        return value
    return _number(value, path)


def _nested(
    members: dict[str, Any] | list[Any],
    path: Path,
    depth: int,
    depth_max: int = VALUE_DEPTH_MAX,
    members_max: int = MEMBERS_MAX,
) -> None:
    if depth >= depth_max:
        raise fault(f"nested deeper than {depth_max} levels", *path)
    if len(members) > members_max:
        raise fault(f"more than {members_max} members", *path)


def _key(key: Any, path: Path) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= NAME_LENGTH_MAX:
        raise fault(f"a key has 1 to {NAME_LENGTH_MAX} characters", *path)
    return key


def _bounded(text: str, length_max: int, path: Path) -> str:
    if len(text) > length_max:
        raise fault(f"longer than {length_max} characters", *path)
    return text


def check_prose(text: str) -> str:
    return _bounded(text, TEXT_LENGTH_MAX, ())


def check_statement(text: str) -> str:
    if not text.strip():
        raise fault("blank text")
    return check_prose(text)


def check_name(text: str) -> str:
    if not text.strip():
        raise fault("blank name")
    return _bounded(text, NAME_LENGTH_MAX, ())


def check_data(value: Any) -> Any:
    """JSON that somebody else shaped (a tool's arguments or its answer), bounded and otherwise as it is."""
    pending: list[tuple[Path, Any]] = [((), value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, str):
            _bounded(item, TEXT_LENGTH_MAX, path)
        elif isinstance(item, dict):
            members = cast("dict[str, Any]", item)
            _nested(members, path, len(path), DATA_DEPTH_MAX, DATA_MEMBERS_MAX)
            pending.extend(((*path, _key(key, path)), member) for key, member in members.items())
        elif isinstance(item, list):
            items = cast("list[Any]", item)
            _nested(items, path, len(path), DATA_DEPTH_MAX, DATA_MEMBERS_MAX)
            pending.extend(((*path, index), member) for index, member in enumerate(items))
        elif item is not None and not isinstance(item, bool):
            _number(item, path)
    return value
