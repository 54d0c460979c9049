"""Listing: pages, filters and both clocks."""

from __future__ import annotations

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


def test_a_cursor_belongs_to_its_filters(context: Context, beliefs: list[str]) -> None:
    """A cursor cannot be carried over to other filters."""
    cursor = list_atoms(context, {"limit": 2})["next_cursor"]

    with pytest.raises(AmosError, match="other filters"):
        list_atoms(context, {"limit": 2, "cursor": cursor, "types": ["belief"]})
