"""What an outcome does, as a pure decision: no database."""

from __future__ import annotations

import random
from typing import Any

import pytest

from amos_graph.domain.outcomes import Held, Manifest, OutcomeRequest, manifest_from
from amos_graph.domain.scope import Scope
from amos_graph.domain.score import numbers_of, with_numbers
from amos_graph.domain.state import Current
from amos_graph.policy.outcomes import RATES, WEIGHT_MIN, Effect, effect, moved

_PACKET = f"pkt_{'0' * 40}"
_SCOPE = Scope(tenant_id="t", workspace_id="w", project_id="p")


def _manifest(*held: Held) -> Manifest:
    return Manifest(_PACKET, "cli_test", 7, "2027-01-01T00:00:00.000000Z", "0", _SCOPE, held)


def _atom(ref: str, **body: Any) -> Current:
    return Current("atom", ref, 1, "evt_1", {"utility": 0.5, "salience": 0.5, **body})


def _edge(ref: str, weight: float, **body: Any) -> Current:
    said = {"relation": "rel:supports", "source_ref": "a", "target_ref": "b", "lifecycle_state": "active"}
    return Current("edge", ref, 1, "evt_1", {**said, "weight": weight, **body})


def _effect(packet: Manifest, *records: Current, **told: Any) -> Effect:
    asked = OutcomeRequest.model_validate({"packet_id": _PACKET, **told})
    current = {record.ref: record for record in records}
    return effect(asked.told(), packet, current, (), now="now", writer="svc:test")


@pytest.mark.parametrize("seed", range(20))
def test_no_series_of_judgments_leaves_the_bounds(seed: int) -> None:
    """Numbers stay in 0..1, a weight that was in the walk stays in it, whatever is judged how often."""
    dice = random.Random(seed)  # noqa: S311 - a repeatable series, no secret
    packet = _manifest(Held("a", 1, ("edge_1",)))
    utility, salience, weight = dice.random(), dice.random(), dice.random()
    for _ in range(60):
        name = dice.choice(["helpful_atom_refs", "unhelpful_atom_refs", "correction_refs"])
        records = _atom("a", utility=utility, salience=salience), _edge("edge_1", weight)
        for write in _effect(packet, *records, **{name: ["a"]}).writes:
            utility = write.body.get("utility", utility)
            salience = write.body.get("salience", salience)
            weight = write.body.get("weight", weight)
        assert 0 <= utility <= 1
        assert 0 <= salience <= 1
        assert min(WEIGHT_MIN, weight) <= weight <= 1


def test_what_helped_rises_and_what_harmed_falls_by_more_when_it_was_corrected() -> None:
    """The order of the rates, at every number that can move both ways."""
    for number in (0.01, 0.3, 0.5, 0.99):
        helped, harmed, corrected = (
            moved(number, RATES[name].utility) for name in ("helpful", "unhelpful", "corrected")
        )
        assert corrected < harmed < number < helped


def test_an_edge_that_passes_nothing_on_or_is_no_longer_there_is_left_alone() -> None:
    """Weight 0 is outside the walk, a detached edge is history, and one that is hidden is not seen."""
    packet = _manifest(Held("a", 1, ("edge_zero", "edge_off", "edge_hidden", "edge_on")))
    done = _effect(
        packet,
        _atom("a"),
        _edge("edge_zero", 0, relation="rel:supersedes"),
        _edge("edge_off", 0.5, lifecycle_state="detached"),
        _edge("edge_on", 0.5),
        helpful_atom_refs=["a"],
    )

    assert done.reinforced == ("edge_on",)
    assert [write.ref for write in done.writes] == ["scr_a", "scr_edge_on"]


def test_many_judgments_at_once_move_an_edge_within_a_bound() -> None:
    """An edge that led to fifty memories is no more than thrice as trusted or doubted at once."""
    packet = _manifest(*(Held(f"a{n}", 1, ("edge_1",)) for n in range(50)))
    atoms = [_atom(f"a{n}") for n in range(50)]
    names = [atom.ref for atom in atoms]
    up = _effect(packet, *atoms, _edge("edge_1", 0.5), helpful_atom_refs=names).writes[-1].body["weight"]
    down = _effect(packet, *atoms, _edge("edge_1", 0.5), correction_refs=names).writes[-1].body["weight"]

    assert (up, down) == (0.65, 0.35)


def test_a_manifest_comes_back_from_its_node() -> None:
    """Properties and back, with paths and scope."""
    packet = _manifest(Held("a", 1), Held("b", 3, ("edge_1", "edge_2")))

    assert manifest_from(packet.properties()) == packet
    assert packet.task_context == "project:p"


def test_a_score_holds_for_its_version_alone() -> None:
    """Once the record is written again, its own numbers count; and canonical JSON stays as it was."""
    body = {"version": 2, "utility": 0.5, "salience": 1}
    score = {"of_version": 2, "utility": 1.0, "salience": 1.0}

    assert with_numbers(body, numbers_of(score, 2)) == {"version": 2, "utility": 1, "salience": 1}
    assert type(with_numbers(body, numbers_of(score, 2))["utility"]) is int
    assert with_numbers(body, numbers_of(score, 3)) is body
    assert with_numbers(body, numbers_of(None, 2)) is body
