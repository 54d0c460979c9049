"""JSON in: what a parser would have to guess is refused at its place, on every way in (T18)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amos_graph.domain.canonical import DEPTH_MAX, canonical_bytes, check_json, parse_json
from amos_graph.errors import AmosError

#: Text of one value → the path below it, and what is said there.
UNREADABLE = {
    "NaN": ("", "NaN is not a JSON number"),
    "Infinity": ("", "Infinity is not a JSON number"),
    "-Infinity": ("", "-Infinity is not a JSON number"),
    "1e400": ("", "not a finite number"),
    "-1e400": ("", "not a finite number"),
    "9007199254740992": ("", "an integer lies beyond ±(2^53−1)"),
    "9" * 5_000: ("", "an integer lies beyond ±(2^53−1)"),
    "9007199254740992.0": ("", "an integer lies beyond ±(2^53−1)"),
    r'"\ud800"': ("", "text holds a lone surrogate at character 0"),
    r'{"\udfff": 1}': ("", "an object key holds a lone surrogate at character 0"),
    '{"x": 1, "x": 2}': (".x", "the key stands twice in one object"),
    '{"x": 1, "y": 2, "y": 3, "x": 4}': (".y", "the key stands twice in one object"),
    '{"x": {"y": 1, "y": 2}}': (".x.y", "the key stands twice in one object"),
    '[0, {"x": NaN}]': ("[1].x", "NaN is not a JSON number"),
    "[[0, NaN], [NaN]]": ("[0][1]", "NaN is not a JSON number"),
}


def _refusal(text: str, depth_max: int = 32) -> tuple[str, str, str]:
    with pytest.raises(AmosError) as raised:
        parse_json(text.encode(), depth_max)
    fault = raised.value.faults[0]
    return raised.value.code, fault.path, fault.message


@pytest.mark.reliability("T18")
@pytest.mark.case("C68")
@pytest.mark.parametrize("text", UNREADABLE, ids=[text[:32] for text in UNREADABLE])
def test_what_has_no_value_is_refused_with_its_path(text: str) -> None:
    """Each is named where it stands, whatever stands around it."""
    path, message = UNREADABLE[text]

    assert _refusal('{"payload": {"events": [{}, {"x": ' + text + "}]}}") == (
        "schema_invalid",
        f"payload.events[1].x{path}",
        message,
    )
    assert _refusal(text)[1:] == (path.removeprefix("."), message)


@pytest.mark.reliability("T18")
def test_nesting_beyond_the_limit_is_refused_with_its_path() -> None:
    """So many levels are read and one more is not, also where the parser itself gives up."""
    nested = '{"a": [0, ' * 2 + "{0}" + "]}" * 2

    assert parse_json(nested.replace("{0}", "[]").encode(), 5)["a"][1]["a"][1] == []
    for text in (nested.replace("{0}", "[]"), nested.replace("{0}", "[" * 100_000)):
        assert _refusal(text, 4) == ("schema_invalid", "a[1].a[1]", "nested deeper than 4 levels")
    odd = r'{"x": "[\"[[", "k\"]": ' + "[" * 100_000
    assert _refusal(odd, 2)[1] == r"k\"][0]"


@pytest.mark.reliability("T18")
@pytest.mark.parametrize("depth", [DEPTH_MAX + 1, 3_000, 100_000])
def test_nesting_is_limited_for_values_that_no_parser_has_seen(depth: int) -> None:
    """A value made in Python is held to a depth too, and never exhausts the stack."""
    value: Any = 0
    for _ in range(depth):
        value = {"x": value}

    with pytest.raises(AmosError, match=f"nested deeper than {DEPTH_MAX} levels") as raised:
        check_json(value, "payload")

    assert raised.value.faults[0].path == "payload" + ".x" * DEPTH_MAX


def test_the_deepest_value_that_is_taken_has_a_canonical_form() -> None:
    """Nothing behind the check has a lower limit of its own."""
    text = "[" * DEPTH_MAX + "]" * DEPTH_MAX
    assert canonical_bytes(parse_json(text.encode())) == text.encode()


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": float("nan")}, "a"),
        ({"a": [1, 2**53]}, "a[1]"),
        ({"a": {1: 2}}, "a"),
        ({"a": {"b": {1, 2}}}, "a.b"),
        ({"a": ["\ud800"]}, "a[0]"),
        ({"a": (0, object())}, "a[1]"),
    ],
)
def test_a_value_of_python_that_is_no_json_is_refused_with_its_path(value: Any, path: str) -> None:
    """What comes in process is held to the same rule as what comes as text."""
    with pytest.raises(AmosError) as raised:
        check_json(value)
    assert (raised.value.code, raised.value.faults[0].path) == ("schema_invalid", path)


def test_a_whole_number_is_one_value_however_it_is_written() -> None:
    """`1.0` and `1` are one; a text that is read and written keeps its members' order out of it."""
    assert canonical_bytes(parse_json(b'{"b": 1.0, "a": -0.0}')) == canonical_bytes({"a": 0, "b": 1})
    assert parse_json(json.dumps({"é": "\u2028"}).encode()) == {"é": "\u2028"}
