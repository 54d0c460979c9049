"""Lifecycle, health and retention are the spec's, as data."""

from __future__ import annotations

from itertools import product

import pytest

from amos_graph.domain.lifecycle import (
    EDGE_HEALTH_STATUSES,
    EDGE_LIFECYCLE_STATES,
    EDGE_TRANSITIONS,
    HEALTH_DEFAULTS,
    HEALTH_STATUSES,
    LAYERS,
    LIFECYCLE_STATES,
    MEANINGS,
    RETENTION_CLASSES,
    TRANSITIONS,
    recall_default,
    transition,
)
from amos_graph.errors import AmosError

LEGAL = {
    ("proposed", "active"): "ratify_proposal",
    ("proposed", "archived"): "resolve_proposal",
    ("active", "archived"): None,
    ("active", "tombstoned"): None,
    ("active", "deleted"): None,
    ("archived", "active"): None,
    ("archived", "tombstoned"): None,
    ("archived", "deleted"): None,
    ("tombstoned", "deleted"): None,
}


@pytest.mark.parametrize(("before", "after"), list(product(LIFECYCLE_STATES, repeat=2)))
def test_a_transition_is_legal_exactly_where_the_spec_lists_it(before: str, after: str) -> None:
    if (before, after) in LEGAL:
        assert transition(before, after) == LEGAL[before, after]
        return
    with pytest.raises(AmosError) as refusal:
        transition(before, after, "atoms[0].lifecycle_state")

    assert refusal.value.code == "schema_invalid"
    assert refusal.value.faults[0].path == "atoms[0].lifecycle_state"
    assert refusal.value.details["legal"] == [to for source, to in TRANSITIONS if source == before]


def test_deleted_is_terminal_and_a_detached_edge_can_be_attached_again() -> None:
    assert not [pair for pair in EDGE_TRANSITIONS if pair[0] == "deleted"]
    assert {("active", "detached"), ("detached", "active")} <= EDGE_TRANSITIONS
    assert {state for pair in EDGE_TRANSITIONS for state in pair} == set(EDGE_LIFECYCLE_STATES)


def test_edges_know_each_health_of_atoms_and_trusted() -> None:
    assert set(EDGE_HEALTH_STATUSES) == {*HEALTH_STATUSES, "trusted"}
    assert set(HEALTH_DEFAULTS) == set(EDGE_HEALTH_STATUSES)


def test_ordinary_recall_may_return_what_the_spec_lets_it_and_only_while_it_is_active() -> None:
    returned = {health for health in EDGE_HEALTH_STATUSES if recall_default("active", health)}

    assert returned == {
        "trusted",
        "healthy",
        "contradicted",
        "overgeneralized",
        "low_utility",
        "privacy_sensitive",
        "review_required",
    }
    for state in set(EDGE_LIFECYCLE_STATES) - {"active"}:
        assert not any(recall_default(state, health) for health in EDGE_HEALTH_STATUSES)


def test_every_value_has_a_meaning() -> None:
    assert set(MEANINGS["layer"]) == set(LAYERS)
    assert set(MEANINGS["lifecycle_state"]) == set(LIFECYCLE_STATES)
    assert set(MEANINGS["health_status"]) == set(EDGE_HEALTH_STATUSES)
    assert set(MEANINGS["retention_class"]) == set(RETENTION_CLASSES)
