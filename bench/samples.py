"""The records that are measured with: made from a seed, so that every run writes and asks the same.

Texts are drawn from a vocabulary in which the n-th word is n times rarer than the first, as in
language; edges lead to atoms that are there already, so that older ones have more of them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]

WORDS: Final = 20_000
#: Words of one statement.
STATEMENT: Final = 14
TOPICS: Final = 500
_RELATIONS: Final = ("rel:supports", "rel:similar_to", "rel:co_refers", "rel:precedes")


def _vocabulary() -> list[str]:
    """Words that can be pronounced, so that no analyzer treats them as numbers or splits them."""
    syllables = [a + b for a in "bdfghklmnprstvz" for b in "aeiou"]
    return ["".join(parts) for parts in itertools.islice(itertools.product(syllables, repeat=3), WORDS)]


_WORDS: Final = _vocabulary()
_WEIGHTS: Final = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))


@dataclass(slots=True)
class Samples:
    """A stream of records."""

    seed: int
    _random: random.Random = field(init=False)
    _made: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        # No secret depends on it; a run has to be repeatable.
        self._random = random.Random(self.seed)  # noqa: S311
        self._made = itertools.count()

    def text(self, words: int = STATEMENT) -> str:
        return " ".join(self._random.choices(_WORDS, cum_weights=_WEIGHTS, k=words))

    def cue(self) -> str:
        """Three words that are neither the commonest nor so rare that nothing has them."""
        return " ".join(self._random.sample(_WORDS[50:2_000], 3))

    def atom(self, ref: str, evidence: str) -> Json:
        return {
            "id": ref,
            "type": "semantic",
            "payload": {"statement": self.text(), "topic": f"ent:topic:t{next(self._made) % TOPICS}"},
            "evidence_refs": [evidence],
            "confidence": {"level": "high", "score": 0.9},
        }

    def evidence(self, ref: str) -> Json:
        return {
            "evidence_id": ref,
            "source_type": "conversation_turn",
            "source_ref": f"session:bench/{ref}",
            "payload": {"text": self.text()},
        }

    def edge(self, source: str, target: str, evidence: str) -> Json:
        return {
            "source_ref": source,
            "target_ref": target,
            "relation": self._random.choice(_RELATIONS),
            "evidence_refs": [evidence],
            "confidence": {"score": round(self._random.uniform(0.5, 1.0), 2)},
            "weight": round(self._random.uniform(0.2, 0.8), 2),
        }

    def edges(self, source: str, targets: list[str], count: int, evidence: str) -> list[Json]:
        """Edges to different atoms, never to the source itself."""
        others = [ref for ref in self._random.sample(targets, min(count + 1, len(targets))) if ref != source]
        return [self.edge(source, target, evidence) for target in others[:count]]

    def batch(self, name: str, atoms: int, edges_each: int, known: list[str]) -> Json:
        """One command: atoms on one piece of evidence, with edges to those before them and to each other."""
        proof = f"evd_{name}"
        refs = [f"{name}-{index}" for index in range(atoms)]
        among = [*known, *refs]
        return {
            "events": [self.evidence(proof)],
            "atoms": [self.atom(ref, proof) for ref in refs],
            "edges": [edge for ref in refs for edge in self.edges(ref, among, edges_each, proof)],
        }


def batches(seed: int, name: str, atoms: int, edges_each: int, size: int = 500) -> Iterator[Json]:
    """A graph of `atoms` atoms with `edges_each` edges from each, command by command."""
    samples, known = Samples(seed), list[str]()
    for start in range(0, atoms, size):
        batch = samples.batch(f"{name}{start}", min(size, atoms - start), edges_each, known)
        yield batch
        known += [atom["id"] for atom in batch["atoms"]]
