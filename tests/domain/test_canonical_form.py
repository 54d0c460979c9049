"""The canonical form is RFC 8785's, whichever of two ways it is made."""

from __future__ import annotations

import math
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from amos_graph.domain.canonical import INTEGER_MAX, canonical_bytes
from amos_graph.errors import AmosError

_TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
_NUMBERS = st.one_of(
    st.integers(-INTEGER_MAX, INTEGER_MAX),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [0.0, -0.0, 1.0, -1.0, 1e-7, 1.5e-6, 1e-4, 1e15, 1e16, 1e20, 1e21, 123456.5, 0.1, 5e-324]
    ),
)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), _NUMBERS, _TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_TEXT, inner, max_size=4)),
    max_leaves=20,
)


@given(_VALUES)
def test_the_form_is_that_of_the_reference(value: Any) -> None:
    """Numbers, escapes and the order of keys come out byte for byte as the RFC's own package writes them."""
    assert canonical_bytes(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ({"b": 1.0, "a": -0.0}, '{"a":0,"b":1}'),
        ([1e-7, 1e16, 1e21, 0.001], "[1e-7,10000000000000000,1e+21,0.001]"),
        ({"\U0001f600": 1, "\ufb33": 2, "\u20ac": 3}, '{"\u20ac":3,"\U0001f600":1,"\ufb33":2}'),
        ('\x00\x1f\x7f\b\f\n\r\t"\\/\u2028', '"\\u0000\\u001f\x7f\\b\\f\\n\\r\\t\\"\\\\/\u2028"'),
        ("version 1.0, 2e-5 and 1234567890123456", '"version 1.0, 2e-5 and 1234567890123456"'),
        (("a", ["b"]), '["a",["b"]]'),
    ],
)
def test_known_forms(value: Any, form: str) -> None:
    """What the two ways would write differently is written as RFC 8785 says."""
    assert canonical_bytes(value).decode() == form


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, INTEGER_MAX + 1, -INTEGER_MAX - 1, "\ud800", {1: "a"}, {"a": {None: 1}}, {"a": {1}}],
    ids=repr,
)
def test_what_has_no_form_is_refused(value: Any) -> None:
    """A value that JSON cannot carry without loss has no canonical form."""
    with pytest.raises(AmosError, match="not representable") as raised:
        canonical_bytes([value])

    assert raised.value.code == "schema_invalid"
