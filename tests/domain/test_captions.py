"""Captions: one visible line, cut where people would cut."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos_graph.domain.captions import CAPTION_LENGTH_MAX, caption, clip

FAMILY = "👩‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("ent:user:primary", "user:primary"),
        ("rel:working_on", "working_on"),
        ("evd_1", "evd_1"),
        ("plain  text\nof two lines", "plain text of two lines"),
        ({"value_type": "quantity", "value": 500, "unit": "GB"}, "500 GB"),
        ({"value_type": "list", "value": ["ent:a:b", 1.0]}, "a:b, 1"),
        ({"phase": "planning", "open": True, "at": None}, "phase planning, open yes, at none"),
        (False, "no"),
    ],
)
def test_a_value_is_shown_as_a_person_would_read_it(value: Any, shown: str) -> None:
    assert caption(value) == shown


@pytest.mark.case("C68")
@pytest.mark.parametrize("before", range(60, 80))
def test_no_emoji_is_cut_in_two(before: int) -> None:
    short = clip("x" * before + FAMILY * 3)

    assert short.removesuffix("…").removeprefix("x" * min(before, 79)).replace(FAMILY, "") == ""


@pytest.mark.case("C68")
def test_flags_skin_tones_and_combining_marks_stay_whole() -> None:
    for whole in ("🇩🇪", "👍🏽", "e\u0301"):
        for before in range(74, 80):
            kept = clip("x" * before + whole + "y" * 20).removesuffix("…").strip("xy")
            assert kept in {"", whole}


def test_marks_that_reorder_the_line_and_control_characters_do_not_reach_it() -> None:
    assert clip("a\u202eb\u2066c\x00d\u2028e") == "abc d e"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=400))
def test_a_caption_is_one_line_within_its_limit(text: str) -> None:
    short = clip(text)

    assert len(short) <= CAPTION_LENGTH_MAX
    assert not any(unicodedata.category(letter) in {"Cc", "Zl", "Zp"} for letter in short)
    assert clip(short) == short


@pytest.mark.case("C69")
def test_a_megabyte_is_captioned_from_its_head_alone() -> None:
    assert clip("word " * 200_000).endswith("…")
    assert clip(" " * 1_000_000 + "word") == "…"
