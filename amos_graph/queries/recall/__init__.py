"""Recall: cues and attention become one explained packet (spec, "Retrieval"; design §5)."""

from amos_graph.queries.recall.packet import recall

__all__ = ["recall"]
