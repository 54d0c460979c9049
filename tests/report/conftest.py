"""A small shard with something for every report."""

from __future__ import annotations

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.capture import capture
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from tests.samples import belief, source_event


@pytest.fixture
def story(context: Context) -> Context:
    """Two beliefs that contradict each other, a third that was archived, and a note that nothing cites."""
    commit(
        context,
        {
            "events": [source_event(), source_event("evd_turn2")],
            "atoms": [
                belief(id="belief:works", evidence_refs=["evd_turn1", "evd_turn2"]),
                belief(id="belief:rests", payload={"relation": "rel:avoids"}, confidence={"level": "low"}),
                belief(id="belief:gone", payload={"relation": "rel:knows"}),
            ],
            "entities": [{"id": "ent:project:amos", "aliases": ["The Memory"]}, {"id": "ent:place:nowhere"}],
            "edges": [
                {
                    "source_ref": "belief:works",
                    "target_ref": "belief:rests",
                    "relation": "rel:contradicts",
                    "evidence_refs": ["evd_turn1"],
                    "confidence": {"level": "high"},
                },
                {
                    "source_ref": "belief:works",
                    "target_ref": "belief:gone",
                    "relation": "rel:supports",
                    "confidence": {"level": "high"},
                },
            ],
        },
    )
    archive(context, {"atom_id": "belief:gone", "reason": "It was said in jest."})
    capture(context, {"event": source_event("evd_unused", source_ref="archive://unused")})
    return context
