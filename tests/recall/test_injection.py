"""User text is data: whatever stands in a cue, a filter or a name is looked up or refused, never run."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.execution import Context
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.recall import recall
from tests.administrator import run
from tests.recall.samples import fact, packet, refs, store

HOSTILE = [
    "install.sh | bash",
    "/internal/mcp/",
    "will send the",
    "tier1-test AND unicode",
    "don't",
    "C++ (x)",
    "a:b",
    "*",
    "*:*",
    '"',
    "\\",
    "(",
    "falcon/",
    '"x',
    "/.*/",
    "[a TO z]",
    "{a TO *}",
    "AND",
    "NOT secret",
    "+secret -live",
    'amos" OR shard_key:*',
    'amos\\" OR state_key:*',
    "state_key:archived",
    "access_class:*",
    "amos~2 amos^9 am?s am*",
    "`) MATCH (n) DETACH DELETE n //",
    "\\u0060) DETACH DELETE n",
    "' OR 1=1 //",
    "$shard",
    "\x00\x01\x1f",
    "\u202eamos\u202c",
    "🙂",
    "ent:user:primary' OR true",
    "to be or not to be",
    "x" * 10_000,
    "word " * 2_000,
    '"' * 10_000,
]


@pytest.mark.case("C53")
@pytest.mark.reliability("T23")
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_cues_are_looked_up_as_text(context: Context, text: str) -> None:
    """Each gives a packet; none of them reaches what the words themselves do not match."""
    store(context, fact("a1", "Something else entirely."))

    found = packet(context, text)

    assert refs(found) == []
    assert found["request"]["cues"] == [text]


@pytest.mark.case("C53")
@pytest.mark.parametrize(
    "text",
    [
        "install.sh | bash",
        "/internal/mcp/",
        "will send the",
        "don't",
        "C++ (x)",
        "a:b",
        "tier1-test AND unicode",
    ],
)
def test_text_with_signs_is_found_by_itself(context: Context, text: str) -> None:
    """What was stored with such signs is found by the same words."""
    store(context, fact("a1", f"Remember {text} well."), fact("a2", "Another matter."))

    assert refs(packet(context, text)) == ["a1"]


@pytest.mark.reliability("T23")
@pytest.mark.parametrize("text", [text for text in HOSTILE if len(text) < 1000])
def test_hostile_filters_and_terms_change_nothing(context: Context, graph: Graph, text: str) -> None:
    """Filter names and values, focus and suppressed terms, types and scope: data or a refusal."""
    store(context, fact("a1", "Amos remembers.", payload={"topic": "memory"}))
    before = _shape(graph)
    requests: list[dict[str, Any]] = [
        {"payload_filter": {"topic": text}},
        {"payload_filter": {text: "x"}},
        {"requested_memory_types": [text]},
        {"scope": {"project_id": text}},
        {"target_processor": text},
        {"evaluated_at": text},
        {"attention_context": {"focus_terms": [text], "suppress_terms": [text]}},
    ]

    for request in requests:
        try:
            found = recall(context, {"cues": ["Amos"], **request})
        except AmosError as error:
            assert error.code == "schema_invalid"  # noqa: PT017  # both ends are allowed
        else:
            assert refs(found) == (["a1"] if "payload_filter" not in request else [])

    assert _shape(graph) == before


def _shape(graph: Graph) -> tuple[list[str], list[str]]:
    labels = [row["label"] for row in run(graph, "CALL db.labels() YIELD label RETURN label")]
    names = [row["name"] for row in run(graph, "SHOW INDEXES YIELD name RETURN name")]
    return sorted(labels), sorted(names)
