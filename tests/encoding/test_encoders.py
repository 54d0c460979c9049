"""Encoders: unit rows that follow from the text alone, near for what is alike, exact in whole numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos_graph.encoding import Corpus, Encoder, Statistics, open_encoder
from amos_graph.encoding.encoder import Rows, products, similarity, squares, whole

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
_NAMES = ["hashed", "wordllama"]


@pytest.fixture(params=_NAMES)
def encoder(request: pytest.FixtureRequest) -> Encoder:
    return open_encoder(request.param)


def near(one: Rows, other: Rows) -> float:
    """The similarity of two rows, as recall has it."""
    probe, row = whole(one), whole(other)
    return similarity(products(probe, row)[0], squares(probe)[0], squares(row)[0])


@pytest.mark.parametrize("name", _NAMES)
@settings(max_examples=40, deadline=None)
@given(texts=st.lists(_TEXT, max_size=5))
def test_rows_are_of_unit_length_and_follow_from_the_text_alone(name: str, texts: list[str]) -> None:
    """A row has length 1, or 0 for a text without a word, and is the same alone and among others."""
    encoder = open_encoder(name)  # pyright: ignore[reportArgumentType]
    rows = encoder.encode(texts)

    assert rows.shape == (len(texts), encoder.model.dimensions)
    assert rows.dtype == np.float32
    for row, text in zip(rows, texts, strict=True):
        assert float(np.linalg.norm(row)) == pytest.approx(1.0, abs=1e-5) or not row.any()
        assert (encoder.encode([text])[0] == row).all()


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.lists(st.integers(-127, 127), min_size=8, max_size=8), min_size=2, max_size=4))
def test_similarity_of_whole_numbers_is_the_cosine(values: list[list[int]]) -> None:
    """Products and squares are exact, and what comes of them is the cosine, never below 0."""
    rows = np.array(values, dtype=np.int8)
    for number, row in enumerate(values):
        assert products(rows[:1], rows)[number] == sum(a * b for a, b in zip(values[0], row, strict=True))
        product, first, square = products(rows[:1], rows)[number], squares(rows)[0], squares(rows)[number]
        assert square == sum(value * value for value in row)
        if first and square:
            expected = max(0.0, product / math.sqrt(first) / math.sqrt(square))
            assert similarity(product, first, square) == pytest.approx(expected, abs=1e-8)


def test_other_forms_and_misspellings_are_near_and_other_words_are_not() -> None:
    """Pieces of three and four letters make deploy, deployment and deplyoment alike; harbour is far."""
    encoder = open_encoder("hashed")
    asked = encoder.encode(["deployment of kubernetes"])

    def to(text: str) -> float:
        return near(asked, encoder.encode([text]))

    assert to("deployment of kubernetes") == 1.0
    assert to("kubernetes deployments") > 0.5
    assert to("deplyoment of kubernets") > encoder.floor
    assert to("the harbour crane") < encoder.floor


def test_a_paraphrase_is_near_for_the_real_model() -> None:
    """WordLlama brings together what shares no word."""
    encoder = open_encoder("wordllama")
    asked = encoder.encode(["The physician prescribed medication."])

    assert near(asked, encoder.encode(["A doctor gave drugs to a patient."])) > encoder.floor
    assert near(asked, encoder.encode(["The harbour crane is red."])) < encoder.floor


def test_rare_words_weigh_more_in_a_request(encoder: Encoder) -> None:
    """With statistics, the memory that has the rare word of a request is the nearer one."""
    corpus = Corpus([Statistics(1_000, {"harbour": 900, "harbor": 900})], ["x"])
    memories = encoder.encode(["the harbour is wide", "the zeppelin is wide"])
    plain, weighed = (encoder.probe(["harbour zeppelin"], known) for known in (Corpus(), corpus))

    def lead(probe: Rows) -> float:
        return near(probe, memories[1:]) - near(probe, memories[:1])

    assert lead(weighed) > lead(plain)
    assert lead(weighed) > 0


def test_a_model_is_told_by_its_name_version_length_and_form() -> None:
    """The key that each vector carries differs for each encoder."""
    hashed, llama = (open_encoder(name).model for name in ("hashed", "wordllama"))

    assert hashed.key == "hashed.1/512/int8"
    assert llama.key.startswith("wordllama.")
    assert llama.key.endswith("/256/int8")
