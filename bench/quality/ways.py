"""The ways in which passages are found for a question: the product's own, whole and in parts, and rivals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.domain.packets import Asked, check_request
from amos_graph.domain.times import now
from amos_graph.encoding import open_encoder
from amos_graph.graph.transactions import Tx
from amos_graph.policy.naming import Shared
from amos_graph.policy.ranking import Activation
from amos_graph.queries.recall import recall
from amos_graph.queries.recall.meaning import Meaning
from amos_graph.queries.recall.search import Search, open_gate, search
from amos_graph.queries.recall.source import Present
from bench.quality.baselines import Bm25, PageRank
from bench.quality.passages import Passage, Question

#: Items of a packet from which weights are chosen: as many as one packet may hold.
RANKED: Final = 100
#: Places of a ranking that are kept.
KEPT: Final = 20

BM25: Final = "BM25"
VECTOR: Final = "vector alone"
FUSED: Final = "fused"
SPREAD: Final = "fused + spread"
PAGERANK: Final = "PageRank from fused"
WAYS: Final = (BM25, VECTOR, FUSED, SPREAD, PAGERANK)


@dataclass(frozen=True, slots=True)
class Still(Present):
    """The graph as it is, in which no activation passes."""

    def spread(self, activation: Mapping[str, float], asked: Collection[str]) -> dict[str, Activation]:  # noqa: ARG002
        return {}

    def shared(self, ids: Collection[str]) -> Sequence[Shared]:  # noqa: ARG002
        return ()


def rankings(
    context: Context,
    passages: Sequence[Passage],
    questions: Sequence[Question],
    told: Callable[[str, int, int], None],
) -> dict[str, list[list[str]]]:
    """Way → the ranking of each question, best first."""
    words, ranked = Bm25(passages), PageRank(passages)
    found: dict[str, list[list[str]]] = {way: [] for way in WAYS}
    for done, question in enumerate(questions, 1):
        fused = _fused(context, question.text)
        made = {
            BM25: words.ranking(question.text),
            VECTOR: _nearest(context, question.text),
            FUSED: list(fused)[:KEPT],
            SPREAD: [str(item["atom_ref"]) for item in _packet(context, question.text, KEPT)],
            PAGERANK: ranked.ranking(fused),
        }
        for way, ranking in made.items():
            found[way].append(ranking[:KEPT])
        told("questions", done, len(questions))
    return found


def components(context: Context, question: Question) -> dict[str, dict[str, float]]:
    """Atom → its score components, for all that a large packet of the question holds."""
    return {
        str(item["atom_ref"]): dict(item["score_components"])
        for item in _packet(context, question.text, RANKED)
    }


def _packet(context: Context, question: str, items: int) -> list[dict[str, Any]]:
    return recall(context, _request(question, items))["items"]


def _request(question: str, items: int) -> dict[str, Any]:
    return {"cues": [question], "max_items": items, "include_conflicts": False}


def _asked(context: Context, question: str) -> Asked:
    return check_request(_request(question, RANKED), context.scope, now(), context.settings.items_max)


def _fused(context: Context, question: str) -> dict[str, float]:
    """Atom → score by words and meaning, best first, as the product fuses them and without any spread."""
    asked = _asked(context, question)

    def read(tx: Tx) -> Search:
        gate = open_gate(tx, context, asked)
        return search(Still(tx, gate, _meaning(tx, context, asked)), asked)

    found = context.graph.read("quality_fused", read)
    return {entry.id: entry.score for entry in found.selected}


def _nearest(context: Context, question: str) -> list[str]:
    """What the vector index proposes, nearest first."""
    asked = _asked(context, question)
    found = context.graph.read(
        "quality_vector", lambda tx: _meaning(tx, context, asked).propose([question], [])
    )
    return list(found.ids)


def _meaning(tx: Tx, context: Context, asked: Asked) -> Meaning:
    settings = context.settings
    return Meaning(tx, open_gate(tx, context, asked), open_encoder(settings.encoder), settings.tail_max)
