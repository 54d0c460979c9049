"""Listing: pages, filters and both clocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.errors import AmosError
from amos_graph.queries.list import list_atoms
from tests.samples import belief, source_event


def ids(page: dict[str, Any]) -> list[str]:
    return [item["atom_id"] for item in page["items"]]


@pytest.fixture
def beliefs(context: Context) -> list[str]:
    """Seven beliefs about two subjects, in two commands."""
    names = [f"b{number}" for number in range(7)]
    atoms = [
        belief(id=name, payload={"subject": f"ent:person:p{number % 2}", "object": f"value {number}"})
        for number, name in enumerate(names)
    ]
    commit(context, {"events": [source_event()], "atoms": atoms[:4]})
    commit(context, {"atoms": atoms[4:]})
    return names


@pytest.mark.case("C55", "C58")
def test_pages_give_every_atom_once_in_order(context: Context, beliefs: list[str]) -> None:
    """Following the cursor gives all atoms, none twice, at most `limit` a page."""
    seen: list[str] = []
    cursor = None
    while True:
        page = list_atoms(context, {"limit": 3, "cursor": cursor})
        assert len(page["items"]) <= 3
        seen += ids(page)
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert beliefs == seen


@pytest.mark.case("C45")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"subject": "ent:person:p1"}, ["b1", "b3", "b5"]),
        ({"entity": "ent:person:p0", "types": ["belief"]}, ["b0", "b2", "b4", "b6"]),
        ({"types": ["goal"]}, []),
        ({"relation": "rel:working_on", "subject": "ent:person:p1", "limit": 2}, ["b1", "b3"]),
        ({"health_statuses": ["stale"]}, []),
        ({"lifecycle_states": ["archived"]}, []),
    ],
)
def test_filters_are_joined(
    context: Context, beliefs: list[str], filters: dict[str, Any], expected: list[str]
) -> None:
    """Every combination of filters gives the atoms that match all of them."""
    assert expected == ids(list_atoms(context, filters))


def test_a_listing_as_of_a_version_shows_what_was_known(context: Context, beliefs: list[str]) -> None:
    """Atoms of later commands are absent, changed ones are as they were."""
    before = list_atoms(context, {})["graph_version"]
    changed = belief(id="b0", payload={"subject": "ent:person:p1", "object": "moved"}, version=1)
    commit(context, {"atoms": [changed]})

    now = list_atoms(context, {"subject": "ent:person:p1"})
    then = list_atoms(context, {"subject": "ent:person:p1", "as_of_version": before})

    assert (ids(now), ids(then)) == (["b0", "b1", "b3", "b5"], ["b1", "b3", "b5"])


def test_valid_at_lists_what_held(context: Context) -> None:
    """Two values of one attribute, one after the other: each instant has one."""
    periods = [("2025-01-01T00:00:00Z", "2025-07-01T00:00:00Z"), ("2025-07-01T00:00:00Z", None)]
    atoms = [
        belief(
            id=f"status{number}",
            payload={"object": f"state {number}", "validity_interval": {"from": begin, "until": end}},
        )
        for number, (begin, end) in enumerate(periods)
    ]
    commit(context, {"events": [source_event()], "atoms": atoms})

    def held(instant: str) -> list[str]:
        return ids(list_atoms(context, {"subject": "ent:user:primary", "valid_at": instant}))

    assert [
        held("2024-12-31T00:00:00Z"),
        held("2025-06-30T23:59:59Z"),
        held("2025-07-01T00:00:00Z"),
    ] == [[], ["status0"], ["status1"]]


@pytest.mark.parametrize("cursor", ["x", "bm8=", "W10=", "é"])
def test_a_foreign_cursor_is_refused(context: Context, cursor: str) -> None:
    """What is no cursor of this listing is `schema_invalid`, not a failure."""
    with pytest.raises(AmosError, match="cursor"):
        list_atoms(context, {"cursor": cursor})


@pytest.mark.parametrize("field", ["lifecycle_states", "health_statuses"])
def test_a_state_that_does_not_exist_is_refused(context: Context, field: str) -> None:
    """With the path of the entry, and not answered by an empty page."""
    with pytest.raises(AmosError) as refused:
        list_atoms(context, {field: ["active" if field == "lifecycle_states" else "stale", "made_up"]})

    assert refused.value.code == "schema_invalid"
    assert [fault.path for fault in refused.value.faults] == [f"{field}[1]"]


def test_a_cursor_belongs_to_its_filters(context: Context, beliefs: list[str]) -> None:
    """A cursor cannot be carried over to other filters."""
    cursor = list_atoms(context, {"limit": 2})["next_cursor"]

    with pytest.raises(AmosError, match="other filters"):
        list_atoms(context, {"limit": 2, "cursor": cursor, "types": ["belief"]})


def _entity(ref: str, **became: Any) -> dict[str, Any]:
    return {"id": ref, **became}


@pytest.fixture
def merged(context: Context) -> dict[str, int]:
    """Beliefs about Bob and Robert, who turn out to be one, and about a pair that turns out to be two.

    The versions before the merge, with it, and after it was taken back.
    """
    about = {"b1": "bob", "b2": "robert", "b3": "pair", "b4": "ann"}
    atoms = [belief(id=ref, payload={"subject": f"ent:person:{who}"}) for ref, who in about.items()]
    atoms.append(belief(id="b5", payload={"subject": "ent:person:ann", "object": "ent:person:bob"}))
    apart = commit(context, {"events": [source_event()], "atoms": atoms}).graph_version
    one = _entity("ent:person:bob", merged_into="ent:person:robert", version=1)
    two = _entity("ent:person:pair", split_into=["ent:person:ann", "ent:person:robert"], version=1)
    joined = commit(context, {"entities": [one, two]}).graph_version
    again = [_entity("ent:person:bob", version=2), _entity("ent:person:pair", version=2)]
    return {"apart": apart, "joined": joined, "again": commit(context, {"entities": again}).graph_version}


@pytest.mark.parametrize(
    ("filters", "joined", "apart"),
    [
        ({"subject": "ent:person:robert"}, ["b1", "b2"], ["b2"]),
        ({"subject": "ent:person:bob"}, ["b1", "b2"], ["b1"]),
        ({"entity": "ent:person:robert"}, ["b1", "b2", "b5"], ["b2"]),
        ({"entity": "ent:person:pair"}, ["b1", "b2", "b3", "b4", "b5"], ["b3"]),
        ({"subject": "ent:person:ann", "entity": "ent:person:robert"}, ["b5"], []),
        ({"subject": "ent:person:nobody"}, [], []),
    ],
)
def test_a_filter_by_an_entity_takes_all_that_stands_for_it(
    context: Context, merged: dict[str, int], filters: dict[str, Any], joined: list[str], apart: list[str]
) -> None:
    """What was merged into the same entity, and the parts of a split one: as it was at each version."""
    then = {name: ids(list_atoms(context, {**filters, "as_of_version": at})) for name, at in merged.items()}

    assert then == {"apart": apart, "joined": joined, "again": apart}
    assert ids(list_atoms(context, filters)) == apart
    bob = _entity("ent:person:bob", merged_into="ent:person:robert", version=3)
    pair = _entity("ent:person:pair", split_into=["ent:person:ann", "ent:person:robert"], version=3)
    commit(context, {"entities": [bob, pair]})
    assert ids(list_atoms(context, filters)) == joined
    assert ids(list_atoms(context, {**filters, "limit": 1})) == joined[:1]


def test_a_filter_by_a_text_is_no_filter_by_an_entity(context: Context, beliefs: list[str]) -> None:
    """A subject that is no id is compared as it is, now and then."""
    commit(context, {"atoms": [belief(id="said", payload={"subject": "the old harbour"})]})
    version = list_atoms(context, {})["graph_version"]

    for at in ({}, {"as_of_version": version - 1}, {"as_of_version": version}):
        listed = ids(list_atoms(context, {"subject": "the old harbour", **at}))
        assert listed == ([] if at.get("as_of_version") == version - 1 else ["said"])


def test_more_merges_than_a_past_listing_looks_at_are_refused(
    context: Context, merged: dict[str, int]
) -> None:
    """AMOS_PAST_RECORDS_MAX bounds them; the present is asked in the graph."""
    small = replace(context, settings=context.settings.model_copy(update={"past_records_max": 1}))
    with pytest.raises(AmosError) as refused:
        list_atoms(small, {"entity": "ent:person:ann", "as_of_version": merged["joined"]})

    assert (refused.value.code, refused.value.faults[0].path) == ("capacity_limited", "as_of_version")
    assert ids(list_atoms(small, {"entity": "ent:person:ann"})) == ["b4", "b5"]
