"""Ranking: pure arithmetic whose parts add up, and whose order depends on nothing but what is stored."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amos_graph.policy.ranking import (
    WEIGHTS,
    Activation,
    Attention,
    Scored,
    Traits,
    contradiction,
    holds,
    rank,
    rarity,
    recency,
    score,
    staleness,
)

AT = datetime(2026, 11, 30, tzinfo=UTC)


def traits(ref: str = "a", words: str = "", **changes: Any) -> Traits:
    """An ordinary atom written at the instant of the packet."""
    found = Traits(
        id=ref,
        type="belief",
        state_key="live",
        health_status="healthy",
        health_flags=[],
        confidence=0.8,
        utility=0.5,
        salience=0.5,
        updated_at=AT,
        valid_from=None,
        valid_until=None,
        contradictions=0,
        tokens=frozenset(words.split()),
        content=frozenset(words.split()),
    )
    return replace(found, **changes)


def scored(found: Traits, direct: float = 0.5, **changes: Any) -> Scored:
    """The atom's score for a cue that matches by half."""
    given_: dict[str, Any] = {"focus": 0.0, "attention": Attention(), "activation": None, **changes}
    return score(found, at=AT, direct=direct, **given_)


def test_gains_add_up_to_one() -> None:
    """Without penalties a score lies in 0..1."""
    assert math.isclose(math.fsum(weight for weight in WEIGHTS.values() if weight > 0), 1.0)


@given(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 3)),
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(-40, 400)),
)
def test_parts_add_up_to_the_score(
    asked: tuple[float, float, float], stored: tuple[float, float, float]
) -> None:
    """Weight × component is given for each component, their sum is the score, and each lies in 0..1."""
    direct, focus, strength = asked
    confidence, salience, age_days = stored
    entry = scored(
        traits(confidence=confidence, salience=salience, updated_at=AT - timedelta(days=age_days)),
        direct,
        focus=focus,
        activation=Activation(strength, "seed"),
    )

    assert set(entry.parts) == set(entry.components) == set(WEIGHTS)
    assert math.fsum(entry.parts.values()) == entry.score
    assert all(0 <= value <= 1 for value in entry.components.values())
    for name, value in entry.components.items():
        assert math.isclose(entry.parts[name], WEIGHTS[name] * value, abs_tol=1e-9)


def test_recency_falls_from_one_to_nothing_in_thirty_days() -> None:
    """Age counts; an atom of the future is as recent as one of now."""
    days = [recency(AT - timedelta(days=days), AT) for days in (-1, 0, 15, 30, 60)]

    assert days == [1.0, 1.0, 0.5, 0.0, 0.0]


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    """Words are weighted by how few of the found atoms they match; one that none matches weighs most."""
    weighed = rarity(["amos", "the", "zebra"], [{"the"}, {"the", "amos"}, {"the"}])

    assert weighed.share({"amos"}) > weighed.share({"the"})
    assert weighed.weights["zebra"] > weighed.weights["amos"]
    assert weighed.share({"amos", "the", "zebra"}) == 1.0
    assert rarity([], []).share([]) == 0.0


def test_standing_takes_what_its_table_says() -> None:
    """Health that is let in on request is down-ranked, and so is what no longer holds."""
    gone = traits(valid_until=AT - timedelta(days=1))

    assert staleness(traits(), AT) == 0.0
    assert staleness(traits(state_key="stale", health_status="stale"), AT) == 1.0
    assert staleness(traits(health_status="low_utility"), AT) == 0.5
    assert staleness(traits(health_flags=["stale"]), AT) == 0.5
    assert not holds(gone, AT)
    assert staleness(gone, AT) == 1.0


def test_what_was_superseded_later_loses_nothing_at_an_instant_at_which_it_held() -> None:
    """A question about the past prefers what was true then."""
    then = traits(state_key="superseded", valid_from=AT - timedelta(days=9), valid_until=AT)

    assert staleness(then, AT - timedelta(days=1)) == 0.0
    assert staleness(then, AT) == 1.0
    assert staleness(traits(state_key="superseded"), AT) == 1.0


def test_contradictions_cost() -> None:
    """A stated contradiction costs all, an open one half."""
    assert contradiction(traits()) == 0.0
    assert contradiction(traits(contradictions=2)) == 0.5
    assert contradiction(traits(health_status="contradicted")) == 1.0
    assert contradiction(traits(health_flags=["contradicted"])) == 1.0


def test_attention_boosts_and_suppresses() -> None:
    """Focus and boosted types gain; suppressed terms cost by their share, suppressed types in full."""
    attention = Attention(
        suppress=("old", "api"), boost_types=frozenset({"goal"}), suppress_types=frozenset({"episode"})
    )

    def component(found: Traits, name: str) -> float:
        return scored(found, attention=attention).components[name]

    assert component(traits(words="old plan"), "attention_suppression_penalty") == 0.5
    assert component(traits(type="episode"), "attention_suppression_penalty") == 1.0
    assert component(traits(type="goal"), "attention_type_boost") == 1.0
    assert component(traits(), "attention_type_boost") == 0.0


def test_ties_go_by_id() -> None:
    """Equal scores stand in the order of their ids, whatever order they come in."""
    entries = [scored(traits(ref, words=ref)) for ref in ("c", "a", "b")]

    assert [entry.traits.id for entry in rank(entries, 3)] == ["a", "b", "c"]


def test_what_repeats_a_higher_ranked_atom_pays_for_it_and_says_so() -> None:
    """Of two atoms with the same words the better stays, and another topic passes the copy."""
    best = scored(traits("a", "user works on amos"), 0.9)
    copy = scored(traits("b", "user works on amos"), 0.8)
    other = scored(traits("c", "something else entirely"), 0.6)

    ranked = rank([copy, other, best], 3)

    assert [entry.traits.id for entry in ranked] == ["a", "c", "b"]
    assert ranked[2].repeats == "a"
    assert ranked[2].components["redundancy_penalty"] == 1.0
    assert math.fsum(ranked[2].parts.values()) == ranked[2].score


@given(
    st.lists(st.tuples(st.sampled_from(["x y", "x y z", "p q", "r"]), st.floats(0, 1)), max_size=25),
    st.integers(1, 8),
)
def test_a_limit_gives_the_head_of_the_whole_order(rows: list[tuple[str, float]], limit: int) -> None:
    """Stopping early changes nothing."""
    entries = [scored(traits(f"a{n}", words), direct) for n, (words, direct) in enumerate(rows)]

    assert rank(entries, limit) == rank(entries, len(entries) + 1)[:limit]
