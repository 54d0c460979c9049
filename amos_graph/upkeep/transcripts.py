"""Transcripts of chats and tool calls, one conversation a line (docs/chat-format.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from pydantic import TypeAdapter, ValidationError

from amos_graph.domain.canonical import canonical_bytes, digest, parse_json
from amos_graph.domain.ids import Identifier
from amos_graph.domain.value_kinds import TEXT_LENGTH_MAX, check_data
from amos_graph.errors import AmosError, invalid

#: One line of the file, which holds one conversation.
LINE_BYTES_MAX: Final = 16_000_000
MESSAGES_MAX: Final = 5_000
#: One message as JSON; larger things belong to the archive and are captured on their own.
MESSAGE_BYTES_MAX: Final = 900_000
#: Longer conversation ids would leave no room for the ids of their events.
ID_LENGTH_MAX: Final = 150
DEPTH_MAX: Final = 32

_ID_NAMES: Final = ("run", "conversation_id", "id")
#: Role as written → role of an interaction event.
_ROLES: Final[Mapping[str, str]] = {
    **{name: name for name in ("user", "assistant", "system", "developer", "tool", "agent", "environment")},
    "function": "tool",
}
_IDENTIFIER: Final = TypeAdapter[str](Identifier)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a message makes; its arguments are structured where they are JSON."""

    id: str | None
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Message:
    """One turn, and the JSON that it was read from, which is kept whole as evidence."""

    role: str
    text: str | None
    #: The tool's answer where it is a JSON object or list; `text` is then None.
    result: Any
    name: str | None
    calls: tuple[Call, ...]
    call_id: str | None
    is_error: bool | None
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One line: who said and called what, in order, and how it was judged, if it was."""

    id: str
    messages: tuple[Message, ...]
    task_id: str | None
    reward: float | None
    #: What the line says beside the messages.
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file: its number from 1, where it ends, and its bytes unless there are too many."""

    number: int
    end: int
    raw: bytes | None


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file that are not blank; never more than one of them is in memory."""
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(LINE_BYTES_MAX + 1):
            number += 1
            if len(raw) > LINE_BYTES_MAX and not raw.endswith(b"\n"):
                _skip_line(file)
                yield Line(number, file.tell(), None)
                continue
            text = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            if text.strip():
                yield Line(number, file.tell(), text.rstrip(b"\r\n"))


def _skip_line(file: BinaryIO) -> None:
    while rest := file.readline(LINE_BYTES_MAX):
        if rest.endswith(b"\n"):
            return


def read_conversation(line: Line) -> Conversation:
    """The conversation of a line.

    Raises `schema_invalid` with the path of the first field that is wrong.
    """
    if line.raw is None:
        raise invalid("", f"the line is longer than {LINE_BYTES_MAX} bytes")
    value = parse_json(line.raw, DEPTH_MAX)
    if not isinstance(value, dict):
        raise invalid("", "a line is an object with messages")
    record = cast("dict[str, Any]", value)
    listed = record.get("messages")
    if not isinstance(listed, list) or not listed:
        raise invalid("messages", "a conversation has a list of messages")
    entries = cast("list[Any]", listed)
    if len(entries) > MESSAGES_MAX:
        raise invalid("messages", f"more than {MESSAGES_MAX} in one conversation")
    about = {name: member for name, member in record.items() if name != "messages"}
    if len(canonical_bytes(about)) > MESSAGE_BYTES_MAX:
        raise invalid("", f"what stands beside the messages is larger than {MESSAGE_BYTES_MAX} bytes")
    return Conversation(
        id=_conversation_id(record, entries),
        messages=tuple(_message(entry, f"messages[{index}]") for index, entry in enumerate(entries)),
        task_id=_task_id(record),
        reward=_reward(record),
        about=about,
    )


def _conversation_id(record: Mapping[str, Any], messages: list[Any]) -> str:
    """The id that the line gives, else one that its messages determine."""
    for name in _ID_NAMES:
        given = record.get(name)
        if given is None:
            continue
        text = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
        if not isinstance(text, str) or len(text) > ID_LENGTH_MAX or not _is_identifier(text):
            raise invalid(name, f"not an id (1 to {ID_LENGTH_MAX} of letters, digits and _ . : @ / + -)")
        return text
    return f"sha256-{digest(messages)[:32]}"


def _is_identifier(text: str) -> bool:
    try:
        _IDENTIFIER.validate_python(text, strict=True)
    except ValidationError:
        return False
    return True


def _task_id(record: Mapping[str, Any]) -> str | None:
    given = record.get("task_id")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (str, int)) or not 0 < len(str(given)) <= 200:
        raise invalid("task_id", "not a text or a whole number")
    return str(given)


def _reward(record: Mapping[str, Any]) -> float | None:
    given = record.get("reward")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise invalid("reward", "not a number")
    return float(given)


def _message(value: Any, at: str) -> Message:
    if not isinstance(value, dict):
        raise invalid(at, "not an object")
    source = cast("dict[str, Any]", value)
    if len(canonical_bytes(source)) > MESSAGE_BYTES_MAX:
        raise invalid(at, f"larger than {MESSAGE_BYTES_MAX} bytes")
    written = source.get("role")
    role = _ROLES.get(written) if isinstance(written, str) else None
    if role is None:
        raise invalid(f"{at}.role", f"not one of {', '.join(_ROLES)}")
    calls = tuple(_calls(source, at))
    if calls and role == "tool":
        raise invalid(f"{at}.tool_calls", "a tool's answer calls no tools")
    text = _text(source, at)
    if text is None and not calls:
        if "content" not in source:
            raise invalid(f"{at}.content", "missing; a message says something or calls tools")
        text = ""
    result = structured(text) if role == "tool" and text else None
    if isinstance(result, str):
        result = None
    return Message(
        role=role,
        text=None if result is not None else text,
        result=result,
        name=_optional(source, "name", at),
        calls=calls,
        call_id=_optional(source, "tool_call_id", at) if role == "tool" else None,
        is_error=_flag(source, at) if role == "tool" else None,
        source=source,
    )


def _calls(source: Mapping[str, Any], at: str) -> Iterator[Call]:
    """The calls of a message: flat, below `function` (OpenAI), or the older single `function_call`."""
    listed = source.get("tool_calls")
    if listed is None:
        listed = [source["function_call"]] if source.get("function_call") is not None else []
    if not isinstance(listed, list):
        raise invalid(f"{at}.tool_calls", "not a list")
    for index, entry in enumerate(cast("list[Any]", listed)):
        path = f"{at}.tool_calls[{index}]"
        if not isinstance(entry, dict):
            raise invalid(path, "not an object")
        outer = cast("dict[str, Any]", entry)
        inner, below = outer, path
        if isinstance(outer.get("function"), dict):
            inner, below = cast("dict[str, Any]", outer["function"]), f"{path}.function"
        name = _optional(inner, "name", below)
        if name is None:
            raise invalid(f"{below}.name", "missing; a call names its tool")
        arguments = inner.get("arguments")
        if isinstance(arguments, str):
            arguments = structured(arguments)
        yield Call(_optional(outer, "id", path), name, arguments)


def structured(text: str) -> Any:
    """The JSON that a text is, within the bounds of tool data; else the text itself."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return check_data(parse_json(text.encode(), DEPTH_MAX))
    except (AmosError, ValidationError):
        return text


def _text(source: Mapping[str, Any], at: str) -> str | None:
    """What a message says: a text, or the text parts of a list of parts."""
    content = source.get("content")
    if content is None:
        return None
    if isinstance(content, list):
        parts = cast("list[Any]", content)
        said = [_part(part, f"{at}.content[{index}]") for index, part in enumerate(parts)]
        content = "\n".join(text for text in said if text is not None)
    if not isinstance(content, str):
        raise invalid(f"{at}.content", "not a text, null or a list of parts")
    if len(content) > TEXT_LENGTH_MAX:
        raise invalid(f"{at}.content", f"longer than {TEXT_LENGTH_MAX} characters")
    return content


def _part(part: Any, at: str) -> str | None:
    """The text of a part; images, sounds and files are kept in the evidence alone."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise invalid(at, "not a part of a message")
    text = cast("dict[str, Any]", part).get("text")
    if text is not None and not isinstance(text, str):
        raise invalid(f"{at}.text", "not a text")
    return text


def _optional(source: Mapping[str, Any], name: str, at: str) -> str | None:
    value = source.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or len(value) > 200:
        raise invalid(f"{at}.{name}", "not a text of 1 to 200 characters")
    return value


def _flag(source: Mapping[str, Any], at: str) -> bool | None:
    value = source.get("is_error")
    if value is not None and not isinstance(value, bool):
        raise invalid(f"{at}.is_error", "not true or false")
    return value
