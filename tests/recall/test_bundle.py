"""The bundle: a packet across categories in which the best matches still win, and what that displaced."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos_graph.commands.execution import Context
from amos_graph.policy.bundle import CLUSTER_SHARE, RESERVED_SHARE, ROLES, likeness, roles, select
from amos_graph.policy.ranking import Scored, place
from amos_graph.queries.recall import recall
from tests.recall.samples import edge, fact, packet, reasons, refs, store
from tests.recall.test_ranking import scored, traits
from tests.samples import belief


def _many(kind: str, count: int, direct: float, prefix: str = "", **changes: Any) -> list[Scored]:
    name = prefix or kind
    return [scored(traits(f"{name}{n:02}", f"{name}{n}", type=kind, **changes), direct) for n in range(count)]


def _ids(entries: list[Scored], limit: int, **more: Any) -> list[str]:
    return [one.entry.id for one in select(entries, limit, **more).places]


def test_the_fourteen_roles_of_the_specification_are_filled_by_what_they_name() -> None:
    """Each has a predicate; an atom can fill several and is named after the first."""
    assert len(ROLES) == 14
    found = {
        "active_beliefs": traits(type="belief"),
        "active_preferences": traits(type="preference"),
        "procedure": traits(type="procedure"),
        "current_self_model": traits(type="self_model"),
        "applicable_capabilities": traits(type="capability", said={"availability": "degraded"}),
        "applicable_limitations": traits(type="limitation"),
        "agentic_traces": traits(type="agentic_trace"),
        "action_outcomes": traits(type="action_outcome"),
        "semantic_claims": traits(type="semantic"),
        "recent_episode": traits(type="episode"),
        "evidence_pointers": traits(type="interaction_event"),
    }
    assert [roles(one) for one in found.values()] == [[role] for role in found]
    assert roles(traits(type="capability", said={"availability": "unavailable"})) == []
    assert roles(traits(type="goal")) == []
    assert roles(traits(type="action_outcome", said={"success_status": "blocked"})) == [
        "action_outcomes",
        "corrections_or_blocked_actions",
    ]
    assert roles(traits(corrects=True))[1:] == ["corrections_or_blocked_actions"]
    opposed = ["attribution_counterevidence", "conflict_or_uncertainty"]
    assert roles(traits(opposed=("agentic_trace",)))[1:] == opposed
    assert roles(traits(opposed=("belief",)))[1:] == ["conflict_or_uncertainty"]
    assert roles(traits(confidence=0.1))[1:] == ["conflict_or_uncertainty"]


def test_a_third_is_reserved_for_what_is_not_there_yet() -> None:
    """Of ten places seven go to the best; three to the best of other roles, in the order of their scores."""
    entries = [
        *_many("semantic", 20, 0.9),
        *_many("procedure", 2, 0.5),
        *_many("belief", 2, 0.4),
        *_many("preference", 2, 0.6),
        *_many("episode", 2, 0.35),
    ]

    bundle = select(entries, 10)

    kinds = [one.entry.traits.type for one in bundle.places]
    assert kinds == ["semantic"] * 7 + ["preference", "procedure", "belief"]
    assert [one.role for one in bundle.places if one.reserved] == [
        "active_preferences",
        "procedure",
        "active_beliefs",
    ]
    assert bundle.displaced == ("semantic07", "semantic08", "semantic09")


def test_the_best_match_is_never_displaced_and_small_packets_reserve_nothing() -> None:
    """One and two places are open; of three, one is reserved."""
    entries = [*_many("semantic", 5, 0.9), *_many("belief", 1, 0.4)]

    assert [_ids(entries, limit) for limit in (1, 2, 3)] == [
        ["semantic00"],
        ["semantic00", "semantic01"],
        ["semantic00", "semantic01", "belief00"],
    ]


def test_what_hardly_matches_takes_no_place() -> None:
    """A reserved place goes to nobody whom the request gives less than a third of what it gives the other."""
    entries = [*_many("semantic", 5, 0.9), *_many("belief", 1, 0.29)]

    assert _ids(entries, 3) == ["semantic00", "semantic01", "semantic02"]


def test_no_cluster_takes_the_packet_while_others_matter() -> None:
    """Memories of one type about one thing, and neighbours of one seed; what the request names is none."""
    about = {"said": {"subject": "ent:p:x"}, "entities": frozenset({"ent:p:x"})}
    crowd = _many("belief", 20, 0.9, "crowd", **about)
    others = _many("belief", 20, 0.5, "other")
    most = math.ceil(9 * CLUSTER_SHARE)

    assert [ref[:5] for ref in _ids([*crowd, *others], 9)] == ["crowd"] * most + ["other"] * (9 - most)
    assert [ref[:5] for ref in _ids([*crowd, *others], 9, named={"ent:p:x"})] == ["crowd"] * 9
    assert [ref[:5] for ref in _ids(crowd, 9)] == ["crowd"] * 9
    faint = _many("belief", 20, 0.2, "faint")
    assert [ref[:5] for ref in _ids([*crowd, *faint], 9)] == ["crowd"] * 9


def test_of_equals_the_one_that_shares_less_is_chosen() -> None:
    """Entities that are shared with what is selected cost a little in the choice and nothing in the score."""
    same = frozenset({"ent:p:x"})
    first = scored(traits("a", "one", type="semantic", entities=same), 0.9)
    alike = scored(traits("b", "two", type="semantic", entities=same), 0.6)
    apart = scored(traits("c", "three", type="semantic", entities=frozenset({"ent:p:y"})), 0.59)

    assert _ids([first, alike, apart], 2) == ["a", "c"]
    assert _ids([first, alike, apart], 3) == ["a", "b", "c"]
    assert _ids([first, alike, apart], 2, named=same) == ["a", "b"]


def test_what_repeats_a_selected_atom_pays_for_it_and_says_so() -> None:
    """Of two atoms with the same words the better stays, and another topic passes the copy."""
    best = scored(traits("a", "user works on amos"), 0.9)
    copy = scored(traits("b", "user works on amos"), 0.8)
    other = scored(traits("c", "something else entirely"), 0.6)

    bundle = select([copy, other, best], 3)

    assert [one.entry.id for one in bundle.places] == ["a", "c", "b"]
    [repetition] = bundle.repetitions
    assert (repetition.inhibitor, repetition.inhibited, repetition.strength) == ("a", "b", 1.0)
    last = bundle.places[2].entry
    assert last.components["redundancy_penalty"] > 0
    assert math.fsum(last.parts.values()) == last.score


@pytest.mark.case("C52")
def test_a_number_or_a_negation_makes_another_statement() -> None:
    """Texts that differ in one of them are no repetition of each other, however long they are."""
    words = " ".join(f"word{'abcdefghijklmnopqrstuvwxyz'[n]}" for n in range(24))

    def alike(one: str, other: str) -> float:
        return likeness(traits("a", f"{words} {one}"), traits("b", f"{words} {other}"))

    assert alike("years", "months") > 0.9
    assert alike("5", "6") == 0.0
    assert alike("", "not") == 0.0


def test_counterevidence_that_is_required_gets_the_first_reserved_place() -> None:
    """Whatever little matches it; where something stands against something already, nothing is forced."""
    entries = [*_many("semantic", 9, 0.9), scored(traits("limit", "x", type="limitation"), 0.01)]

    assert "limit" not in _ids(entries, 6)
    assert "limit" in _ids(entries, 6, counterevidence=True)
    opposed = [scored(traits("o", "o", opposed=("belief",)), 0.95), *entries]
    assert "limit" not in _ids(opposed, 6, counterevidence=True)


_KINDS = ("semantic", "belief", "goal", "procedure")


@given(
    st.lists(
        st.tuples(st.sampled_from(_KINDS), st.sampled_from(["x y", "x y z", "p q", "r"]), st.floats(0, 1)),
        max_size=25,
    ),
    st.integers(1, 9),
)
def test_a_bundle_is_full_in_order_and_led_by_the_best(
    rows: list[tuple[str, str, float]], limit: int
) -> None:
    """As many as there is room for, each once, by score; what is reserved is a third at most."""
    entries = [
        scored(traits(f"a{n:02}", words, type=kind), share) for n, (kind, words, share) in enumerate(rows)
    ]

    bundle = select(entries, limit)
    chosen = [one.entry for one in bundle.places]

    assert len(chosen) == len({entry.id for entry in chosen}) == min(limit, len(entries))
    assert chosen == sorted(chosen, key=place)
    reserved = [one for one in bundle.places if one.reserved]
    assert len(bundle.displaced) <= len(reserved) <= limit * RESERVED_SHARE + 1e-9
    assert {entry.id for entry in chosen}.isdisjoint(bundle.displaced)
    if entries:
        assert min(entries, key=place).id == chosen[0].id
    assert select(list(reversed(entries)), limit) == bundle


# --- in a packet ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed(module_context: Context) -> Context:
    """Thirty statements about a harbour, and a few memories of other kinds that say less of it."""
    common: dict[str, Any] = {"evidence_refs": ["evd_turn1"], "confidence": {"level": "high", "score": 0.9}}
    wish = {
        "holder": "ent:user:u",
        "polarity": "prefers",
        "target": "the harbour",
        "applicability_scope": "holidays",
        "strength": "high",
    }
    steps = {"name": "proc:moor", "trigger_context": "at the harbour", "steps": ["tie"]}
    store(
        module_context,
        *(fact(f"s{n:02}", f"The harbour crane lifts load {n}.") for n in range(30)),
        belief(id="b", payload={"subject": "ent:t:harbour", "relation": "rel:has_state", "object": "calm"}),
        {"id": "wish", "type": "preference", "payload": wish, **common},
        {"id": "moor", "type": "procedure", "payload": steps, **common},
        edges=(edge("s00", "contradicts", "s01"),),
    )
    return module_context


def test_a_packet_names_roles_places_and_what_they_displaced(mixed: Context) -> None:
    """Each item has its role; what a reserved place displaced is an omission beside what had no room."""
    found = packet(mixed, "harbour crane", max_items=9)

    places = {item["atom_ref"]: (item["bundle_role"], item["reserved_place"]) for item in found["items"]}
    assert places["b"] == ("active_beliefs", True)
    assert places["wish"] == ("active_preferences", True)
    assert places["moor"] == ("procedure", True)
    assert sum(role == "semantic_claims" for role, _ in places.values()) == 6
    assert found["attention_trace"]["reserved_places"]["procedure"] == "moor"
    [displaced] = [o for o in found["omissions"] if o["reason"] == "displaced_by_reserved_place"]
    assert displaced["count"] == len(displaced["refs"]) == 3
    assert set(displaced["by"]) == {"b", "wish", "moor"}
    scores = [item["score"] for item in found["items"]]
    assert scores == sorted(scores, reverse=True)
    assert refs(packet(mixed, "harbour crane", max_items=2)) == refs(found)[:2]


@pytest.mark.case("C55")
@pytest.mark.case("C57")
@pytest.mark.case("C59")
def test_what_is_not_in_a_packet_is_counted_at_every_size(mixed: Context) -> None:
    """Items and what found no room add up to the same, and more room never gives fewer items."""
    sizes: list[int] = []
    for limit in (1, 2, 3, 5, 8, 13, 21, 34, 100):
        found = packet(mixed, "harbour crane", max_items=limit)
        counted = reasons(found)
        left = counted.get("budget_exhausted", 0) + counted.get("displaced_by_reserved_place", 0)
        assert len(found["items"]) <= limit
        assert len(found["items"]) + left == 33
        sizes.append(len(found["items"]))
    assert sizes == sorted(sizes)


@pytest.mark.case("C57")
def test_what_the_requests_own_filters_keep_out_is_counted(mixed: Context) -> None:
    """Memories that match the words and are of another type are not there, and are told as a number."""
    found = packet(mixed, "harbour crane", requested_memory_types=["procedure"])

    assert refs(found) == ["moor"]
    assert reasons(found)["request_filter"] == 32
    assert "request_filter" not in reasons(packet(mixed, "harbour crane"))


def test_counterevidence_is_there_or_missed_by_name(mixed: Context) -> None:
    """Required counterevidence takes a place; where none exists the packet says so."""
    asked = {"attention_context": {"counterevidence_required": True}}

    there = packet(mixed, "harbour crane", max_items=9, **asked)
    assert {"s00", "s01"} & set(refs(there))
    assert "counterevidence_unavailable" not in reasons(there)
    wishes = {"requested_memory_types": ["preference"]}
    assert "counterevidence_unavailable" in reasons(packet(mixed, "holidays", **asked, **wishes))
    assert "counterevidence_unavailable" not in reasons(packet(mixed, "holidays", **wishes))


def test_novelty_prefers_what_is_less_connected(mixed: Context) -> None:
    """The two that are joined to each other gain less than those that are joined to nothing."""
    asked = {"cues": ["harbour crane"], "max_items": 40}
    items = recall(mixed, {**asked, "attention_context": {"novelty_preference": 1.0}})["items"]
    novelty = {item["atom_ref"]: item["score_components"]["attention_novelty"] for item in items}

    assert novelty["s05"] == 1.0
    assert novelty["s00"] == novelty["s01"] == pytest.approx(1 / math.sqrt(2))
    plain = recall(mixed, asked)["items"]
    assert {item["score_components"]["attention_novelty"] for item in plain} == {0.0}
