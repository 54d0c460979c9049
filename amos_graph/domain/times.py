"""Time as canonical text: UTC, microseconds, fixed width, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, WithJsonSchema

_LENGTH: Final = len("2026-01-01T00:00:00.000000Z")
#: The records of one command share their times, so few are read or written more than once.
_KEPT: Final = 1_024


def canonical_time(text: str) -> str:
    """An RFC 3339 instant with its offset, as canonical text.

    Raises ValueError for naive or malformed times (pydantic turns it into a fault with its path).
    """
    if len(text) > 40 or "T" not in text.upper():
        raise ValueError("not an RFC 3339 date-time")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        # The parser's own message repeats the text, which may be private.
        raise ValueError("not an RFC 3339 date-time") from None
    if moment.tzinfo is None:
        raise ValueError("the time names no offset; write Z or +hh:mm")
    try:
        return format_time(moment)
    except OverflowError as error:
        raise ValueError("the time lies outside the years 1 to 9999") from error


@lru_cache(maxsize=_KEPT)
def format_time(moment: datetime) -> str:
    """An aware datetime as canonical text."""
    # strftime pads years below 1000 on no platform alike, hence isoformat.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


@lru_cache(maxsize=_KEPT)
def parse_time(text: str) -> datetime:
    """The aware datetime of a canonical time. Raises ValueError for any other text."""
    moment = datetime.fromisoformat(text)
    # `fromisoformat` is a hundred times as fast as a format, and takes more forms than the canonical one.
    if len(text) != _LENGTH or (text[10], text[19], text[26]) != ("T", ".", "Z"):
        raise ValueError("not a canonical time")
    return moment


def native_time(value: Any) -> datetime:
    """A time as Neo4j's driver gives it, as an aware datetime. Raises AttributeError for anything else."""
    return value if isinstance(value, datetime) else value.to_native()


def native_text(value: Any) -> str:
    """A time as Neo4j's driver gives it, as canonical text."""
    return format_time(native_time(value))


def now() -> str:
    """The present instant as canonical text."""
    return format_time(datetime.now(UTC))


Timestamp = Annotated[
    str,
    AfterValidator(canonical_time),
    WithJsonSchema({"type": "string", "format": "date-time", "maxLength": 40}),
]
