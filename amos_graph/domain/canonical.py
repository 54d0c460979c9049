"""JSON in, canonical JSON out: what is hashed is exactly what is stored (RFC 8785)."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import rfc8785

from amos_graph.errors import AmosError, invalid

INTEGER_MAX = 2**53 - 1
#: How deep a value may be nested, whoever brings it and whatever else is set. Behind it, the ways of
#: Python, pydantic and RFC 8785 through a value end at depths of their own.
DEPTH_MAX: Final = 200
_BEYOND: Final = "an integer lies beyond ±(2^53−1)"
#: Members of one object or entries of one list. Each can be a fault, and each fault costs more than itself.
MEMBERS_MAX = 50_000


def canonical_bytes(value: Any) -> bytes:
    """The RFC 8785 form of a JSON value.

    Raises `schema_invalid` for a value that JSON cannot carry without loss.
    """
    quick = _quick(value)
    return _slow(value) if quick is None else quick.encode()


def canonical_text(value: Any) -> str:
    """`canonical_bytes` as text, for storage in a string property."""
    quick = _quick(value)
    return _slow(value).decode() if quick is None else quick


def _slow(value: Any) -> bytes:
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise AmosError("schema_invalid", f"not representable as canonical JSON: {error}") from error


#: Python's own encoder, which is written in C; the package's is not, and took a quarter of a batch's time.
_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)
#: UTF-16, by which RFC 8785 sorts keys, puts these in another order than Python.
_SORTED_OTHERWISE: Final = re.compile("[\ue000-\U0010ffff]")


def _quick(value: Any) -> str | None:
    """The canonical form where Python's encoder is sure to give it, else None."""
    try:
        text = _ENCODER.encode(value)
        # Only now is it certain that the value does not hold itself.
        whole = _plain(value)
        if whole is None or not (text.isascii() or _SORTED_OTHERWISE.search(text) is None):
            return None
        # Also what is no text is refused, a lone surrogate.
        text.encode()
        return _ENCODER.encode(_with_integers(value)) if whole else text
    except (TypeError, ValueError, RecursionError):
        # What is wrong with it is said by the one that knows the form.
        return None


_kind: Final = cast("Callable[[Any], type[Any]]", type)
_TEXT: Final = frozenset({str})


def _plain(value: Any) -> bool | None:
    """None unless every key is text and Python writes every number as ECMAScript does.

    Else, whether that takes its whole floats as integers, since 1.0 is written 1.
    """
    whole = False
    pending: list[Any] = [value]
    for each in pending:
        kind = _kind(each)
        if kind is str or kind is bool or each is None:
            continue
        if kind is dict:
            if not _TEXT.issuperset(map(type, each)):
                return None
            pending += each.values()
        elif kind is list or kind is tuple:
            pending += each
        elif kind is int:
            if not -INTEGER_MAX <= each <= INTEGER_MAX:
                return None
        elif kind is not float:
            return None
        elif each.is_integer():
            if not -INTEGER_MAX <= each <= INTEGER_MAX:
                return None
            whole = True
        # Small and large numbers have exponents of another form.
        elif not 1e-4 <= abs(each) < 1e16:
            return None
    return whole


def _with_integers(value: Any) -> Any:
    """The value with its whole floats as integers."""
    kind = _kind(value)
    if kind is dict:
        return {key: _with_integers(member) for key, member in value.items()}
    if kind is list or kind is tuple:
        return [_with_integers(member) for member in value]
    return int(value) if kind is float and value.is_integer() else value


def canonical_object(texts: Mapping[str, str]) -> str:
    """The canonical form of an object, made of those of its members; its keys are plain ASCII names."""
    return "{" + ",".join(f'"{name}":{texts[name]}' for name in sorted(texts)) + "}"


def digest(value: Any) -> str:
    """Hexadecimal SHA-256 of the canonical form."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def parse_json(raw: bytes, depth_max: int = DEPTH_MAX, at: str = "") -> Any:
    """The JSON value of a request body, refused wherever a parser would have to guess.

    Duplicate keys, NaN, infinities (also `1e400`), lone surrogates, integers beyond
    ±(2^53−1) and nesting deeper than `depth_max` are `schema_invalid` with the path.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid(at, f"not UTF-8 at byte {error.start}") from error
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_number,
        )
    except json.JSONDecodeError as error:
        raise invalid(at, f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from error
    except RecursionError as error:
        # The parser gives up long after any limit that can be set, but without saying where.
        raise invalid(_too_deep(text, depth_max, at), _deeper(depth_max)) from error
    check_json(value, at, depth_max)
    return value


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Stands in a parsed value where the text had no value; the walk that finds it knows the path."""

    message: str
    #: The key below this place that is meant, if one is.
    key: str | None = None


def _object(items: list[tuple[str, Any]]) -> dict[str, Any] | _Unreadable:
    found = dict(items)
    if len(found) == len(items):
        return found
    seen: set[str] = set()
    twice = next(key for key, _ in items if key in seen or seen.add(key))
    return _Unreadable("the key stands twice in one object", twice)


def _constant(name: str) -> _Unreadable:
    return _Unreadable(f"{name} is not a JSON number")


def _integer(digits: str) -> int | _Unreadable:
    # Python's own limit on digits would surface as a ValueError far from here.
    return int(digits) if len(digits) <= 17 else _Unreadable(_BEYOND)


def _number(digits: str) -> float | int:
    # `1.0` and `1` are one number in JSON and in the canonical form, so they are one here too.
    value = float(digits)
    return int(value) if value.is_integer() and abs(value) <= INTEGER_MAX else value


def check_json(value: Any, at: str = "", depth_max: int = DEPTH_MAX) -> None:
    """Raise `schema_invalid`, naming the path, for any value that canonical JSON would change or refuse."""
    if _sound([value], depth_max + 1):
        return
    pending: list[tuple[_Trail, Any, int]] = [(None, value, 0)]
    while pending:
        trail, item, depth = pending.pop()
        if isinstance(item, (dict, list, tuple)):
            members = cast("dict[Any, Any] | list[Any] | tuple[Any, ...]", item)
            if len(members) > MEMBERS_MAX:
                raise invalid(_path(at, trail), f"more than {MEMBERS_MAX} members")
            if depth == depth_max:
                raise invalid(_path(at, trail), _deeper(depth_max))
            steps = _keyed(members, at, trail) if isinstance(members, dict) else enumerate(members)
            below = [((trail, step), member, depth + 1) for step, member in steps]
            # What comes first in the text is looked at first, and so named first.
            pending.extend(reversed(below))
        elif isinstance(item, str):
            _check_text(item, at, trail, "text")
        elif isinstance(item, bool) or item is None:
            continue
        elif isinstance(item, (int, float)):
            _check_number(item, at, trail)
        elif isinstance(item, _Unreadable):
            place = trail if item.key is None else (trail, item.key)
            raise invalid(_path(at, place), item.message)
        else:
            raise invalid(_path(at, trail), f"{type(item).__name__} is not a JSON value")


def _sound(members: Any, levels: int) -> bool:
    """True for a container in which nothing is wrong, told several times as fast as what is and where."""
    if levels == 0 or len(members) > MEMBERS_MAX:
        return False
    if _kind(members) is dict:
        if not _TEXT.issuperset(map(type, members)) or not _encodable(members):
            return False
        members = members.values()
    for each in members:
        kind = _kind(each)
        if kind is str:
            if not each.isascii() and not _encodable([each]):
                return False
        elif kind is dict or kind is list:
            if not _sound(each, levels - 1):
                return False
        elif kind is int or kind is float:
            # Infinities and NaN are not within either.
            if not -INTEGER_MAX <= each <= INTEGER_MAX:
                return False
        elif kind is not bool and each is not None:
            return False
    return True


def _encodable(texts: Iterable[str]) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _keyed(members: dict[Any, Any], at: str, trail: _Trail) -> Iterable[tuple[str, Any]]:
    for key in members:
        if not isinstance(key, str):
            raise invalid(_path(at, trail), "an object key is not a string")
        _check_text(key, at, trail, "an object key")
    return members.items()


#: Where the walk stands: the way to the parent, and the key or index from there. Only a fault is worth
#: the text of its path.
_Trail = tuple["_Trail", str | int] | None


def _path(at: str, trail: _Trail) -> str:
    steps: list[str | int] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    return join(at, reversed(steps))


def join(at: str, steps: Iterable[str | int]) -> str:
    """Steps as a path: `atoms`, 2, `id` below `payload` is `payload.atoms[2].id`."""
    path = at
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{_shown(step)}" if path else _shown(step)
    return path


def _check_number(number: float, at: str, trail: _Trail) -> None:
    # Huge integers fit no float, so the kind comes first.
    if isinstance(number, float) and not math.isfinite(number):
        raise invalid(_path(at, trail), "not a finite number")
    # RFC 8785 writes whole floats below 1e21 as integers, which the next reader would refuse.
    if abs(number) > INTEGER_MAX and (isinstance(number, int) or abs(number) < 1e21):
        raise invalid(_path(at, trail), _BEYOND)


def _check_text(text: str, at: str, trail: _Trail, what: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise invalid(
            _path(at, trail), f"{what} holds a lone surrogate at character {error.start}"
        ) from error


def _deeper(depth_max: int) -> str:
    return f"nested deeper than {depth_max} levels"


#: A string, or a character that opens, closes or separates.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]', re.DOTALL)


def _too_deep(text: str, depth_max: int, at: str) -> str:
    """The path of the first value that lies too deep, in a text too deep for the parser."""
    steps: list[str | int] = []
    last = ""
    for match in _TOKEN.finditer(text):
        mark = match.group()
        if mark in ("[", "{"):
            if len(steps) == depth_max:
                break
            steps.append(0 if mark == "[" else "")
        elif mark in ("]", "}"):
            steps = steps[:-1]
        elif mark == ":" and steps and isinstance(steps[-1], str):
            steps[-1] = last[1:-1]
        elif mark == "," and steps and isinstance(steps[-1], int):
            steps[-1] += 1
        last = mark
    return join(at, steps)


def _shown(key: str) -> str:
    """A key as it may stand in a path: bounded and encodable."""
    return key.encode("utf-8", "replace").decode()[:80]
