"""Confidence: level, score and basis."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos_graph.domain.confidence import BANDS, CONFIDENCE_LEVELS, Confidence, level_of
from amos_graph.domain.model import validate
from amos_graph.errors import AmosError


@pytest.mark.parametrize("level", CONFIDENCE_LEVELS)
def test_a_level_without_a_score_gets_the_level_s_own_and_that_score_means_the_level(level: Any) -> None:
    found = validate(Confidence, {"level": level})

    assert found.score == BANDS[level][2]
    assert level_of(found.score) == level


@given(st.floats(0, 1))
def test_a_score_without_a_level_gets_the_level_whose_band_holds_it(score: float) -> None:
    found = validate(Confidence, {"score": score})

    lowest, highest, _ = BANDS[found.level]
    assert lowest <= score <= highest
    assert validate(Confidence, found.record()) == found


def test_the_bands_meet_without_gap_and_cover_all_scores() -> None:
    edges = [BANDS[level][:2] for level in CONFIDENCE_LEVELS]

    assert edges[0][0] == 0
    assert edges[-1][1] == 1
    assert all(upper[0] == lower[1] for lower, upper in pairwise(edges))


@pytest.mark.parametrize("score", [0.87, 0.91])
def test_the_spec_s_own_pairs_agree(score: float) -> None:
    assert validate(Confidence, {"level": "high", "score": score}).score == score


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({}, "confidence.level"),
        ({"level": None, "score": None}, "confidence.level"),
        ({"level": "certain"}, "confidence.level"),
        ({"level": "high", "score": 0.2}, "confidence.score"),
        ({"score": 1.1}, "confidence.score"),
        ({"score": -0.1}, "confidence.score"),
        ({"score": True}, "confidence.score"),
        ({"score": "0.5", "level": "medium"}, "confidence.score"),
        ({"level": "low", "source": "x"}, "confidence.source"),
        ({"level": "low", "basis": {"evidence_count": -1}}, "confidence.basis.evidence_count"),
        ({"level": "low", "basis": {"evidence_count": 1.5}}, "confidence.basis.evidence_count"),
        ({"level": "low", "basis": {"stability": 1.2}}, "confidence.basis.stability"),
        (
            {"level": "low", "basis": {"last_calibrated_at": "2026-01-01T00:00:00"}},
            "confidence.basis.last_calibrated_at",
        ),
        ({"level": "low", "basis": {"mine": {"a": 1}}}, "confidence.basis.mine"),
        ({"level": "low", "basis": {"mine": None}}, "confidence.basis.mine"),
        ({"level": "low", "basis": {"mine": "x" * 10_001}}, "confidence.basis.mine"),
        ({"level": "low", "basis": {f"k{n}": n for n in range(51)}}, "confidence.basis"),
        ({"level": "low", "basis": {"k" * 201: 1}}, "confidence.basis"),
        ("high", "confidence"),
    ],
)
def test_a_confidence_that_contradicts_itself_is_refused_at_its_place(value: Any, path: str) -> None:
    with pytest.raises(AmosError) as refusal:
        validate(Confidence, value, "confidence")

    assert refusal.value.code == "schema_invalid"
    assert refusal.value.faults[0].path.startswith(path)


def test_a_basis_keeps_scalars_of_a_processor_s_own() -> None:
    basis = {"source_type": "direct_user_instruction", "stability": 0.7, "votes": 3, "calm": True, "by": "m1"}

    assert validate(Confidence, {"level": "high", "basis": basis}).record()["basis"] == basis
