"""The walk over shared names: what a cue shares no word with is found by what its matches name."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.packets import check_request
from amos_graph.domain.times import now
from amos_graph.policy.naming import COMMON_MAX, SECOND_STEP, Shared, further, starts, step, stronger
from amos_graph.policy.ranking import Activation
from amos_graph.queries.recall.packet import settled, touches
from tests.conftest import ContextOf
from tests.recall.samples import fact, packet, refs, store

LATE = "2099-01-01T00:00:00Z"


def _item(found: dict[str, Any], ref: str) -> dict[str, Any]:
    return next(item for item in found["items"] if item["atom_ref"] == ref)


def _film(context: Context) -> None:
    """A question about the film's maker is answered by an atom that does not know the film."""
    store(
        context,
        fact("film", "The film Lantern Street was made by Ida Brandt in a winter."),
        fact("maker", "Ida Brandt grew up near the harbour of Skagen."),
        fact("town", "The lighthouse of Skagen is white."),
        fact("other", "Nothing of this has to do with Oslo."),
    )


def test_activation_passes_over_shared_names_in_two_steps(context: Context) -> None:
    """The maker and her town come with the film, by a path that names what they have in common."""
    _film(context)

    found = packet(context, "Who made the film Lantern Street?", evaluated_at=LATE)

    assert refs(found) == ["film", "maker", "town"]
    assert [
        (step["relation"], step["name"], step["source"], step["target"])
        for step in _item(found, "town")["activation_path"]
    ] == [("rel:co_refers", "ida brandt", "film", "maker"), ("rel:co_refers", "skagen", "maker", "town")]
    direct = _item(found, "film")["score_components"]["direct_cue_match"]
    near = _item(found, "maker")["score_components"]["edge_activation"]
    far = _item(found, "town")["score_components"]["edge_activation"]
    assert near == pytest.approx(direct / math.sqrt(2))
    assert far == pytest.approx(near * SECOND_STEP / math.sqrt(2))


def test_names_are_those_of_entities_their_aliases_and_what_they_were_merged_with(context: Context) -> None:
    """A reference, an alias in a text and the name of a merged entity are the same thing."""
    store(
        context,
        fact("reference", "She keeps the key", payload={"topic": "ent:person:ada_one"}),
        fact("alias", "Yesterday Countess Ada painted the boat."),
        fact("merged", "The mooring is paid", payload={"topic": "ent:person:second"}),
        entities=[
            {"id": "ent:person:ada_one", "canonical_name": "Ada Quist", "aliases": ["Countess Ada"]},
            {"id": "ent:person:second", "canonical_name": "A. Q.", "merged_into": "ent:person:ada_one"},
        ],
    )

    assert set(refs(packet(context, "key"))) == {"reference", "alias", "merged"}
    assert set(refs(packet(context, "boat"))) == {"alias", "reference", "merged"}


def test_a_name_that_very_many_speak_of_joins_nothing(context: Context) -> None:
    """Beyond the bound it tells nothing of any of them; at the bound it passes a little."""
    store(
        context,
        fact("start", "The report on granite is kept by Hub Office."),
        *(fact(f"n{number}", f"Hub Office holds file number {number}") for number in range(COMMON_MAX - 1)),
    )
    found = packet(context, "granite", max_items=50)
    assert len(refs(found)) == COMMON_MAX
    assert _item(found, "n0")["score_components"]["edge_activation"] == pytest.approx(
        1 / math.sqrt(COMMON_MAX)
    )

    store(context, fact("more", "Hub Office holds one more file"))

    assert refs(packet(context, "granite", max_items=50)) == ["start"]


@pytest.mark.reliability("T19")
def test_what_is_hidden_moves_no_degree_and_takes_no_place(context_of: ContextOf) -> None:
    """However many hidden memories speak of the name, the packet is the same."""
    _film(context_of())
    reader = context_of()
    before = packet(reader, "Lantern Street", evaluated_at=LATE)
    hidden = [fact(f"h{number}", f"Ida Brandt saw Skagen {number} times") for number in range(COMMON_MAX + 5)]
    store(context_of(scope={"project_id": "secret"}), *hidden)
    after = packet(reader, "Lantern Street", evaluated_at=LATE)

    assert refs(after) == ["film", "maker", "town"]
    assert [item["score_parts"] for item in after["items"]] == [
        item["score_parts"] for item in before["items"]
    ]
    assert [item["activation_path"] for item in after["items"]] == [
        item["activation_path"] for item in before["items"]
    ]


def test_what_may_not_enter_passes_nothing_on(context: Context) -> None:
    """A stale memory is no way to another one, unless stale ones are let in."""
    store(
        context,
        fact("begin", "The lamp was sold to Bo Lund."),
        fact("way", "Bo Lund knows Eva Holm.", health_status="stale"),
        fact("end", "Eva Holm owns a bakery."),
    )

    assert refs(packet(context, "lamp")) == ["begin"]
    assert refs(packet(context, "lamp", include_low_health=True)) == ["begin", "way", "end"]


@pytest.mark.reliability("T12")
def test_the_past_is_walked_as_it_was(context: Context) -> None:
    """A packet of a past version has the paths and the degrees of then, through aliases and merges too."""
    _film(context)
    alias = {"id": "ent:place:skagen", "canonical_name": "Skagen", "aliases": ["Grenen Point"]}
    other = {"id": "ent:place:grenen", "canonical_name": "Old Grenen", "merged_into": "ent:place:skagen"}
    steps = [
        lambda: store(context, fact("point", "Grenen Point lies in the north.")),
        lambda: store(context, entities=[alias]),
        lambda: store(context, fact("late", "The ferry leaves"), entities=[other]),
        lambda: store(context, fact("quay", "It is closed", payload={"topic": "ent:place:grenen"})),
    ]
    request = {"evaluated_at": LATE, "include_provenance": True}
    told = [packet(context, "Lantern Street", **request)]
    for write in steps:
        write()
        told.append(packet(context, "Lantern Street", **request))

    assert [len(refs(found)) for found in told] == [3, 3, 4, 4, 5]
    for found in told:
        again = packet(context, "Lantern Street", as_of_version=found["graph_version"], **request)
        assert again["items"] == found["items"]


@pytest.mark.reliability("T12")
def test_a_write_that_changes_a_degree_is_noticed(context: Context) -> None:
    """What was counted for the walk was read, whether a packet shows it or not."""
    _film(context)
    asked = check_request({"cues": ["Lantern Street"], "max_items": 1}, context.scope, now(), 100)
    reading = settled(replace(context, scope=asked.scope), asked)
    added = {"version": 1, "relation": None, "source_ref": None, "target_ref": None}

    assert touches(reading, [{**added, "ref": "town"}])
    assert not touches(reading, [{**added, "ref": "elsewhere"}])


def _shared(key: str, sources: str, atoms: str) -> Shared:
    return Shared(key, sources.split(), atoms.split())


def test_a_poor_match_starts_nothing_of_weight() -> None:
    """Half as good a match is worth a sixteenth as a start."""
    begin = starts({"a": 0.8, "b": 0.4, "c": 0.0})

    assert list(begin) == ["a", "b"]
    assert [found.strength for found in begin.values()] == pytest.approx([0.8, 0.4 / 8])


def test_the_strongest_way_counts_and_none_leads_back() -> None:
    """The rarer of two names passes more; of equals the first counts; a seed is not its own answer."""
    begin = {"a": Activation(1.0, "a")}
    near = step(
        begin, [_shared("rare", "a", "a b"), _shared("common", "a", "a b c d"), _shared("z", "a", "a b")]
    )

    assert {ref: (found.strength, found.path[0]["name"]) for ref, found in near.items()} == {
        "b": (pytest.approx(1 / math.sqrt(2)), "rare"),
        "c": (0.5, "common"),
        "d": (0.5, "common"),
    }
    far = step(further(near), [_shared("back", "b", "a b"), _shared("on", "b", "b e")])
    assert list(far) == ["e"]
    assert stronger(near, far)["e"].seed == "a"


def test_a_thing_of_one_memory_passes_nothing() -> None:
    """A name that only the start speaks of leads nowhere."""
    assert step({"a": Activation(1.0, "a")}, [_shared("alone", "a", "a")]) == {}


def test_names_follow_what_an_atom_says_now(context: Context) -> None:
    """A new version that speaks of something else is no longer reached over the old name."""
    _film(context)
    body = {**fact("maker", "She grew up elsewhere."), "version": 1}
    commit(context, {"atoms": [body]})

    assert refs(packet(context, "Lantern Street")) == ["film"]
