"""What outcomes made of a record's numbers: its score, a record of its own that raises no other's version.

An atom states its utility and its salience, an edge its weight. Outcomes move them without a new
version of what they move (design §4): the score is versioned in its place, and holds for the version of
the record that it names. Once the record is written again, its own numbers count, and every command
carries on what they had become.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: The numbers that outcomes move.
NUMBERS: Final = ("utility", "salience", "weight")


def score_id(ref: str) -> str:
    """The id of the score of an atom or an edge."""
    return f"scr_{ref}"


def numbers_of(score: Mapping[str, Any] | None, version: int) -> dict[str, Any]:
    """The numbers that a score gives to this version of its record; none if it is of another version."""
    if score is None or score.get("of_version") != version:
        return {}
    return {name: score[name] for name in NUMBERS if score.get(name) is not None}


def with_numbers(body: Mapping[str, Any], numbers: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body with these numbers in place of its own, as canonical JSON would read them back."""
    moved = {
        name: _plain(number)
        for name, number in numbers.items()
        if number is not None and name in body and body[name] != number
    }
    return {**body, **moved} if moved else body


def stated(body: Mapping[str, Any], numbers: Mapping[str, Any]) -> dict[str, Any]:
    """What the body itself says where these numbers differ from it."""
    return {
        name: body[name]
        for name, number in numbers.items()
        if number is not None and name in body and body[name] != number
    }


def _plain(number: Any) -> Any:
    return int(number) if isinstance(number, float) and number.is_integer() else number
