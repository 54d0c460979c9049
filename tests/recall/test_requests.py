"""Requests: what recall cannot act on is refused with its path, never ignored."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Identity
from amos_graph.errors import AmosError
from amos_graph.queries.recall import recall
from tests.conftest import ContextOf
from tests.recall.samples import fact, packet, store


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({"cue": ["x"]}, "cue"),
        ({"cues": "x"}, "cues"),
        ({"cues": [""]}, "cues[0]"),
        ({"cues": ["  "]}, "cues[0]"),
        ({"cues": ["x" * 20_001]}, "cues[0]"),
        ({"cues": ["x" * 15_000, "y" * 15_000]}, "cues"),
        ({"max_items": 0}, "max_items"),
        ({"max_items": 101}, "max_items"),
        ({"max_items": "10"}, "max_items"),
        ({"retrieval_mode": "self_awareness"}, "retrieval_mode"),
        ({"rendering_target": "poem"}, "rendering_target"),
        ({"consistency_requirement": "weak"}, "consistency_requirement"),
        ({"target_processor": "somebody"}, "target_processor"),
        ({"target_processor": "all"}, "target_processor"),
        ({"requested_memory_types": ["beliefs"]}, "requested_memory_types[0]"),
        ({"payload_filter": {"nothing": 1}}, "payload_filter.nothing"),
        ({"payload_filter": {"subject": ["a"]}}, "payload_filter.subject"),
        ({"payload_filter": {"subject": None}}, "payload_filter.subject"),
        (
            {"payload_filter": {"subject": "a"}, "requested_memory_types": ["goal"]},
            "payload_filter.subject",
        ),
        ({"evaluated_at": "2026-01-01T00:00:00"}, "evaluated_at"),
        ({"evaluated_at": "yesterday"}, "evaluated_at"),
        ({"scope": {"planet_id": "x"}}, "scope.planet_id"),
        ({"scope": {"planet_id": None}}, "scope.planet_id"),
        ({"scope": {"project_id": "a", "project": "a"}}, "scope.project"),
        ({"scope": {"project": "a", "project_id": None}}, "scope.project"),
        ({"retrieval_mode": "shared_coordination"}, "retrieval_mode"),
        ({"retrieval_mode": "agentic_recall"}, "retrieval_mode"),
        ({"retrieval_mode": "everything"}, "retrieval_mode"),
        ({"retrieval_mode": 1}, "retrieval_mode"),
        ({"task_context": "deploy"}, "task_context"),
        ({"task_context": {"mood": "x"}}, "task_context.mood"),
        ({"task_context": {"goal": " "}}, "task_context.goal"),
        ({"task_context": {"risk_level": "high_risk"}}, "task_context.risk_level"),
        ({"task_context": {"time_horizon": 3}}, "task_context.time_horizon"),
        ({"task_context": {"constraints": "no network"}}, "task_context.constraints"),
        ({"task_context": {"tool_state": [""]}}, "task_context.tool_state[0]"),
        ({"token_or_byte_budget": 100}, "token_or_byte_budget"),
        ({"token_or_byte_budget": {}}, "token_or_byte_budget"),
        ({"token_or_byte_budget": {"bytes": 0}}, "token_or_byte_budget.bytes"),
        ({"token_or_byte_budget": {"tokens": True}}, "token_or_byte_budget.tokens"),
        ({"token_or_byte_budget": {"characters": 9}}, "token_or_byte_budget.characters"),
        ({"result_payload_filter": "subject"}, "result_payload_filter"),
        ({"result_payload_filter": ["subject", "nothing"]}, "result_payload_filter[1]"),
        ({"result_payload_filter": ["validity_interval.since"]}, "result_payload_filter[0]"),
        ({"result_payload_filter": ["subject..x"]}, "result_payload_filter[0]"),
        (
            {"result_payload_filter": ["subject"], "requested_memory_types": ["goal"]},
            "result_payload_filter[0]",
        ),
        ({"shared_view_ref": "x"}, "shared_view_ref"),
        ({"bias_guardrails": ["x"]}, "bias_guardrails"),
        ({"attention_context": {"risk_posture": "bold"}}, "attention_context.risk_posture"),
        ({"attention_context": {"time_horizon": "soon"}}, "attention_context.time_horizon"),
        ({"attention_context": {"novelty_preference": 1.5}}, "attention_context.novelty_preference"),
        ({"attention_context": {"novelty_preference": -0.1}}, "attention_context.novelty_preference"),
        ({"attention_context": {"novelty_preference": True}}, "attention_context.novelty_preference"),
        (
            {"attention_context": {"counterevidence_required": 0}},
            "attention_context.counterevidence_required",
        ),
        (
            {"attention_context": {"counterevidence_required": 1}},
            "attention_context.counterevidence_required",
        ),
        ({"attention_context": {"boost_memory_types": ["x"]}}, "attention_context.boost_memory_types[0]"),
        ({"attention_context": {"mood": "x"}}, "attention_context.mood"),
        ({"include_conflicts": "yes"}, "include_conflicts"),
        ({"min_graph_version": -1}, "min_graph_version"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_path(
    context: Context, request_: dict[str, Any], path: str
) -> None:
    """A fault names the field that has it, before anything is read."""
    with pytest.raises(AmosError) as caught:
        recall(context, request_)

    assert caught.value.code == "schema_invalid"
    assert path in [fault.path for fault in caught.value.faults]


def test_a_refusal_names_what_exists(context: Context) -> None:
    """Modes and filters that exist are listed in the refusal, and which mode is still to come."""
    with pytest.raises(AmosError, match="agentic_recall comes later; general, skill_discovery exist"):
        recall(context, {"retrieval_mode": "agentic_recall"})
    with pytest.raises(AmosError, match="only general, skill_discovery exist"):
        recall(context, {"retrieval_mode": "everything"})
    with pytest.raises(AmosError, match="goal_status"):
        recall(context, {"payload_filter": {"nothing": 1}, "requested_memory_types": ["goal"]})


def test_all_twelve_fields_of_attention_are_taken(context: Context) -> None:
    """Each with the type of the specification; the packet repeats them, its trace shows them."""
    attention = {
        "active_task": "write the release notes",
        "mission": "calm releases",
        "goal": "no surprises",
        "role": "release manager",
        "risk_posture": "cautious",
        "time_horizon": "short",
        "focus_terms": ["notes"],
        "suppress_terms": ["lunch"],
        "boost_memory_types": ["procedure"],
        "suppress_memory_types": ["episode"],
        "counterevidence_required": True,
        "novelty_preference": 0.5,
    }

    found = packet(context, attention_context=attention)

    assert found["request"]["attention_context"] == attention
    assert found["attention_trace"]["context"] == attention


def test_what_asks_for_nothing_is_taken(context: Context) -> None:
    """Null is the same as absent, also for fields of modes that come later."""
    nothing = dict.fromkeys(
        ("task_context", "shared_view_ref", "agentic_recall_subject", "bias_guardrails", "scope")
    )

    assert packet(context, **nothing)["items"] == []


def test_the_risk_and_the_horizon_of_a_task_hold_where_attention_names_none(context: Context) -> None:
    """`risk_level: high` is the posture `high_risk`; what attention says itself comes first."""
    task = {"risk_level": "high", "time_horizon": "long"}

    settled = packet(context, task_context=task)["attention_trace"]["context"]
    stated = packet(context, task_context=task, attention_context={"risk_posture": "normal"})

    assert (settled["risk_posture"], settled["time_horizon"]) == ("high_risk", "long")
    assert stated["attention_trace"]["context"]["risk_posture"] == "normal"


def test_reading_needs_the_capability(context_of: ContextOf, caller: Identity) -> None:
    """A token without memory.read recalls nothing."""
    mute = Identity(caller.client_id, caller.service_id, "test", caller.scope, frozenset({"atom.commit"}))

    with pytest.raises(AmosError) as caught:
        recall(context_of(mute), {})

    assert caught.value.code == "authorization_denied"


def test_a_request_speaks_for_its_own_token_only(context: Context) -> None:
    """Another client's identity in the body is refused; the token's own is taken."""
    assert packet(context, client_identity="cli_test")["request"]["client_identity"] == "cli_test"
    with pytest.raises(AmosError) as caught:
        recall(context, {"client_identity": "cli_other"})

    assert caught.value.code == "authorization_denied"


@pytest.mark.case("C24")
@pytest.mark.parametrize("name", ["tenant_id", "workspace_id"])
def test_another_shard_is_refused(context: Context, name: str) -> None:
    """A scope that names another tenant or workspace is an error, not an empty answer from one's own."""
    with pytest.raises(AmosError) as caught:
        recall(context, {"cues": ["x"], "scope": {name: "elsewhere"}})

    assert caught.value.code == "scope_denied"


def test_a_version_that_the_shard_has_not_reached_is_told(context: Context) -> None:
    """A reader who has seen a version is never given an older one."""
    store(context, fact("a1", "Amos remembers."))
    seen = packet(context, "Amos")["graph_version"]

    assert packet(context, "Amos", min_graph_version=seen)["graph_version"] == seen
    with pytest.raises(AmosError) as caught:
        recall(context, {"cues": ["Amos"], "min_graph_version": seen + 1})

    assert caught.value.code == "expected_version_conflict"


def test_the_request_that_a_packet_repeats_gives_the_same_packet(context: Context) -> None:
    """Sent again as the packet gives it, a request finds the same, under the same packet id."""
    store(context, fact("a1", "Amos remembers."), fact("a2", "Amos forgets nothing."))
    first = packet(context, "what does Amos remember?", scope={"tenant": context.scope.tenant_id})
    again = recall(context, first["request"])

    assert {**again, "generated_at": None} == {**first, "generated_at": None}
