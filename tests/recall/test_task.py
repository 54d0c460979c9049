"""The task that is worked on: its words find and focus, its risk holds back what awaits a review."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.execution import Context
from tests.recall.samples import fact, packet, reasons, refs, store


@pytest.fixture(scope="module")
def loaded(module_context: Context) -> Context:
    """A few memories of which one awaits its review."""
    store(
        module_context,
        fact("note:checklist", "The checklist.", confidence={"level": "high", "score": 0.9}),
        fact("note:freeze", "Nothing ships during the harvest freeze."),
        fact("note:rota", "The rota names who is on duty.", health_status="review_required"),
        fact("note:doubt", "Duty may be swapped.", health_flags=["review_required"]),
        {
            "id": "procedure:ship",
            "type": "procedure",
            "payload": {"name": "proc:ship", "trigger_context": "checklist is done", "steps": ["announce"]},
            "evidence_refs": ["evd_turn1"],
            "confidence": {"level": "high", "score": 0.9},
        },
    )
    return module_context


@pytest.mark.parametrize(
    "task",
    [
        {"task_type": "harvest"},
        {"goal": "survive the harvest"},
        {"constraints": ["budget", "harvest"]},
        {"recent_instructions": ["mind the harvest"]},
        {"recent_failures": ["shipped into the harvest"]},
        {"tool_state": ["harvest is closed"]},
        {"desired_output_type": "harvest plan"},
        {"outcome_refs": ["note:freeze"]},
        {"entities": ["note:freeze"]},
    ],
)
def test_the_words_of_a_task_find_and_focus(loaded: Context, task: dict[str, Any]) -> None:
    """They bring candidates that the cue does not name, and the trace shows them as focus."""
    found = packet(loaded, "checklist", task_context=task)

    assert "note:freeze" in refs(found)
    assert {"harvest", "freeze"} & set(found["attention_trace"]["focus_terms"])
    traced = found["attention_trace"]["task_context"]
    assert {**traced, **task} == traced
    assert "note:freeze" not in refs(packet(loaded, "checklist"))


@pytest.mark.parametrize(
    "request_",
    [
        {"attention_context": {"risk_posture": "high_risk"}},
        {"task_context": {"risk_level": "high"}},
        {"target_processor": "executor"},
        {"target_processor": "tool_worker"},
    ],
)
def test_what_awaits_a_review_stays_out_of_use_at_risk(loaded: Context, request_: dict[str, Any]) -> None:
    """Under high risk, and for processors that act alone, it is omitted by name; flags count too."""
    found = packet(loaded, "duty", **request_)

    assert refs(found) == []
    assert reasons(found)["review_required_suppressed"] == 2
    assert set(refs(packet(loaded, "duty", target_processor="planner"))) == {"note:rota", "note:doubt"}


def test_skills_come_first_where_skills_are_looked_for(loaded: Context) -> None:
    """`skill_discovery` prefers procedures, capabilities and outcomes among what fits."""
    assert refs(packet(loaded, "checklist")) == ["note:checklist", "procedure:ship"]

    found = packet(loaded, "checklist", retrieval_mode="skill_discovery")

    assert refs(found)[0] == "procedure:ship"
    assert found["retrieval_mode"] == "skill_discovery"
