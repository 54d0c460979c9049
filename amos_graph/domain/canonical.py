"""JSON in, canonical JSON out: what is hashed is exactly what is stored (RFC 8785)."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, cast

import rfc8785

from amos_graph.errors import AmosError, invalid

INTEGER_MAX = 2**53 - 1
#: Members of one object or entries of one list. Each can be a fault, and each fault costs more than itself.
MEMBERS_MAX = 50_000


def canonical_bytes(value: Any) -> bytes:
    """The RFC 8785 form of a JSON value.

    Raises `schema_invalid` for a value that JSON cannot carry without loss.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise AmosError("schema_invalid", f"not representable as canonical JSON: {error}") from error


def canonical_text(value: Any) -> str:
    """`canonical_bytes` as text, for storage in a string property."""
    return canonical_bytes(value).decode()


def digest(value: Any) -> str:
    """Hexadecimal SHA-256 of the canonical form."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def parse_json(raw: bytes, depth_max: int = 32, at: str = "") -> Any:
    """The JSON value of a request body, refused wherever a parser would have to guess.

    Duplicate keys, NaN, infinities (also `1e400`), lone surrogates, integers beyond
    ±(2^53−1) and nesting deeper than `depth_max` are `schema_invalid` with the path.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid(at, f"not UTF-8 at byte {error.start}") from error
    _check_nesting(text, depth_max, at)
    duplicates: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = dict(items)
        if len(found) < len(items):
            seen: set[str] = set()
            duplicates.extend(key for key, _ in items if key in seen or seen.add(key))
        return found

    def constant(name: str) -> Any:
        raise invalid(at, f"{name} is not a JSON number")

    def integer(digits: str) -> int:
        # Python's own limit on digits would surface as a ValueError far from here.
        if len(digits) > 17:
            raise invalid(at, "an integer lies beyond ±(2^53−1)")
        return int(digits)

    def number(digits: str) -> float | int:
        # `1.0` and `1` are one number in JSON and in the canonical form, so they are one here too.
        value = float(digits)
        return int(value) if value.is_integer() and abs(value) <= INTEGER_MAX else value

    try:
        value = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=constant,
            parse_int=integer,
            parse_float=number,
        )
    except json.JSONDecodeError as error:
        raise invalid(at, f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from error
    if duplicates:
        raise invalid(at, f"an object names the key {_shown(duplicates[0])} twice")
    check_json(value, at)
    return value


def check_json(value: Any, at: str = "") -> None:
    """Raise `schema_invalid`, naming the path, for any value that canonical JSON would change or refuse."""
    pending: list[tuple[str, Any]] = [(at, value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, (dict, list, tuple)) and len(cast("list[Any]", item)) > MEMBERS_MAX:
            raise invalid(path, f"more than {MEMBERS_MAX} members")
        if isinstance(item, dict):
            for key, member in cast("dict[Any, Any]", item).items():
                if not isinstance(key, str):
                    raise invalid(path, "an object key is not a string")
                _check_text(key, path, "an object key")
                pending.append((f"{path}.{_shown(key)}" if path else _shown(key), member))
        elif isinstance(item, (list, tuple)):
            members = cast("list[Any]", item)
            pending.extend((f"{path}[{index}]", member) for index, member in enumerate(members))
        elif isinstance(item, str):
            _check_text(item, path, "text")
        elif isinstance(item, bool) or item is None:
            continue
        elif isinstance(item, (int, float)):
            _check_number(item, path)
        else:
            raise invalid(path, f"{type(item).__name__} is not a JSON value")


def _check_number(number: float, path: str) -> None:
    # Huge integers fit no float, so the kind comes first.
    if isinstance(number, float) and not math.isfinite(number):
        raise invalid(path, "not a finite number")
    # RFC 8785 writes whole floats below 1e21 as integers, which the next reader would refuse.
    if abs(number) > INTEGER_MAX and (isinstance(number, int) or abs(number) < 1e21):
        raise invalid(path, "integer beyond ±(2^53−1)")


def _check_text(text: str, path: str, what: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise invalid(path, f"{what} holds a lone surrogate at character {error.start}") from error


def _check_nesting(text: str, depth_max: int, at: str) -> None:
    """Refuse deep nesting before the recursive parser meets it."""
    depth = 0
    quoted = escaped = False
    for character in text:
        if quoted:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                quoted = False
        elif character == '"':
            quoted = True
        elif character in "[{":
            depth += 1
            if depth > depth_max:
                raise invalid(at, f"nested deeper than {depth_max} levels")
        elif character in "]}":
            depth -= 1


def _shown(key: str) -> str:
    """A key as it may stand in a path: bounded and encodable."""
    return key.encode("utf-8", "replace").decode()[:80]
