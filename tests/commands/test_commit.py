"""Commit: what one command creates, replaces, reuses and refuses."""

from __future__ import annotations

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from tests.samples import belief, source_event


def test_one_commit_creates_evidence_entities_and_atom(context: Context) -> None:
    """Evidence, atom and the entities that it mentions come in one command, and the receipt names them."""
    receipt = commit(context, {"events": [source_event()], "atoms": [belief()]}).record

    assert receipt["graph_version"] == len(receipt["event_ids"]) == 4
    assert set(receipt["created"]) == {
        "evd_turn1",
        "ent:user:primary",
        "ent:project:amos",
        receipt["atom_refs"][0],
    }
