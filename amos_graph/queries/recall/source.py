"""Where a packet is read from: the graph as it is, or as it was."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from amos_graph.encoding import Corpus
from amos_graph.graph.transactions import Tx
from amos_graph.policy.expansion import Expansion
from amos_graph.policy.naming import Shared
from amos_graph.policy.ranking import Activation
from amos_graph.policy.traits import Traits
from amos_graph.queries.recall import candidates, contents
from amos_graph.queries.recall.candidates import Found, Gate, NamedRow
from amos_graph.queries.recall.contents import ConflictRow, Stored
from amos_graph.queries.recall.cues import Names, Terms
from amos_graph.queries.recall.expansions import read_expansions
from amos_graph.queries.recall.meaning import Meaning
from amos_graph.queries.recall.shared import read_shared
from amos_graph.queries.recall.spread import spread
from amos_graph.queries.recall.succession import SuccessorRow, read_successors
from amos_graph.queries.recall.traits import read_traits


class Source(Protocol):
    """Everything that recall reads; each answer keeps to the gate."""

    @property
    def gate(self) -> Gate: ...

    def find(self, terms: Terms, names: Names) -> Found: ...

    def browse(self) -> Found: ...

    def fitting(self, ids: Sequence[str]) -> list[str]: ...

    def traits(self, ids: Collection[str], *, with_degree: bool) -> dict[str, Traits]: ...

    def successors(self, ids: Collection[str]) -> list[SuccessorRow]: ...

    def nearness(self, ids: Collection[str]) -> dict[str, float]:
        """How near in meaning further atoms are to what `find` looked for; what is not near is left out."""
        ...

    @property
    def corpus(self) -> Corpus:
        """The words of what the caller may see, as they were counted; known once `find` was asked."""
        ...

    @property
    def index_version(self) -> str: ...

    def spread(self, activation: Mapping[str, float], asked: Collection[str]) -> dict[str, Activation]:
        """The walk over associations; those of `asked`, ids of relations, come first."""
        ...

    def shared(self, ids: Collection[str]) -> Sequence[Shared]: ...

    def expansions(self, named: Mapping[str, Sequence[str]]) -> list[Expansion]:
        """The beliefs that widen a cue which names these entities (id → ids that it stands for)."""
        ...

    def contents(self, ids: Collection[str]) -> Stored: ...

    def conflicts(self, ids: Sequence[str]) -> list[ConflictRow]: ...

    def lineage(self, ids: Collection[str]) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Present:
    """The graph as it is, asked in Cypher."""

    tx: Tx
    gate: Gate
    meaning: Meaning

    def find(self, terms: Terms, names: Names) -> Found:
        found = candidates.find(self.tx, self.gate, terms, names)
        return self.meaning.propose(names.texts, found.ids).joined(found)

    def nearness(self, ids: Collection[str]) -> dict[str, float]:
        return self.meaning.of(ids)

    @property
    def corpus(self) -> Corpus:
        return self.meaning.corpus

    @property
    def index_version(self) -> str:
        return self.meaning.index_version

    def browse(self) -> Found:
        return candidates.browse(self.tx, self.gate)

    def fitting(self, ids: Sequence[str]) -> list[str]:
        return candidates.fitting(self.tx, self.gate, ids)

    def traits(self, ids: Collection[str], *, with_degree: bool) -> dict[str, Traits]:
        return read_traits(self.tx, self.gate, ids, with_degree=with_degree)

    def successors(self, ids: Collection[str]) -> list[SuccessorRow]:
        return read_successors(self.tx, self.gate, ids)

    def spread(self, activation: Mapping[str, float], asked: Collection[str]) -> dict[str, Activation]:
        return spread(self.tx, self.gate, activation, asked)

    def shared(self, ids: Collection[str]) -> Sequence[Shared]:
        return read_shared(self.tx, self.gate, ids)

    def expansions(self, named: Mapping[str, Sequence[str]]) -> list[Expansion]:
        def about(entity_ids: Sequence[str]) -> list[NamedRow]:
            return candidates.by_name(self.tx, self.gate, (), entity_ids)

        return read_expansions(self.tx, self.gate, named, about)

    def contents(self, ids: Collection[str]) -> Stored:
        return contents.read_contents(self.tx, self.gate, ids)

    def conflicts(self, ids: Sequence[str]) -> list[ConflictRow]:
        return contents.read_conflicts(self.tx, self.gate, ids)

    def lineage(self, ids: Collection[str]) -> dict[str, Any]:
        return contents.read_lineage(self.tx, self.gate, ids)
