"""Token counts: an estimate that errs upwards, and counters of one's own."""

from __future__ import annotations

import pytest

from amos_graph.domain.budget import Estimate, TokenCounter, token_counter

#: Text → the tokens that cl100k_base, a tokenizer in wide use, takes for it. Counted once, with it.
COUNTED = {
    "The release checklist has nine steps.": 7,
    '{"atom_ref":"belief:release-day","score":0.482,"type":"belief"}': 19,
    "0f3a9c5e71b24d68a0c1e2f3d4b5a697": 27,
    "atm_01JZAMOS7Q6K2Q9E8F3F8Z2R1A": 26,
    "Память агента хранит доказательства.": 14,
    "人工智能记忆系统需要保存证据": 13,
    "🌱🌾🍂": 9,
    "def take(n):\n    return [n] * 3\n": 13,
}


@pytest.mark.parametrize("text", COUNTED)
def test_the_estimate_lies_above_what_a_tokenizer_counts(text: str) -> None:
    """On prose, JSON, ids, other scripts and code alike, and never beyond the bytes of the text."""
    assert COUNTED[text] <= Estimate().count(text) <= len(text.encode())


class Letters:
    """A counter of one's own."""

    name = "letters"

    def count(self, text: str) -> int:
        return len(text)


AN_INSTANCE: TokenCounter = Letters()
NO_COUNTER = 7


@pytest.mark.parametrize("name", ["Letters", "AN_INSTANCE"])
def test_a_counter_of_ones_own_is_named_by_its_place(name: str) -> None:
    """A class is made an instance, an instance is taken as it is."""
    counter = token_counter(f"{__name__}:{name}")

    assert (counter.name, counter.count("four")) == ("letters", 4)
    assert token_counter("estimate").name == "estimate.1"


@pytest.mark.parametrize("name", ["no.such.module:X", f"{__name__}:Nothing", f"{__name__}:NO_COUNTER", ":x"])
def test_what_cannot_count_is_refused_by_name(name: str) -> None:
    """A setting that names nothing fails with that name."""
    with pytest.raises(ValueError, match=name.partition(":")[2]):
        token_counter(name)
