"""The seven rules of authorization in their order (spec, "Authorization precedence")."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, Final

import pytest

from amos_graph.domain.scope import CAPABILITIES, AccessPolicy, Identity, Scope
from amos_graph.policy.access import OUT_OF_SCOPE, RULES, Act, Question, Ruling, rule

SCOPE: Final = Scope(tenant_id="t", workspace_id="w")
OWNED: Final = {"owner_scope": {"user_id": "u1"}}
#: A caller with everything, who owns nothing.
ALL: Final = Identity("cli_one", "svc:one", "test", SCOPE, frozenset(CAPABILITIES), trust_level=5)
FREE: Final = Question(ALL, SCOPE, SCOPE, None, act="change", capability="atom.commit")

ACTS: Final[tuple[Act, ...]] = ("read", "read_evidence", "change", "erase")
#: Rule → what makes it refuse, for each act that it speaks of.
BREAKS: Final[dict[str, dict[Act, dict[str, Any]]]] = {
    "explicit_denial": {act: {"policy": {"denied_identities": ["cli_one"]}} for act in ACTS},
    "privacy_constraint": {
        "read": {"unwanted": True},
        "read_evidence": {"unwanted": True},
        "change": {"unwanted": True},
        "erase": {"retained": True},
    },
    "legal_hold": {"erase": {"held": True}},
    "specific_policy": {act: {"policy": {"allowed_identities": ["cli_other"]}} for act in ACTS},
    "high_risk": {act: {"risk": "high", "trust_min": 9} for act in ("change", "erase")},
    "mutation_apart": {act: {"capability": "atom.fly"} for act in ("change", "erase")},
    "evidence_apart": {"read_evidence": {"policy": {"evidence_visibility": "nobody"}}},
}


def ruling(act: Act, *breaks: dict[str, Any]) -> Ruling:
    """The ruling on a question that breaks several rules at once."""
    policy: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for one in breaks:
        policy |= one.get("policy", {})
        rest |= {name: value for name, value in one.items() if name != "policy"}
    given = AccessPolicy.model_validate(policy) if policy else None
    return rule(replace(FREE, act=act, policy=given, **rest))


def test_the_rules_are_the_seven_in_their_order() -> None:
    """The table has every rule, and each is broken by a case of this module."""
    assert list(RULES) == list(BREAKS)


@pytest.mark.parametrize("act", ACTS)
def test_whoever_breaks_no_rule_may(act: Act) -> None:
    """Without a reason against it, everything within the scope is allowed."""
    assert ruling(act) == Ruling(True)


@pytest.mark.parametrize("name", BREAKS)
def test_each_rule_refuses_alone(name: str) -> None:
    """A question that breaks one rule is refused by that one, for each act that the rule speaks of."""
    for act, broken in BREAKS[name].items():
        assert ruling(act, broken).rule == name


@pytest.mark.parametrize(("first", "second"), list(combinations(BREAKS, 2)))
def test_of_two_rules_the_earlier_one_decides(first: str, second: str) -> None:
    """Where both speak, the earlier is named; where only one does, that one."""
    for act in ACTS:
        one, other = BREAKS[first].get(act), BREAKS[second].get(act)
        broken = [case for case in (one, other) if case is not None]
        expected = first if one is not None else second if other is not None else None
        assert ruling(act, *broken).rule == expected


def test_privacy_wins_over_retention_and_a_hold_over_privacy() -> None:
    """What its user wants gone is erased though retained, unless held, and read in no case."""
    assert ruling("erase", {"retained": True, "unwanted": True}).allowed
    assert ruling("erase", {"unwanted": True, "held": True}).rule == "legal_hold"
    assert ruling("read", {"unwanted": True, "held": True}).rule == "privacy_constraint"
    assert ruling("read", {"held": True}).allowed


def test_out_of_scope_comes_before_everything() -> None:
    """A record of another scope is not there, whatever its policy says."""
    policy = AccessPolicy(denied_identities=["cli_one"])
    elsewhere = Scope(tenant_id="t", workspace_id="w", project_id="p")
    assert rule(replace(FREE, scope=elsewhere, policy=policy)).rule == OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("policy", "who", "allowed"),
    [
        ({"mutation_policy": "owner", **OWNED}, {"user_id": "u1"}, True),
        ({"mutation_policy": "owner", **OWNED}, {"user_id": "u2"}, False),
        ({"mutation_policy": "owner", **OWNED}, {}, False),
        ({"mutation_policy": "stewards"}, {}, True),
        ({"mutation_policy": "review"}, {}, False),
        ({"mutation_policy": "nobody"}, {}, False),
    ],
)
def test_the_record_says_who_changes_it(policy: dict[str, Any], who: dict[str, str], allowed: bool) -> None:
    """A mutation policy names owners, stewards, a review, or nobody."""
    bound = Scope.model_validate({**SCOPE.record(), **who})
    given = AccessPolicy.model_validate(policy)
    answer = rule(replace(FREE, identity=replace(ALL, scope=bound), policy=given))
    assert answer.allowed == allowed
    assert answer.reviewable == (policy["mutation_policy"] == "review")


def test_only_who_governs_changes_what_nobody_may() -> None:
    """The lock is opened by another policy, which is an operation of its own."""
    policy = AccessPolicy(mutation_policy="nobody")
    assert not rule(replace(FREE, policy=policy)).allowed
    assert rule(replace(FREE, policy=policy, capability="atom.govern")).allowed


def test_an_approval_helps_against_nothing_but_the_review() -> None:
    """What would be refused in any case is not reviewable."""
    policy = AccessPolicy(mutation_policy="review")
    assert rule(replace(FREE, policy=policy)).reviewable
    assert rule(replace(FREE, policy=policy, approved=True)).allowed
    assert not rule(replace(FREE, policy=policy, risk="high", trust_min=9)).reviewable
    listed = AccessPolicy(mutation_policy="review", allowed_identities=["cli_other"])
    assert not rule(replace(FREE, policy=listed)).reviewable


@pytest.mark.parametrize(
    ("seen_by", "who", "allowed"),
    [
        ("readers", {}, True),
        ("owner", {"user_id": "u1"}, True),
        ("owner", {"user_id": "u2"}, False),
        ("stewards", {}, True),
        ("nobody", {"user_id": "u1"}, False),
    ],
)
def test_evidence_is_judged_apart(seen_by: str, who: dict[str, str], allowed: bool) -> None:
    """Whoever reads a record need not know what it rests on, and may not change it for that."""
    policy = AccessPolicy.model_validate({"evidence_visibility": seen_by, **OWNED})
    asking = replace(ALL, scope=Scope.model_validate({**SCOPE.record(), **who}))
    asked = replace(FREE, identity=asking, policy=policy)
    assert rule(replace(asked, act="read_evidence")).allowed == allowed
    assert rule(replace(asked, act="read")).allowed


def test_a_policy_without_what_goes_without_saying_is_the_same_policy() -> None:
    """Defaults that are spelled out make no other class of records."""
    spelled = AccessPolicy(
        mutation_policy="capability", evidence_visibility="readers", audit_level="standard"
    )
    assert spelled.record() == AccessPolicy().record() == {}
