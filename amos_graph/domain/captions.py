"""Short one-line captions: what Browser and tables show instead of an id."""

from __future__ import annotations

import unicodedata
from typing import Any, Final, cast

from amos_graph.domain.canonical import canonical_text
from amos_graph.domain.value_kinds import ref_kind

CAPTION_LENGTH_MAX: Final = 80
_JOINER = "\u200d"


def caption(value: Any, length_max: int = CAPTION_LENGTH_MAX) -> str:
    """A value as a person would read it: ids without their prefix, quantities with their unit."""
    return clip(_spoken(value), length_max)


def clip(text: str, length_max: int = CAPTION_LENGTH_MAX) -> str:
    """One visible line of at most `length_max` characters, cut between characters as people see them."""
    # Only the head matters; the margin keeps long runs of spaces from emptying it.
    line = " ".join(_visible(text[: length_max * 20]).split())
    if len(line) <= length_max and len(text) <= length_max * 20:
        return line
    cut = min(length_max - 1, len(line))
    while cut > 0 and cut < len(line) and _continues(line, cut):
        cut -= 1
    return line[:cut].rstrip() + "…"


def _spoken(value: Any) -> str:
    if isinstance(value, str):
        return value.partition(":")[2] if ref_kind(value) not in {None, "evidence"} else value
    if isinstance(value, list):
        return ", ".join(_spoken(item) for item in cast("list[Any]", value)[:10])
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if "value_type" in members:
            unit = members.get("unit")
            return _spoken(members.get("value")) + (f" {unit}" if unit else "")
        return ", ".join(f"{key} {_spoken(member)}" for key, member in list(members.items())[:10])
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return canonical_text(value)


def _visible(text: str) -> str:
    """Without control characters and without marks that reorder the line."""
    if text.isprintable():
        # It has no such character, which Python tells a hundred times as fast.
        return text
    return "".join(
        " "
        if unicodedata.category(letter) in {"Cc", "Zl", "Zp"}
        else ""
        if letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        else letter
        for letter in text
    )


def _continues(line: str, cut: int) -> bool:
    """True if a cut before `line[cut]` would split what people see as one character."""
    letter = line[cut]
    return (
        letter == _JOINER
        or line[cut - 1] == _JOINER
        or unicodedata.category(letter) in {"Mn", "Me", "Mc"}
        or 0x1F3FB <= ord(letter) <= 0x1F3FF
        or (0x1F1E6 <= ord(letter) <= 0x1F1FF and 0x1F1E6 <= ord(line[cut - 1]) <= 0x1F1FF)
    )
