"""The exact difference between two payloads, path by path (spec, "predecessor_diff")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

#: Fields that say what a record follows; they are no part of what it says.
LINKS: Final = frozenset({"predecessor_ref", "predecessor_diff"})
_ABSENT: Final = object()


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each place that differs, as a JSON pointer, with what was there and what is; in the order of paths."""
    plain = [{name: value for name, value in body.items() if name not in LINKS} for body in (before, after)]
    return sorted(_walk("", *plain), key=lambda one: one["path"])


def _walk(at: str, before: Any, after: Any) -> Iterator[dict[str, Any]]:
    one, other = _as_object(before), _as_object(after)
    if one is not None and other is not None:
        for name in {**one, **other}:
            token = name.replace("~", "~0").replace("/", "~1")
            yield from _walk(f"{at}/{token}", one.get(name, _ABSENT), other.get(name, _ABSENT))
        return
    first, second = _as_list(before), _as_list(after)
    if first is not None and second is not None:
        for index in range(max(len(first), len(second))):
            was, is_ = (part[index] if index < len(part) else _ABSENT for part in (first, second))
            yield from _walk(f"{at}/{index}", was, is_)
    elif before is _ABSENT or after is _ABSENT or _differ(before, after):
        yield {
            "path": at,
            **({} if before is _ABSENT else {"before": before}),
            **({} if after is _ABSENT else {"after": after}),
        }


def _as_object(value: Any) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def _as_list(value: Any) -> Sequence[Any] | None:
    return cast("Sequence[Any]", value) if isinstance(value, list) else None


def _differ(before: object, after: object) -> bool:
    """1 and true are equal in Python, and not in JSON."""
    return before != after or isinstance(before, bool) is not isinstance(after, bool)
