"""A constitutional record gives way to a successor that keeps what protects it."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.commit import propose
from amos_graph.commands.execution import Context
from amos_graph.commands.ratification import found, ratify, replace_record
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.policy.amendment import AMENDING
from amos_graph.policy.difference import difference
from amos_graph.queries.get import get_atom
from amos_graph.queries.report import run_report
from amos_graph.queries.verify import verify
from tests.clock import Clock
from tests.governance.conftest import CRITIC, Json, again, covenant, judged

ASKED = {
    "current_ref": "covenant:1",
    "successor_ref": "covenant:2",
    "adjudication_ref": "adj:2",
    "expected_current_version": 2,
    "expected_successor_version": 1,
}


def successor(context: Context, clock: Clock, *, risk: str = "covenant", **changes: Any) -> None:
    """Propose a successor of the covenant, and reach it again as often as its class demands."""
    before = get_atom(context, {"atom_id": "covenant:1"})["item"]["payload"]
    after = covenant("covenant:2", **{**before, **changes})["payload"]
    links = {"predecessor_ref": "covenant:1", "predecessor_diff": difference(before, after)}
    propose(context, {"candidates": [covenant("covenant:2", **{**before, **changes, **links})]})
    common: Json = {
        "risk_class": risk,
        "advisory_critic": CRITIC,
        "predecessor_diff": links["predecessor_diff"],
        "constitutional_standing": {"status": "ratified"},
    }
    for n in range(1, 5):
        judged(context, f"adj:{n}", "covenant:2", **common, diachronic=again(n))
        clock.pass_(days=8)


def failed(context: Context) -> list[str]:
    with pytest.raises(AmosError) as refused:
        replace_record(context, ASKED)
    assert refused.value.code == "authorization_denied"
    names: list[str] = refused.value.details["failed"]
    return names


def test_a_successor_takes_the_place_of_its_predecessor(founded: Context, clock: Clock, graph: Graph) -> None:
    """Both change in one transaction; the old one is superseded and stays readable."""
    successor(founded, clock, rule="What failed is reported as failed, and at once.")
    receipt = replace_record(founded, ASKED).record
    assert receipt["atom_ref"] == "covenant:2"
    assert get_atom(founded, {"atom_id": "covenant:2"})["found"]
    old = get_atom(founded, {"atom_id": "covenant:1"})
    assert old["omissions"] == [{"reason": "superseded"}]
    kept = get_atom(founded, {"atom_id": "covenant:1", "include_superseded": True})["item"]
    assert kept["provenance"]["superseded_by"] == ["covenant:2"]
    (row,) = run_report(
        graph, "why_active", {"shard": founded.scope.shard, "ref": "covenant:2", "limit": 10}
    ).rows
    assert (row["adjudication"], row["outcome"], row["ratifier"]) == ("adj:2", "adopted", "ent:agent:planner")
    assert (row["epistemic"], row["constitutional"]) == ("settled", "ratified")
    assert row["guidance"] == ["covenant:1"]
    assert verify(graph, founded.scope.shard).ok


#: Check → (risk class, what the successor says), each of which breaks that one alone.
WEAKER: dict[str, list[tuple[str, Json]]] = {
    "protected_fields": [("constitutional_critical", {"name": "soft_reports"})],
    "precedence": [("covenant", {"precedence": 11})],
    "self_weakening": [
        ("meta_constitutional", {"protected_fields": []}),
        ("covenant", {"interpretive_rules": ["No incident is disclosed."]}),
        ("covenant", {"interpretive_rules": []}),
    ],
}


@pytest.mark.parametrize(
    ("name", "risk", "changes"), [(n, *case) for n, cases in WEAKER.items() for case in cases]
)
def test_a_successor_that_weakens_is_refused(
    founded: Context, clock: Clock, name: str, risk: str, changes: Json
) -> None:
    """However often it was judged."""
    successor(founded, clock, risk=risk, **changes)
    assert failed(founded) == [name]
    assert get_atom(founded, {"atom_id": "covenant:1"})["found"]


STRICT: Json = {
    "amendability": "entrenched",
    "amendment_requirements": {
        "ratification_threshold": {"required_confirmations": 5, "min_interval_seconds": 86_400},
        "required_capabilities": ["council_of_three"],
        "conditions": ["In daylight."],
    },
}


@pytest.mark.parametrize(
    "weaker",
    [
        {"ratification_threshold": {"required_confirmations": 4, "min_interval_seconds": 86_400}},
        {"ratification_threshold": {"required_confirmations": 5, "min_interval_seconds": 60}},
        {"required_capabilities": []},
        {"conditions": []},
    ],
)
def test_no_transition_lowers_its_own_bar(planner: Context, clock: Clock, weaker: Json) -> None:
    """Thresholds, capabilities and conditions of an amendment are kept; and they hold for this one."""
    propose(planner, {"candidates": [covenant(**STRICT)]})
    found(planner, {"record_refs": ["covenant:1"]})
    requirements = {**STRICT["amendment_requirements"], **weaker}
    successor(planner, clock, risk="meta_constitutional", amendment_requirements=requirements)
    assert failed(planner) == ["diachronic", "amendability", "self_weakening"]


def test_what_is_immutable_stays(planner: Context, clock: Clock) -> None:
    """Nothing replaces it."""
    propose(planner, {"candidates": [covenant(amendability="immutable")]})
    found(planner, {"record_refs": ["covenant:1"]})
    successor(planner, clock, rule="Another one.")
    assert failed(planner) == ["amendability"]


def test_a_successor_states_the_exact_difference(founded: Context, clock: Clock) -> None:
    """A predecessor_diff that leaves something out is refused, by the judge's and by the successor's."""
    before = get_atom(founded, {"atom_id": "covenant:1"})["item"]["payload"]
    said = {**before, "rule": "Another one.", "precedence": 9}
    half = [{"path": "/precedence", "before": 10, "after": 9}]
    links = {"predecessor_ref": "covenant:1", "predecessor_diff": half}
    propose(founded, {"candidates": [covenant("covenant:2", **said, **links)]})
    for n in range(1, 5):
        judged(
            founded,
            f"adj:{n}",
            "covenant:2",
            risk_class="covenant",
            advisory_critic=CRITIC,
            predecessor_diff=half,
            diachronic=again(n),
        )
        clock.pass_(days=2)
    assert failed(founded) == ["predecessor_diff", "predecessor"]


def test_a_successor_is_not_ratified_beside_its_predecessor(founded: Context, clock: Clock) -> None:
    """The way past the checks of an amendment is closed."""
    successor(founded, clock, rule="Another one.")
    with pytest.raises(AmosError) as refused:
        ratify(founded, {"proposal_ref": "covenant:2", "adjudication_ref": "adj:2", "expected_version": 1})
    assert (refused.value.code, refused.value.faults[0].path) == ("authorization_denied", "proposal_ref")


@pytest.mark.parametrize("name", ["expected_current_version", "expected_successor_version"])
def test_both_versions_are_compared(founded: Context, clock: Clock, name: str) -> None:
    """Either one that went on is a conflict, which names it."""
    successor(founded, clock, rule="Another one.")
    with pytest.raises(AmosError) as refused:
        replace_record(founded, {**ASKED, name: 7})
    assert (refused.value.code, refused.value.faults[0].path) == ("expected_version_conflict", name)


def test_every_check_of_an_amendment_is_broken_somewhere() -> None:
    """The table has no check that nothing tests."""
    assert AMENDING.keys() == {*WEAKER, "predecessor", "amendability"}
