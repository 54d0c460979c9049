"""Ranking: pure arithmetic whose parts add up, and whose order depends on nothing but what is stored."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amos_graph.domain.atoms import PAYLOADS
from amos_graph.policy.components import COMPONENTS, WEIGHTS
from amos_graph.policy.ranking import (
    Activation,
    Attention,
    Relevance,
    Scored,
    agents,
    contradiction,
    holds,
    place,
    rarity,
    recency,
    score,
    staleness,
)
from amos_graph.policy.traits import SAID, Traits

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
        tokens=frozenset(words.split()),
        content=frozenset(words.split()),
    )
    return replace(found, **changes)


def scored(
    found: Traits, direct: float = 0.5, attention: Attention | None = None, **relevance: Any
) -> Scored:
    """The atom's score for a cue that matches by half."""
    return score(found, Relevance(direct, **relevance), attention or Attention(), AT)


def component(found: Traits, name: str, attention: Attention | None = None, **relevance: Any) -> float:
    """One component of it."""
    return scored(found, attention=attention, **relevance).components[name]


#: The components as the specification lists them.
_OF_THE_SPEC = """
    direct_cue_match semantic_similarity edge_activation recency confidence utility salience goal_relevance
    procedural_applicability attention_focus attention_type_boost attention_counterevidence
    attention_novelty attention_suppression_penalty agency_match attribution_confidence
    correction_learning_relevance contradiction_penalty staleness_penalty access_penalty
    redundancy_penalty over_attribution_penalty omitted_counterevidence_penalty ignored_failure_penalty
"""


def test_every_component_of_the_specification_has_one_weight() -> None:
    """Twenty-four of them; what takes has a negative weight, what gives a positive one."""
    assert set(COMPONENTS) == set(_OF_THE_SPEC.split())
    assert len(COMPONENTS) == 24
    assert all((each.weight < 0) == name.endswith("_penalty") for name, each in COMPONENTS.items())


def test_what_counts_of_a_payload_stands_in_the_graph() -> None:
    """Each property that is read is lifted from its type's payload, or is one that every atom has."""
    for name, properties in SAID.items():
        for each in properties:
            common = each == "payload" or each.startswith("scope_")
            assert common or each in PAYLOADS[name].lifted, (name, each)


def test_gains_add_up_to_one() -> None:
    """Without penalties a score lies in 0..1."""
    assert math.isclose(math.fsum(weight for weight in WEIGHTS.values() if weight > 0), 1.0)


#: Atoms of types whose payload counts, with what is said of it.
_SAID: tuple[tuple[str, dict[str, Any]], ...] = (
    ("semantic", {}),
    ("goal", {"goal_status": "active"}),
    ("procedure", {"payload": '{"failed_count":3,"supported_count":1}'}),
    ("agentic_trace", {"responsibility_level": "primary", "agency_confidence": 0.25}),
    ("action_outcome", {"subject_agent": "ent:agent:iris", "success_status": "failed"}),
)
_ATTENTION = Attention(
    suppress=("old", "new"),
    boost_types=frozenset({"goal"}),
    counterevidence=True,
    novelty=0.7,
    agents=frozenset({"iris"}),
    conflicts_shown=False,
)


@given(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 3)),
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(-40, 400), st.integers(0, 9)),
    st.sampled_from(_SAID),
)
def test_parts_add_up_to_the_score(
    asked: tuple[float, float, float, float],
    stored: tuple[float, float, float, int],
    kind: tuple[str, dict[str, Any]],
) -> None:
    """Weight × component is given for each component, their sum is the score, and each lies in 0..1."""
    direct, focus, similar, strength = asked
    confidence, salience, age_days, degree = stored
    found = traits(
        words="old plan",
        confidence=confidence,
        salience=salience,
        updated_at=AT - timedelta(days=age_days),
        type=kind[0],
        said=kind[1],
        degree=degree,
        opposed=("belief",) * (degree % 2),
    )
    entry = scored(
        found, direct, _ATTENTION, focus=focus, similar=similar, activation=Activation(strength, "s")
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
    assert recency(AT - timedelta(days=7), AT, "immediate") == 0.0
    assert recency(AT - timedelta(days=60), AT, "long") > 0.8


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
    assert contradiction(traits(opposed=("belief", "goal"))) == 0.5
    assert contradiction(traits(health_status="contradicted")) == 1.0
    assert contradiction(traits(health_flags=["contradicted"])) == 1.0


def test_attention_boosts_and_suppresses() -> None:
    """Focus and boosted types gain; suppressed terms cost by their share, suppressed types in full."""
    attention = Attention(
        suppress=("old", "api"), boost_types=frozenset({"goal"}), suppress_types=frozenset({"episode"})
    )

    assert component(traits(words="old plan"), "attention_suppression_penalty", attention) == 0.5
    assert component(traits(type="episode"), "attention_suppression_penalty", attention) == 1.0
    assert component(traits(type="goal"), "attention_type_boost", attention) == 1.0
    assert component(traits(), "attention_type_boost", attention) == 0.0


def test_a_goal_or_a_procedure_gains_only_by_what_leads_to_it() -> None:
    """Its type alone gives nothing: words, focus, meaning or activation connect it, and by as much."""
    goal = traits(type="goal", said={"goal_status": "active"})
    procedure = traits(type="procedure")
    for found, name in ((goal, "goal_relevance"), (procedure, "procedural_applicability")):
        assert component(found, name, direct=0.0) == 0.0
        assert component(found, name, direct=0.4) == 0.4
        assert component(found, name, direct=0.0, focus=0.6) == 0.6
        assert component(found, name, direct=0.0, similar=0.3) == 0.3
        assert component(found, name, direct=0.0, activation=Activation(0.2, "s")) == 0.2

    reached = traits(type="goal", said={"goal_status": "satisfied"})
    assert component(reached, "goal_relevance") == 0.0
    assert component(replace(goal, said={"goal_status": "paused"}), "goal_relevance") == 0.25
    assert component(traits(type="commitment", said={"commitment_status": "open"}), "goal_relevance") == 0.5
    by_edge = Activation(0.3, "s", ({"relation": "rel:goal_relevance"},))
    assert component(traits(), "goal_relevance", activation=by_edge) == 0.3


def test_novelty_is_asked_for_and_bounded() -> None:
    """The less connected gain more, at most what was asked for; nobody gains unasked."""
    asked = Attention(novelty=0.8)
    gains = [component(traits(degree=degree), "attention_novelty", asked) for degree in (0, 3, 15, 400)]

    assert gains == sorted(gains, reverse=True)
    assert (gains[0], gains[1]) == (0.8, 0.4)
    assert component(traits(), "attention_novelty") == 0.0


def test_the_acting_agent_is_matched_by_scope_and_by_role() -> None:
    """Ids and names of an agent are one; how sure it is that it acted weighs what that gives."""
    asked = Attention(agents=agents(("iris", "chief critic")), role="chief critic")
    mine = traits(type="action_outcome", said={"subject_agent": "ent:agent:iris"})
    trace = traits(type="agentic_trace", said={"subject_agent": "ent:agent:Iris", "agency_confidence": 0.25})
    model = traits(type="self_model", said={"subject_agent": "ent:agent:x", "role": "Chief Critic"})

    assert component(mine, "agency_match", asked) == 1.0
    assert component(mine, "attribution_confidence", asked) == 0.8
    assert component(trace, "attribution_confidence", asked) == 0.25
    assert component(model, "agency_match", asked) == 1.0
    other = traits(type="action_outcome", said={"subject_agent": "ent:agent:otto"})
    for name in ("agency_match", "attribution_confidence"):
        assert component(other, name, asked) == component(mine, name) == 0.0


def test_corrections_and_lessons_gain_by_what_leads_to_them() -> None:
    """What corrects or replaces another atom, what failed, and an episode that tells an error."""
    lessons = (
        traits(corrects=True),
        traits(type="action_outcome", said={"success_status": "blocked"}),
        traits(type="episode", said={"payload": '{"errors":["it broke"],"task":"t"}'}),
        traits(type="self_assessment"),
    )
    others = (
        traits(),
        traits(type="action_outcome", said={"success_status": "succeeded"}),
        traits(type="episode", said={"payload": '{"errors":[],"task":"\\"errors\\":"}'}),
    )
    assert [component(found, "correction_learning_relevance") for found in lessons] == [0.5] * 4
    assert [component(found, "correction_learning_relevance") for found in others] == [0.0] * 3


def test_what_speaks_against_gains_only_where_it_is_wanted() -> None:
    """Sides of a contradiction, limits, failures, and what came along such an edge."""
    wanted = Attention(counterevidence=True)
    along = Activation(0.3, "s", ({"relation": "rel:supports"}, {"relation": "rel:contradicts"}))
    against = (traits(opposed=("belief",)), traits(type="limitation"))

    for found in against:
        assert component(found, "attention_counterevidence", wanted) == 1.0
        assert component(found, "attention_counterevidence") == 0.0
    assert component(traits(), "attention_counterevidence", wanted, activation=along) == 1.0
    assert component(traits(), "attention_counterevidence", wanted) == 0.0


def test_what_is_claimed_without_cover_costs() -> None:
    """Unsure responsibility, failures that a capability leaves unsaid, contradictions that are not shown."""
    trace = {"responsibility_level": "primary", "agency_confidence": 0.25}
    usable = {"availability": "available", "payload": '{"failed_count":3,"supported_count":1}'}
    gone = {**usable, "availability": "unavailable"}
    hidden = Attention(conflicts_shown=False)

    assert component(traits(type="agentic_trace", said=trace), "over_attribution_penalty") == 0.75
    assert component(traits(type="agentic_trace"), "over_attribution_penalty") == 0.0
    assert component(traits(type="capability", said=usable), "ignored_failure_penalty") == 0.75
    assert component(traits(type="capability", said=gone), "ignored_failure_penalty") == 0.0
    opposed = traits(opposed=("belief",))
    assert component(opposed, "omitted_counterevidence_penalty", hidden) == 1.0
    assert component(opposed, "omitted_counterevidence_penalty") == 0.0
    assert component(opposed, "access_penalty", hidden) == 0.0


def test_ties_go_by_id() -> None:
    """Equal scores stand in the order of their ids, whatever order they come in."""
    entries = [scored(traits(ref, words=ref)) for ref in ("c", "a", "b")]

    assert [entry.id for entry in sorted(entries, key=place)] == ["a", "b", "c"]
