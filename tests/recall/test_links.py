"""Entities in free text: known names, the longest first, with the stretch and how sure it is."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.execution import Context
from amos_graph.policy.entity_links import FOLDED, Named, linked
from amos_graph.queries.recall.cues import names_of
from tests.conftest import ContextOf
from tests.recall.samples import fact, packet, refs, store

CITY = Named("ent:place:new_york", ["new york"], frozenset({"new york"}), frozenset({"ent:place:new_york"}))
PAPER = Named("ent:org:nyt", ["new york times"], frozenset({"new york times"}), frozenset({"ent:org:nyt"}))
ZOE = Named("ent:person:zoe", ["zoe"], frozenset({"zoë"}), frozenset({"ent:person:zoe"}))


def links(text: str, *known: Named) -> list[tuple[str, str, float]]:
    """Entity, stretch and confidence of each link."""
    found = linked(names_of([text]).stretches, known)
    return [(link.entity, text[link.start : link.end], link.confidence) for link in found]


def test_the_longest_name_wins() -> None:
    """The paper is not its city; both are named where both are written."""
    assert links("Who owns the New York Times?", CITY, PAPER) == [(PAPER.ref, "New York Times?", 1.0)]
    assert links("the New York Times of New York", CITY, PAPER) == [
        (PAPER.ref, "New York Times", 1.0),
        (CITY.ref, "New York", 1.0),
    ]


@pytest.mark.parametrize(
    ("text", "span", "confidence"),
    [
        ("where is zoë", "zoë", 1.0),
        ("ZOË's key", "ZOË's", 1.0),
        ("ask Zoe, please", "Zoe,", FOLDED),
        ("(Zo\u0065\u0308)", "(Zo\u0065\u0308)", 1.0),
    ],
)
def test_case_accents_and_punctuation_do_not_hide_a_name(text: str, span: str, confidence: float) -> None:
    """A name that fits but for its accents is a little less sure."""
    assert links(text, ZOE) == [(ZOE.ref, span, confidence)]


def test_a_name_that_several_bear_is_less_sure_and_one_that_merged_ones_bear_is_not() -> None:
    """Each is meant; what was merged is one."""
    other = Named("ent:person:zoe2", ["zoe"], frozenset({"zoë"}), frozenset({"ent:person:zoe2"}))
    same = frozenset({"ent:person:zoe", "ent:person:z"})
    one = Named("ent:person:zoe", ["zoe"], frozenset({"zoë"}), same)
    merged = Named("ent:person:z", ["zoe"], frozenset({"zoë"}), same)

    assert [confidence for *_, confidence in links("Zoë", ZOE, other)] == [0.5, 0.5]
    assert [confidence for *_, confidence in links("Zoë", one, merged)] == [1.0, 1.0]


def _told(found: dict[str, Any]) -> list[dict[str, Any]]:
    return found["attention_trace"]["entity_links"]


def test_a_packet_tells_which_stretch_of_which_cue_named_what(context: Context) -> None:
    """Place, span and confidence; the memory about the shorter name's bearer does not come."""
    store(
        context,
        fact("paper", "It is printed at night", payload={"topic": "ent:org:p1"}),
        fact("city", "It never sleeps", payload={"topic": "ent:place:p2"}),
        entities=[
            {"id": "ent:org:p1", "canonical_name": "New York Times", "aliases": ["the gray lady"]},
            {"id": "ent:place:p2", "canonical_name": "New York"},
        ],
    )

    found = packet(context, "hello", "tell me of The New York Times")

    assert refs(found) == ["paper"]
    assert _told(found) == [
        {"entity_ref": "ent:org:p1", "text": 1, "start": 15, "span": "New York Times", "confidence": 1.0}
    ]
    assert refs(packet(context, "who is the Gray Lady?")) == ["paper"]
    assert packet(context, "New York Times", as_of_version=found["graph_version"])["attention_trace"][
        "entity_refs"
    ] == ["ent:org:p1"]


@pytest.mark.reliability("T20")
def test_an_entity_of_which_nothing_may_be_seen_is_not_linked(context_of: ContextOf) -> None:
    """The trace tells no name that only hidden memories speak of."""
    store(
        context_of(scope={"project_id": "secret"}),
        fact("hidden", "It is dark", payload={"topic": "ent:org:p1"}),
    )

    found = packet(context_of(), "ent:org:p1 New York Times")

    assert (_told(found), found["attention_trace"]["entity_refs"], refs(found)) == ([], [], [])
