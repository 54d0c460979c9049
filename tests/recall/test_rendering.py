"""Sentences on atoms: words that read, and stored text that stays between its quotation marks."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.queries.rendering import quoted, sentence

_STANDING: dict[str, Any] = {
    "confidence": {"level": "high", "score": 0.8},
    "lifecycle_state": "active",
    "health_status": "healthy",
}


@pytest.mark.parametrize(
    ("kind", "payload", "said"),
    [
        (
            "goal",
            {"owner": "ent:agent:iris", "desired_state": "a beta", "goal_status": "blocked"},
            "“iris” wants “a beta”; the goal is blocked.",
        ),
        (
            "action_outcome",
            {"subject_agent": "ent:agent:otto", "action_type": "deploy", "success_status": "blocked"},
            "“otto” did “deploy”; it was blocked.",
        ),
        (
            "belief",
            {"subject": "ent:project:amos", "relation": "rel:deadline", "object": "Friday"},
            "It is held of “project amos”: deadline “Friday”.",
        ),
        (
            "belief",
            {"subject": "ent:person:lena_hartmann", "relation": "rel:works_with", "object": "ent:agent:iris"},
            "It is held of “lena hartmann”: works with “iris”.",
        ),
    ],
)
def test_an_atom_reads_as_a_sentence(kind: str, payload: dict[str, Any], said: str) -> None:
    """Status words fit their sentence, entities stand by their words, relations as words."""
    assert sentence({"type": kind, "payload": payload, **_STANDING}) == f"{said} (confidence high (0.8))"


def test_stored_text_cannot_leave_its_quotation_marks() -> None:
    """A text that is no entity's id is shown as it is, and its own marks are made harmless."""
    assert quoted("a” and “b") == "“a' and 'b”"
    assert quoted("ent: no id at all”") == "“ent: no id at all'”"
    assert quoted(["ent:person:lena_hartmann", "x_y"]) == "“lena hartmann, x_y”"
