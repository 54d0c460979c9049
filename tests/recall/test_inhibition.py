"""Inhibition: what holds what back, by which rule, and that a correction comes before what it corrects."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos_graph.commands.execution import Context
from amos_graph.policy.inhibition import KINDS, MARGIN, Inhibition, below, inhibited, inhibitions, lowered
from amos_graph.policy.ranking import Activation, Attention, Relevance, Scored, score
from amos_graph.policy.traits import Hold
from tests.recall.samples import edge, fact, packet, refs, store
from tests.recall.test_ranking import AT, scored, traits
from tests.samples import belief


def held(*entries: Scored, attention: Attention | None = None, asked: str = "") -> list[tuple[str, ...]]:
    """Kind, inhibitor and inhibited of everything that holds one of the entries back."""
    found = inhibitions(entries, {}, attention or Attention(), asked.split())
    return [(one.kind, one.inhibitor or "", one.inhibited) for one in found]


# --- the rules ------------------------------------------------------------------------------------


def _preference(ref: str, where: str, confidence: float = 0.9, **said: Any) -> Scored:
    payload = {"holder": "ent:user:u", "target": "Short answers", "applicability_scope": where}
    told = {"holder": "ent:user:u", "payload": json.dumps(payload), **said}
    return scored(traits(ref, type="preference", confidence=confidence, said=told))


def test_a_narrower_preference_that_applies_holds_the_wider_one_back() -> None:
    """By scope, or by applicability that the request speaks of; not the other way round."""
    generic, code = _preference("generic", "always, in general"), _preference("code", "code review")
    strict = _preference("strict", "code review of kernels")
    project = _preference("project", "always", scope_project_id="p")

    assert held(generic, code, asked="review this") == [("scoped_preference", "code", "generic")]
    assert held(generic, code, asked="a poem") == []
    assert held(code, strict, asked="review kernels") == [("scoped_preference", "strict", "code")]
    assert held(generic, project, asked="a poem") == [("scoped_preference", "project", "generic")]
    assert held(generic, _preference("weak", "code review", confidence=0.3), asked="review") == []
    other = _preference("other", "code review")
    payload = {"holder": "ent:user:u", "target": "tea", "applicability_scope": "code review"}
    tea = replace(other, traits=replace(other.traits, said={"payload": json.dumps(payload)}))
    assert held(generic, tea, asked="review") == []


def _claim(ref: str, modality: str, age_days: int, **said: Any) -> Scored:
    told = {"subject": "ent:p:x", "relation": "rel:deadline", "object": ref, "modality": modality, **said}
    return scored(traits(ref, said=told, updated_at=AT - timedelta(days=age_days)))


def test_a_newer_observation_corrects_an_older_inference_of_one_value() -> None:
    """Of one subject and single-valued relation; an older one, another subject, many values do not."""
    seen, guessed = _claim("seen", "user_stated", 1), _claim("guessed", "inferred", 5)

    assert held(seen, guessed) == [("correction", "seen", "guessed")]
    assert held(_claim("seen", "observed", 9), guessed) == []
    assert held(_claim("seen", "inferred", 1), guessed) == []
    assert held(_claim("seen", "observed", 1, subject="ent:p:y"), guessed) == []
    assert held(_claim("seen", "observed", 1, object="Guessed"), guessed) == []
    many = {"relation": "rel:likes"}
    assert held(_claim("seen", "observed", 1, **many), _claim("guessed", "inferred", 5, **many)) == []


def test_a_strong_procedure_holds_back_the_weaker_episodes_of_its_task() -> None:
    """By the words of task and trigger, or because the episode names it."""

    def procedure(confidence: float) -> Scored:
        payload = json.dumps({"name": "proc:ship", "trigger_context": "ship a release", "steps": ["x"]})
        return scored(
            traits(
                "p", type="procedure", confidence=confidence, said={"name": "proc:ship", "payload": payload}
            )
        )

    def episode(ref: str, task: str, confidence: float = 0.5, **more: Any) -> Scored:
        return scored(
            traits(
                ref,
                type="episode",
                confidence=confidence,
                said={"payload": json.dumps({"task": task, **more})},
            )
        )

    same, apart = episode("same", "ship the release"), episode("apart", "water the plants")
    named = episode("named", "water the plants", linked_procedures=["proc:ship"])
    assert held(procedure(0.9), same, apart, named) == [
        ("strong_procedure", "p", "named"),
        ("strong_procedure", "p", "same"),
    ]
    assert held(procedure(0.6), same) == []
    assert held(procedure(0.8), episode("same", "ship the release", confidence=0.9)) == []


def test_the_goal_at_hand_holds_back_what_only_association_brought() -> None:
    """Neighbours that share no word, no thing and no path with it; not what the request itself matches."""
    goal = scored(traits("g", "ship beta", type="goal", said={"goal_status": "active"}), focus=1.0)
    attention = Attention(goal=frozenset({"ship", "beta"}))
    by_edge: dict[str, Any] = {
        "direct": 0.0,
        "activation": Activation(0.4, "s", ({"source": "s", "relation": "rel:supports"},)),
    }
    stray = scored(traits("stray", "gardens"), **by_edge)
    entries = [
        goal,
        stray,
        scored(traits("word", "beta gardens"), **by_edge),
        scored(traits("thing", "gardens", entities=frozenset({"ent:p:b"})), **by_edge),
        scored(traits("matched", "gardens"), 0.3),
        scored(
            traits("behind", "gardens"),
            direct=0.0,
            activation=Activation(0.4, "g", ({"source": "g", "relation": "rel:supports"},)),
        ),
    ]
    entries[0] = replace(goal, traits=replace(goal.traits, entities=frozenset({"ent:p:b"})))

    assert held(*entries, attention=attention) == [("active_goal", "g", "stray")]
    assert held(*entries) == []
    done = replace(goal, traits=replace(goal.traits, said={"goal_status": "satisfied"}))
    assert held(done, stray, attention=attention) == []


def test_an_inhibiting_edge_takes_activation_times_weight_times_confidence() -> None:
    """Of several the strongest counts; without activation nothing is taken, and all act at once on seeds."""
    edges = (Hold("a", "rel:inhibits", "edge_1", 0.5), Hold("b", "rel:inhibits", "edge_2", 1.0))
    target = scored(traits("t", held=edges))

    def taken(**activation: float) -> float:
        found = inhibitions([target], activation, Attention(), ())
        return inhibited([target], found)["t"].components["attention_suppression_penalty"]

    assert taken(a=0.8) == 0.4
    assert taken(a=0.8, b=0.3) == 0.4
    assert taken(a=0.8, b=0.9) == 0.9
    assert taken(a=0.8, b=3.0) == 1.0
    assert taken() == 0.0

    ring = {
        "a": traits("a", held=(Hold("b", "rel:inhibits", "edge_3", 1.0),)),
        "b": traits("b", held=(Hold("a", "rel:inhibits", "edge_4", 0.5),)),
    }
    assert lowered({"a": 0.6, "b": 0.4}, ring) == {"a": pytest.approx(0.2), "b": pytest.approx(0.1)}


# --- whose place is taken -------------------------------------------------------------------------

_BELOW = [kind for kind, rule in KINDS.items() if rule.below]


@given(st.data())
def test_what_is_inhibited_stands_below_its_inhibitor_and_parts_still_add_up(data: st.DataObject) -> None:
    """Over chains and circles alike: of a circle the rule that is heard first counts."""
    names = [f"a{n}" for n in range(data.draw(st.integers(2, 7)))]
    shares = st.floats(0, 1)
    entries = [scored(traits(ref, confidence=data.draw(shares)), data.draw(shares)) for ref in names]
    pairs = data.draw(
        st.lists(st.tuples(st.sampled_from(_BELOW), st.permutations(names)), min_size=1, max_size=8)
    )
    found = [Inhibition(kind, order[0], order[1], 1.0) for kind, order in pairs]

    settled = below({entry.id: entry for entry in entries}, found)

    first = min(found, key=lambda one: (_BELOW.index(one.kind), one.inhibited, one.inhibitor or ""))
    assert settled[first.inhibited].score <= settled[first.inhibitor or ""].score - MARGIN / 2
    for entry in entries:
        after = settled[entry.id]
        assert after.score <= entry.score
        assert 0 <= after.components["redundancy_penalty"] <= 1
        if entry.id not in {one.inhibited for one in found}:
            assert after == entry


def _stored(context: Context) -> None:
    """A wrong memory that matches every word, and its corrections, which match none."""
    store(
        context,
        fact("wrong", "The office is in Berlin at the river.", salience=1.0, utility=1.0),
        belief(id="guess", payload={"subject": "ent:o:office", "object": "Berlin", "relation": "rel:likes"}),
    )
    weak = {"confidence": {"score": 0.2}, "salience": 0.0, "utility": 0.0}
    store(context, fact("next", "It moved to Munich.", supersedes=["wrong"], **weak))
    store(
        context,
        fact("last", "Then it went to Lisbon.", supersedes=["next"], **weak),
        fact("note", "Not so: it never did.", **weak),
        edges=(edge("note", "corrects", "guess", weight=0.1),),
    )


@pytest.mark.case("C50")
def test_a_correction_comes_before_what_it_corrects(context: Context) -> None:
    """By default the wrong one is absent and its successor is there though it shares no word with the cue;
    in the history every correction precedes what it corrects, however well the wrong one matches."""
    _stored(context)

    plain = packet(context, "Where is the office in Berlin at the river?")
    assert "last" in refs(plain)
    assert {"wrong", "next"}.isdisjoint(refs(plain))

    history = packet(context, "Where is the office in Berlin at the river?", include_superseded=True)
    order = [ref for ref in refs(history) if ref in {"wrong", "next", "last"}]
    assert order == ["last", "next", "wrong"]
    assert refs(history).index("note") < refs(history).index("guess")
    [last] = [item for item in history["items"] if item["atom_ref"] == "last"]
    assert [(step["source"], step["relation"], step["target"]) for step in last["activation_path"]] == [
        ("wrong", "rel:supersedes", "next"),
        ("next", "rel:supersedes", "last"),
    ]


def test_every_inhibition_says_what_held_what_back_and_why(context: Context) -> None:
    """In the trace for all, in the item for those that are still there, each with its kind and reason."""
    _stored(context)
    asked = {"include_superseded": True, "attention_context": {"suppress_memory_types": ["belief"]}}

    found = packet(context, "Where is the office in Berlin at the river?", **asked)

    told = {
        (one["kind"], one["inhibitor"], one["inhibited"]) for one in found["attention_trace"]["inhibitions"]
    }
    assert {
        ("supersession", "last", "next"),
        ("supersession", "next", "wrong"),
        ("correction", "note", "guess"),
        ("attention", None, "guess"),
        ("standing", None, "wrong"),
    } <= told
    assert {one[2] for one in told} == set(found["attention_trace"]["inhibited_refs"])
    for item in found["items"]:
        mine = {(one["kind"], one["inhibitor"], item["atom_ref"]) for one in item["inhibited_by"]}
        assert mine == {one for one in told if one[2] == item["atom_ref"]}
        assert all(one["reason"] == KINDS[one["kind"]].meaning for one in item["inhibited_by"])


def test_an_inhibitor_that_may_not_be_seen_holds_nothing_back(context: Context, tenant: str) -> None:
    """Neither by an edge of its own nor by being there."""
    secret = {**context.scope.record(), "project_id": "secret"}
    hidden = replace(context, scope=context.identity.within({"project_id": "secret"}))
    store(context, fact("a", "the crane moves"), fact("b", "the crane rests"))
    before = packet(context, "crane", evaluated_at="2099-01-01T00:00:00Z")
    store(
        hidden,
        fact("h", "the crane is red", scope=secret),
        edges=(edge("h", "inhibits", "a", scope=secret), edge("b", "inhibits", "a", scope=secret)),
    )

    after = packet(context, "crane", evaluated_at="2099-01-01T00:00:00Z")
    assert after["items"] == before["items"]
    assert after["attention_trace"] == before["attention_trace"]
    [low] = [i for i in packet(hidden, "crane")["items"] if i["atom_ref"] == "a"]
    assert low["score_components"]["attention_suppression_penalty"] == 1.0


def test_what_is_held_back_passes_on_less(context: Context) -> None:
    """A seed that another seed inhibits enters the walk with what is left of its match."""

    def behind(weight: float) -> float:
        found = packet(context, "crane", requested_memory_types=["semantic"])
        [item] = [item for item in found["items"] if item["atom_ref"] == f"behind{weight}"]
        return item["score_components"]["edge_activation"]

    for weight in (0.25, 0.75):
        store(
            context,
            fact(f"low{weight}", "the crane rests"),
            fact(f"behind{weight}", "seagulls"),
            fact(f"high{weight}", "the crane moves"),
            edges=(
                edge(f"high{weight}", "inhibits", f"low{weight}", weight=weight),
                edge(f"low{weight}", "supports", f"behind{weight}", weight=1.0),
            ),
        )

    assert behind(0.25) == pytest.approx(0.75 * 0.5)
    assert behind(0.75) == pytest.approx(0.25 * 0.5)


@pytest.mark.case("C52")
def test_texts_that_differ_in_a_number_are_both_kept(context: Context) -> None:
    """Neither pays for repeating the other; where one supersedes the other, it comes first."""
    said = "The lease of the second warehouse at the northern quay of the old harbour runs for {} more years."
    store(context, fact("five", said.format(5)), fact("six", said.format(6)), fact("again", said.format(6)))

    found = packet(context, "lease of the warehouse")
    penalties = {i["atom_ref"]: i["score_components"]["redundancy_penalty"] for i in found["items"]}
    assert penalties["five"] == 0.0
    assert min(penalties["six"], penalties["again"]) == 0.0
    assert max(penalties["six"], penalties["again"]) > 0.0

    store(context, fact("seven", said.format(7), supersedes=["five"]))
    found = packet(context, "lease of the warehouse", include_superseded=True)
    assert refs(found).index("seven") < refs(found).index("five")


def test_traits_that_no_rule_looks_at_hold_nothing_back() -> None:
    """Ordinary memories beside each other leave each other alone."""
    plain = [score(traits(f"a{n}", f"word{n}"), Relevance(0.5), Attention(), AT) for n in range(5)]

    assert held(*plain) == []
