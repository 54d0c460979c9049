"""The trust class of a memory is that of its least trusted source."""

from __future__ import annotations

import pytest

from amos_graph.domain.trust import trust_class


@pytest.mark.case("C77")
@pytest.mark.parametrize(
    ("sources", "trust"),
    [
        (["explicit_user_statement"], "user"),
        (["user_turn"], "user"),
        (["conversation_turn"], "conversation"),
        (["conversation_turn user"], "user"),
        (["conversation_turn tool"], "tool"),
        (["tool_result"], "tool"),
        (["evaluator_result"], "tool"),
        (["web_page"], "document"),
        (["user_uploaded_document"], "document"),
        (["note"], "agent"),
        (["archive_reason"], "system"),
        (["explicit_user_statement", "web_page"], "document"),
        (["explicit_user_statement", "hearsay"], "unknown"),
        (["thermometer"], "unknown"),
        ([], "unknown"),
    ],
)
def test_the_least_trusted_source_decides(sources: list[str], trust: str) -> None:
    """So no memory is trusted more than the worst that it was made from; what is not known is not trusted."""
    assert trust_class(sources) == trust
