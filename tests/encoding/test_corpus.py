"""What is known of words: bounded counts for each access class, rarity, and LSA."""

from __future__ import annotations

import random

import numpy as np
import pytest

from amos_graph.encoding import Corpus, Statistics, corpus, latent, open_encoder
from amos_graph.encoding.corpus import Counting
from amos_graph.encoding.latent import latent_of


def _texts() -> list[list[str]]:
    """Two topics that never meet, of forty words each; ship and vessel stand in one, never together."""
    dice = random.Random(1)  # noqa: S311 - repeatable texts, no secret
    texts: list[list[str]] = []
    for number in range(150):
        sea = [f"sea{dice.randrange(40)}" for _ in range(8)]
        code = [f"code{dice.randrange(40)}" for _ in range(8)]
        if number % 4 == 0:
            sea.append("ship" if number % 8 else "vessel")
            code.append("bug" if number % 8 else "defect")
        texts += [sea, code]
    return texts


def test_words_that_stand_in_the_same_company_are_related() -> None:
    """LSA brings the words of its topic to ship, vessel among them, which no memory has beside it."""
    found = latent_of(_texts())
    assert found is not None

    related = found.related({"ship": 1.0})

    assert "vessel" in related
    assert related["vessel"] > max(related.get(word, 0.0) for word in ("bug", "defect", "compiler", "patch"))
    known = Corpus([Statistics(300, {}, found)], ["x"])
    brought = known.related({"ship": 1.0})
    assert len(brought) == corpus.RELATED_MAX
    assert sum(word.startswith("sea") or word == "vessel" for word in brought) >= 10
    assert known.related({"zeppelin": 1.0}) == {}


def test_latent_vectors_are_the_same_each_time() -> None:
    """The same texts give the same words, vectors and digest, byte for byte."""
    one, other = latent_of(_texts()), latent_of(_texts())

    assert one is not None
    assert other is not None
    assert one.digest == other.digest
    assert np.array_equal(one.vectors, other.vectors)
    assert latent_of(_texts()[:40]) is None


def test_related_words_bring_a_memory_near_that_shares_no_word() -> None:
    """The request for a ship is nearer to a memory of its topic once the corpus relates them."""
    encoder = open_encoder("hashed")
    known = Corpus([Statistics(300, {}, latent_of(_texts()))], ["x"])
    memory = encoder.encode([" ".join(list(known.related({"ship": 1.0}))[:4])])
    plain, related = (encoder.probe(["ship"], each) @ memory.T for each in (Corpus(), known))

    assert float(related[0, 0]) > float(plain[0, 0]) + 0.02


def test_counts_are_bounded_and_what_is_missing_is_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frequent words survive the bound of memory and of what is kept; the rest counts as rare."""
    monkeypatch.setattr(corpus, "HELD_WORDS_MAX", 50)
    monkeypatch.setattr(corpus, "COUNTED_WORDS_MAX", 2)
    counting = Counting()
    for number in range(200):
        counting.add(["common", "usual", "other" if number % 2 else "odd", f"once{number}"])

    counts = counting.counts()
    known = Corpus([Statistics(counting.atoms, counts)], ["x"])

    assert counts == {"common": 200, "usual": 200}
    assert known.rarity("zeppelin") > known.rarity("common") > 0
    assert Corpus().rarity("common") == Corpus().rarity("zeppelin")


def test_the_counts_of_several_classes_add_up_and_have_their_own_identity() -> None:
    """What a caller sees of two classes is counted together; other counts have another digest."""
    one, other = Statistics(10, {"tide": 4}), Statistics(5, {"tide": 1, "quay": 2})
    known = Corpus([one, other], [one.digest, other.digest])

    assert (known.atoms, known.count("tide"), known.count("quay")) == (15, 5, 2)
    assert one.digest != other.digest
    assert known.digest != Corpus([one], [one.digest]).digest
    assert latent.TEXTS_MAX <= 5_000
