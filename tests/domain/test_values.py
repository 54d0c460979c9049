"""AtomValue: the compact type system of payload values."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.value_kinds import (
    DATA_DEPTH_MAX,
    DATA_MEMBERS_MAX,
    LITERAL_LENGTH_MAX,
    MEMBERS_MAX,
    TEXT_LENGTH_MAX,
    VALUE_DEPTH_MAX,
    VALUE_TYPES,
    check_atom_value,
    check_data,
    ref_kind,
)
from amos_graph.domain.values import (
    AtomValue,
    Condition,
    Detail,
    Prose,
    Statement,
    ValueRecord,
    entity_refs,
    fold,
    references,
    skeleton,
    words,
)
from amos_graph.errors import AmosError


class Holder(Strict):
    """One field of each kind, so that paths can be told apart."""

    value: AtomValue = None
    detail: Detail = None
    condition: Condition = None
    record_: ValueRecord | None = None
    prose: Prose | None = None
    statement: Statement | None = None


def explicit(kind: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"value_type": kind, "value": value, **more}


ONE_OF_EACH: dict[str, dict[str, Any]] = {
    "entity_ref": explicit("entity_ref", "ent:project:amos"),
    "relation_ref": explicit("relation_ref", "rel:working_on"),
    "enum_ref": explicit("enum_ref", "enum:priority:high"),
    "string_literal": explicit("string_literal", "ent: is how ids begin"),
    "number": explicit("number", 1.5),
    "boolean": explicit("boolean", False),
    "timestamp": explicit("timestamp", "2026-03-01T12:00:00.000000Z"),
    "duration": explicit("duration", "P1DT2H"),
    "quantity": explicit("quantity", 500, unit="GB"),
    "list": explicit("list", ["ent:project:amos", 2, explicit("boolean", True)]),
    "record": explicit("record", {"size": explicit("quantity", 3, unit="m"), "of": "rope"}),
    "evidence_ref": explicit("evidence_ref", "evd_7f"),
    "external_uri": explicit("external_uri", "https://example.org/a?b=c#d"),
}


def test_each_value_type_of_the_spec_has_an_explicit_form() -> None:
    assert set(ONE_OF_EACH) == set(VALUE_TYPES)
    for value in ONE_OF_EACH.values():
        assert validate(Holder, {"value": value}).value == value


@pytest.mark.parametrize("value", ["text", "ent:user:primary", "rel:prefers", 0, -1.5, True, False, "P1D"])
def test_a_plain_scalar_is_a_value(value: Any) -> None:
    assert validate(Holder, {"value": value}).value is value


WRONG: list[tuple[Any, str, str]] = [
    (None, "value", "a value is"),
    ("  ", "value", "blank"),
    ("ent:nowhere", "value", "no entity id"),
    ("rel:Working On", "value", "no relation id"),
    ("enum:x", "value", "no enum id"),
    ("x" * (LITERAL_LENGTH_MAX + 1), "value", "longer than"),
    (["a"], "value", "a list is written"),
    ({"a": 1}, "value", "names its type"),
    ({"value_type": "money", "value": 1}, "value.value_type", "known are"),
    ({"value_type": ["list"], "value": 1}, "value.value_type", "known are"),
    ({"value_type": "number"}, "value.value", "missing"),
    (explicit("number", 1, note="x"), "value.note", "unknown"),
    (explicit("number", 1, unit="m"), "value.unit", "unknown"),
    (explicit("number", True), "value.value", "not a number"),
    (explicit("number", "1"), "value.value", "not a number"),
    (explicit("boolean", 1), "value.value", "not true or false"),
    (explicit("string_literal", 1), "value.value", "not text"),
    (explicit("entity_ref", "rel:prefers"), "value.value", "entity id"),
    (explicit("relation_ref", "ent:user:primary"), "value.value", "relation id"),
    (explicit("enum_ref", "high"), "value.value", "enum id"),
    (explicit("evidence_ref", "evd-1"), "value.value", "evidence id"),
    (explicit("quantity", 5), "value.unit", "unit"),
    (explicit("quantity", 5, unit=" "), "value.unit", "unit"),
    (explicit("quantity", 5, unit=7), "value.unit", "unit"),
    (explicit("quantity", "5", unit="m"), "value.value", "not a number"),
    (explicit("timestamp", "2026-03-01T12:00:00"), "value.value", "no offset"),
    (explicit("timestamp", "tomorrow"), "value.value", "RFC 3339"),
    (explicit("timestamp", 5), "value.value", "RFC 3339"),
    (explicit("duration", "P"), "value.value", "ISO 8601"),
    (explicit("duration", "PT"), "value.value", "ISO 8601"),
    (explicit("duration", "P1DT"), "value.value", "ISO 8601"),
    (explicit("duration", "1 day"), "value.value", "ISO 8601"),
    (explicit("duration", "P1W2D"), "value.value", "ISO 8601"),
    (explicit("external_uri", "example.org"), "value.value", "scheme"),
    (explicit("external_uri", "https://a b"), "value.value", "scheme"),
    (explicit("external_uri", "ent:user:primary"), "value.value", "record of ours"),
    (explicit("list", "a"), "value.value", "not a list"),
    (explicit("list", [1, None]), "value.value[1]", "a value is"),
    (explicit("list", [1] * (MEMBERS_MAX + 1)), "value.value", "members"),
    (explicit("record", [1]), "value.value", "not an object"),
    (explicit("record", {"a": explicit("quantity", 1)}), "value.value.a.unit", "unit"),
    (explicit("record", {"": 1}), "value.value", "key"),
    (explicit("record", {"k" * 201: 1}), "value.value", "key"),
    (explicit("list", [explicit("record", {"a": [1]})]), "value.value[0].value.a", "a list is written"),
]


@pytest.mark.parametrize(("value", "path", "message"), WRONG)
@pytest.mark.reliability("T18")
def test_a_value_that_is_none_is_refused_at_its_place(value: Any, path: str, message: str) -> None:
    with pytest.raises(AmosError) as refusal:
        validate(Holder, {"value": value}, "payload")

    assert refusal.value.code == "schema_invalid"
    assert [fault.path for fault in refusal.value.faults] == [f"payload.{path}"]
    assert message in refusal.value.faults[0].message


def nested_list(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = explicit("list", [value])
    return value


def nested_record(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@pytest.mark.reliability("T18")
def test_values_nest_as_deep_as_stated_and_no_deeper() -> None:
    validate(Holder, {"value": nested_list(VALUE_DEPTH_MAX)})
    validate(Holder, {"record_": nested_record(VALUE_DEPTH_MAX)})
    for deeper in (
        {"value": nested_list(VALUE_DEPTH_MAX + 1)},
        {"record_": nested_record(VALUE_DEPTH_MAX + 1)},
        {"detail": nested_record(VALUE_DEPTH_MAX + 1)},
    ):
        with pytest.raises(AmosError, match="nested deeper than 8 levels"):
            validate(Holder, deeper)


def test_a_timestamp_is_stored_canonically_wherever_it_stands() -> None:
    given_ = explicit("timestamp", "2026-03-01T14:00:00+02:00")
    stored = explicit("timestamp", "2026-03-01T12:00:00.000000Z")

    assert validate(Holder, {"value": explicit("list", [given_])}).value["value"] == [stored]
    assert validate(Holder, {"record_": {"at": [given_]}}).record_ == {"at": [stored]}


def test_a_free_form_record_keeps_nulls_lists_and_text_that_looks_like_a_broken_id() -> None:
    record: dict[str, Any] = {"a": None, "b": [None, {"c": [1, "ent: x", ""]}], "d": {}, "e": [], "f": True}

    assert validate(Holder, {"record_": record, "detail": record, "condition": record}).record_ == record


def test_an_object_that_names_a_value_type_is_held_to_it_in_a_free_form_record_too() -> None:
    with pytest.raises(AmosError) as refusal:
        validate(Holder, {"record_": {"max": [explicit("quantity", 5)]}})

    assert refusal.value.faults[0].path == "record_.max[0].unit"


@pytest.mark.parametrize("value", [5, True, ["a"], None])
def test_a_condition_is_a_text_or_a_record(value: Any) -> None:
    with pytest.raises(AmosError, match="a text or a record"):
        validate(Holder, {"condition": value})


def test_prose_may_be_empty_and_a_statement_may_not_and_both_have_a_limit() -> None:
    validate(Holder, {"prose": "", "statement": "x"})
    for field in ("prose", "statement"):
        validate(Holder, {field: "x" * TEXT_LENGTH_MAX})
        with pytest.raises(AmosError, match=f"longer than {TEXT_LENGTH_MAX}"):
            validate(Holder, {field: "x" * (TEXT_LENGTH_MAX + 1)})
    with pytest.raises(AmosError, match="blank"):
        validate(Holder, {"statement": " \n"})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2**53, 10**400])
def test_a_number_that_json_cannot_carry_is_refused_without_the_parser_too(number: float) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(AtomValue)
    for value in (number, explicit("list", [number])):
        with pytest.raises(ValueError, match="finite number"):
            adapter.validate_python(value)


def test_what_a_tool_returned_is_bounded_and_otherwise_left_alone() -> None:
    answer = {"value_type": "anything", "rows": [None, {"ent:": 1}]}

    assert check_data(answer) is answer
    with pytest.raises(ValueError, match="nested deeper"):
        check_data(nested_record(DATA_DEPTH_MAX + 1))
    with pytest.raises(ValueError, match="members"):
        check_data([0] * (DATA_MEMBERS_MAX + 1))
    check_data(nested_record(DATA_DEPTH_MAX))
    with pytest.raises(ValueError, match="longer than"):
        check_data(["x" * (TEXT_LENGTH_MAX + 1)])


# --- references ------------------------------------------------------------------------------


def test_entity_references_are_found_at_any_depth_with_their_path() -> None:
    value = {
        "project": "ent:project:amos",
        "people": ["ent:user:a", {"lead": "ent:user:b", "note": "ask ent:user:c"}],
        "typed": explicit("list", ["ent:user:d", explicit("entity_ref", "ent:user:e")]),
        "text": explicit("string_literal", "ent:user:f"),
        "link": explicit("external_uri", "https://example.org"),
    }

    assert entity_refs(value, "payload.qualifiers") == [
        ("payload.qualifiers.project", "ent:project:amos"),
        ("payload.qualifiers.people[0]", "ent:user:a"),
        ("payload.qualifiers.people[1].lead", "ent:user:b"),
        ("payload.qualifiers.typed.value[0]", "ent:user:d"),
        ("payload.qualifiers.typed.value[1].value", "ent:user:e"),
    ]


def test_references_of_every_kind_are_told_apart() -> None:
    found = references(["ent:a:b", "rel:uses", "enum:priority:high", "evd_1", "atom_1", "x"])

    assert [(one.kind, one.path) for one in found] == [
        ("entity", "[0]"),
        ("relation", "[1]"),
        ("enum", "[2]"),
        ("evidence", "[3]"),
    ]
    assert ref_kind("ent:broken") is None


# --- words -----------------------------------------------------------------------------------


def test_words_are_what_values_say_and_names_in_one_piece_are_also_given_word_by_word() -> None:
    assert words("ent:response_style:technical_depth") == ["response style technical depth"]
    assert words("proc:design_discussion") == ["design discussion"]
    assert words("call get_user_details now") == ["call get_user_details now", "get user details"]
    assert words(explicit("quantity", 500, unit="GB")) == ["500", "GB"]
    assert words([1.0, 2.5, True, None, "", " ", "evd_12ab"]) == ["1", "2.5"]


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="§"), max_size=20),
    st.sampled_from(["ent:user:primary", "rel:uses", "enum:priority:high"]),
)
KEYS = st.text("§", min_size=1, max_size=8)
FREE = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(FREE)
def test_words_never_hold_a_key(value: Any) -> None:
    assert not any("§" in word for word in words(value))


TYPED = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-(2**53) + 1, 2**53 - 1),
        st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=20),
        st.sampled_from(list(ONE_OF_EACH.values())),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: explicit("list", items)),
        st.dictionaries(KEYS, inner, max_size=3).map(lambda members: explicit("record", members)),
    ),
    max_leaves=12,
)


@given(TYPED)
def test_checking_a_value_that_was_checked_changes_nothing(value: Any) -> None:
    checked = check_atom_value(value)

    assert canonical_bytes(check_atom_value(checked)) == canonical_bytes(checked)
    assert canonical_bytes(checked) == canonical_bytes(value)


@pytest.mark.case("C69")
@pytest.mark.parametrize("text", ["a" * 100_000, "a_" * 50_000, "_" * 100_000, "a_b " * 25_000])
def test_the_words_of_a_long_text_take_linear_time(text: str) -> None:
    before = perf_counter()
    words(text)

    # A quadratic scan of this length takes minutes.
    assert perf_counter() - before < 2


def test_a_reader_meets_broken_explicit_objects_without_failing() -> None:
    broken: list[Any] = [
        {"value_type": ["list"]},
        {"value_type": {}, "value": "ent:user:a"},
        {"value_type": None},
    ]

    assert entity_refs(broken, "x") == [("x[1].value", "ent:user:a")]
    assert words(broken) == ["user a"]
    assert skeleton(broken) == [None, "ent:user:a", None]


# --- names and slots -------------------------------------------------------------------------


@pytest.mark.case("C08")
@pytest.mark.parametrize(
    "spelling", ["Daniel", "DANIEL", " daniel ", "ｄａｎｉｅｌ", "dan\u200biel", "daniel\u00a0"]
)
def test_spellings_of_one_name_fold_to_one_form(spelling: str) -> None:
    assert fold(spelling) == "daniel"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_values_that_mean_the_same_have_one_skeleton() -> None:
    assert skeleton(explicit("entity_ref", "ent:project:amos")) == skeleton("ent:project:amos")
    assert skeleton("Long  Answers") == skeleton(explicit("string_literal", "long answers"))
    assert skeleton(explicit("quantity", 5, unit="GB")) == skeleton(explicit("quantity", 5.0, unit="gb"))
    assert skeleton(explicit("quantity", 5, unit="GB")) != skeleton(explicit("quantity", 5, unit="TB"))
    assert skeleton({"a": ["X"], "b": None}) == {"a": ["x"], "b": None}
