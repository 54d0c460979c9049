"""What recall is compared with: BM25 over the same texts, and PageRank over the same graph."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import networkx as nx

from amos_graph.domain.mentions import mentions
from amos_graph.domain.tokens import STOP_WORDS, tokens_of
from bench.quality.passages import Passage

#: The usual constants of BM25.
K1: Final = 1.2
B: Final = 0.75
#: Of PageRank: how much of the rank walks on, and the steps that it takes.
DAMPING: Final = 0.5
STEPS: Final = 30


class Bm25:
    """Okapi BM25 over titles and texts, with the product's own words and stop words."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._texts = {
            passage.ref: Counter(tokens_of(f"{passage.title} {passage.text}")) for passage in passages
        }
        self._lengths = {ref: sum(words.values()) for ref, words in self._texts.items()}
        self._average = sum(self._lengths.values()) / len(self._lengths)
        self._having: dict[str, list[str]] = defaultdict(list)
        for ref, words in self._texts.items():
            for word in words:
                self._having[word].append(ref)

    def scores(self, question: str) -> dict[str, float]:
        """Passage → score; what shares no word with the question is left out."""
        asked = list(dict.fromkeys(tokens_of(question)))
        found: dict[str, float] = defaultdict(float)
        for word in [word for word in asked if word not in STOP_WORDS] or asked:
            having = self._having.get(word, [])
            rarity = math.log(1 + (len(self._texts) - len(having) + 0.5) / (len(having) + 0.5))
            for ref in having:
                times = self._texts[ref][word]
                length = 1 - B + B * self._lengths[ref] / self._average
                found[ref] += rarity * times * (K1 + 1) / (times + K1 * length)
        return dict(found)

    def ranking(self, question: str) -> list[str]:
        """Passages, best first."""
        return ordered(self.scores(question))


class PageRank:
    """Personalised PageRank from given scores over passages and the names that several of them have."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        named = {p.ref: {found.name for found in mentions([p.title, p.text])} for p in passages}
        counts = Counter(name for names in named.values() for name in names)
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(named)
        graph.add_edges_from(
            (ref, f"name:{name}") for ref, names in named.items() for name in names if counts[name] > 1
        )
        self._passages = frozenset(named)
        self._around = {node: list(graph.neighbors(node)) for node in graph}

    def ranking(self, start: Mapping[str, float]) -> list[str]:
        """Passages, best first; the walk begins at the passages of `start`, in proportion to their scores."""
        total = math.fsum(start.values())
        begin = {ref: score / total for ref, score in start.items() if score > 0} if total else {}
        rank: dict[str, float] = dict(begin)
        for _ in range(STEPS):
            walked: dict[str, float] = defaultdict(float)
            for node, weight in rank.items():
                around = self._around[node]
                for other in around:
                    walked[other] += DAMPING * weight / len(around)
            for ref, weight in begin.items():
                walked[ref] += (1 - DAMPING) * weight
            rank = walked
        return ordered({ref: weight for ref, weight in rank.items() if ref in self._passages})


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Ids by falling score, ties by id."""
    return sorted(scores, key=lambda ref: (-scores[ref], ref))
