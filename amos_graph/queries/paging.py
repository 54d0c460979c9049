"""Cursors of listings: opaque, and good for the filters that they were given with alone."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import BaseModel, Field, TypeAdapter

from amos_graph.domain.canonical import digest, parse_json
from amos_graph.domain.times import canonical_time, format_time, parse_time
from amos_graph.errors import AmosError, invalid

#: Where the last record of a page stands: its created_at and its id.
Position = tuple[datetime, str]

_CURSOR: Final = TypeAdapter(Annotated[list[str], Field(min_length=3, max_length=3)])
_START: Final[Position] = (datetime(1, 1, 1, tzinfo=UTC), "")


def cursor_of(asked: BaseModel, position: Position) -> str:
    """The cursor of the page after a position."""
    text = json.dumps([_filters(asked), format_time(position[0]), position[1]])
    return base64.urlsafe_b64encode(text.encode()).decode()


def position_of(asked: BaseModel, cursor: str | None) -> Position:
    """Where the page begins. Raises `schema_invalid` for a cursor of other filters or none of ours."""
    if cursor is None:
        return _START
    try:
        parts = parse_json(base64.urlsafe_b64decode(cursor.encode()), depth_max=2)
        filters, created, last = _CURSOR.validate_python(parts, strict=True)
        position = parse_time(canonical_time(created)), last
    except (ValueError, TypeError, AmosError) as error:
        raise invalid("cursor", "not a cursor of this listing") from error
    if filters != _filters(asked):
        raise invalid("cursor", "this cursor belongs to other filters")
    return position


def _filters(asked: BaseModel) -> str:
    return digest(asked.model_dump(mode="json", exclude={"cursor", "limit"}))[:16]
