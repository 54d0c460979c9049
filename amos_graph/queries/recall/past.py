"""A shard as it was known at a version, or as it held at an instant: recall without an index.

The indexes hold the present alone, so the past is read from the Versions, whole and within a limit
(`past_graph.py`), and searched in memory by the rules of the statements of `cypher/recall/`. A test holds
both to each other: a packet of a past version is the packet that was given then, byte for byte.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from amos_graph.domain.dictionary import PROVENANCE_RELATIONS
from amos_graph.domain.projection import Node, said_text
from amos_graph.domain.tokens import tokens_of
from amos_graph.encoding import Corpus, Encoder
from amos_graph.errors import AmosError, Fault
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.expansion import BELIEFS_MAX, INSTANCES, Expansion, proper
from amos_graph.policy.naming import COMMON_MAX, Shared
from amos_graph.policy.ranking import Activation
from amos_graph.policy.traits import DEGREE_MAX, Traits
from amos_graph.queries.recall.candidates import (
    ABOUT_MAX,
    BROWSE_MAX,
    EntityRow,
    Found,
    Gate,
    NamedRow,
    TextRow,
    found_by,
)
from amos_graph.queries.recall.contents import (
    CONFLICTS_MAX,
    EVIDENCE_MAX,
    LINEAGE_MAX,
    ConflictRow,
    ItemRow,
    LineageRow,
    Stored,
    by_atom,
    each_once,
)
from amos_graph.queries.recall.cues import Names, Terms
from amos_graph.queries.recall.expansions import with_atoms
from amos_graph.queries.recall.meaning import Probe, Similar, corpus_of, encoded, kept, nearest, version_of
from amos_graph.queries.recall.past_graph import READ, PastGraph, PastRow, Step
from amos_graph.queries.recall.spread import BOUNDS
from amos_graph.queries.recall.succession import STEPS_MAX, WAYS_MAX, SuccessorRow
from amos_graph.queries.recall.traits import EDGES_MAX, Around, said_of, traits_of

_PAGE: Final = 1_000
_NOT_WALKED: Final = PROVENANCE_RELATIONS | {"rel:inhibits"}
_HOLDING: Final = frozenset({"rel:inhibits", "rel:corrects", "rel:supersedes"})


_PAST = procedure("recall/list_past", PastRow)


class Past:
    """A source of packets: what a shard held at a version."""

    def __init__(self, graph: PastGraph, encoder: Encoder, corpus: Corpus) -> None:
        self.gate = graph.gate
        self.corpus = corpus
        self._graph = graph
        self._encoder = encoder
        self._probe: Probe | None = None

    def find(self, terms: Terms, names: Names) -> Found:
        """The candidates for cues, as `candidates.find` has them."""
        found = found_by(
            self.gate,
            names,
            text=self._by_words(terms, self.gate.states),
            suppressed=self._by_words(terms, self.gate.held()),
            entities=self._entities(names),
            by_name=self._by_name,
        )
        return self._similar(names.texts, found.ids).joined(found)

    def nearness(self, ids: Collection[str]) -> dict[str, float]:
        """How near in meaning further atoms are to what `find` looked for."""
        probe = self._probe
        if probe is None or not probe.square:
            return {}
        nodes = [self._graph.nodes["atom"][ref] for ref in ids if ref in self._graph.nodes["atom"]]
        texts = {node.properties["content_digest"]: _said(node) for node in nodes}
        known = kept(self._encoder, texts.keys())
        missing = {digest: text for digest, text in texts.items() if digest not in known}
        near = probe.to(known | (encoded(self._encoder, missing) if missing else {}))
        found = {node.ref: near[node.properties["content_digest"]] for node in nodes}
        return {ref: value for ref, value in found.items() if value > 0}

    @property
    def index_version(self) -> str:
        """What scores of meaning depend on beside the graph."""
        return version_of(self._encoder, self.corpus)

    def _similar(self, texts: Sequence[str], ids: Sequence[str]) -> Similar:
        """What is near in meaning: all that enters is compared, where the present asks an index."""
        if not self.gate.classes or not any(text.strip() for text in texts):
            return Similar()
        self._probe = Probe(self._encoder, texts, self.corpus)
        near = self.nearness([node.ref for node in self._graph.entering()])
        chosen = nearest(near)
        near |= self.nearness([ref for ref in ids if ref not in near])
        told = {*ids, *chosen}
        return Similar({ref: value for ref, value in near.items() if ref in told}, chosen)

    def browse(self) -> Found:
        """The newest atoms that may enter."""
        fitting = self._graph.entering()
        fitting.sort(key=lambda node: node.ref)
        fitting.sort(key=lambda node: node.properties["created_at"], reverse=True)
        ids = tuple(node.ref for node in fitting[: BROWSE_MAX + 1])
        return Found(ids=ids[:BROWSE_MAX], truncated=len(ids) > BROWSE_MAX)

    def fitting(self, ids: Sequence[str]) -> list[str]:
        """Those of the atoms that pass the request's own filters."""
        if not self.gate.narrow:
            return list(ids)
        return [atom for row in self._by_name(ids, ()) for atom in row.ids]

    def traits(self, ids: Collection[str], *, with_degree: bool) -> dict[str, Traits]:
        """What atoms are scored by, by id."""
        atoms = self._graph.nodes["atom"]
        nodes = [atoms[ref] for ref in ids if ref in atoms]
        return {
            node.ref: traits_of(node.properties, said_of(node.properties), self._around(node, with_degree))
            for node in nodes
        }

    def successors(self, ids: Collection[str]) -> list[SuccessorRow]:
        """Everything that took the place of these atoms and may enter, nearest first."""
        return [row for ref in sorted(ids) for row in list(self._line(ref))[:WAYS_MAX]]

    def spread(self, activation: Mapping[str, float], asked: Collection[str]) -> dict[str, Activation]:
        """The walk of `spread_activation`, step by step the same."""
        strongest = sorted(
            ((value, ref) for ref, value in activation.items() if value > 0),
            key=lambda pair: (-pair[0], pair[1]),
        )
        seeds = [(ref, Activation(value, ref)) for value, ref in strongest[: BOUNDS.seeds]]
        near = _best(step for seed in seeds for step in self._hop(*seed, asked))
        far = [step for start in near[: BOUNDS.frontier] for step in self._hop(*start, asked)]
        return dict(_best([*near, *far])[: BOUNDS.reached])

    def shared(self, ids: Collection[str]) -> list[Shared]:
        """What `list_shared_names` tells."""
        sources: dict[str, list[str]] = {}
        for ref in sorted(ids):
            for key in self._graph.spoken_of(ref):
                sources.setdefault(key, []).append(ref)
        found: list[Shared] = []
        for key in sorted(sources):
            atoms = self._graph.speakers(key)
            if len(atoms) > 1:
                found.append(Shared(key, sources[key], atoms[: COMMON_MAX + 1]))
        return found

    def expansions(self, named: Mapping[str, Sequence[str]]) -> list[Expansion]:
        """What `list_expansions` tells, with the newest memories about what it leads to."""
        stands_for = self._graph.sameness.stands_for
        live = [
            node
            for node in (self._graph.atoms() if named else ())
            if node.properties.get("relation") is not None
            and node.properties["state_key"] == "live"
            and self._graph.open(node.ref)
            and self._graph.holds(node)
        ]
        kept = proper([each for ref, ids in sorted(named.items()) for each in self._widening(ref, ids, live)])
        same = {each.entity: stands_for(each.entity) for each in kept}
        return with_atoms(kept, same, lambda entity_ids: self._by_name((), entity_ids))

    def contents(self, ids: Collection[str]) -> Stored:
        """The stored atoms with pointers to their evidence, by id."""
        found: dict[str, ItemRow] = {}
        for ref in ids:
            node = self._graph.nodes["atom"].get(ref)
            if node is None:
                continue
            body, event_id = self._graph.bodies[ref]
            cited = ref in self._graph.cited
            sources = [self._graph.nodes["evidence"].get(one) for one in sorted(node.evidence) if cited]
            pointers = [source.properties for source in sources if source is not None][:EVIDENCE_MAX]
            found[ref] = ItemRow(ref, body, event_id, node.properties["state_key"], pointers, cited=cited)
        return found

    def conflicts(self, ids: Sequence[str]) -> list[ConflictRow]:
        """The contradictions in which these atoms stand, each once."""
        rows = [
            ConflictRow(ref, step.edge["edge_id"], step.other, step.edge["confidence_score"])
            for ref in ids
            for step in self._contradicting(ref)[:CONFLICTS_MAX]
        ]
        return each_once(rows, ids)

    def lineage(self, ids: Collection[str]) -> dict[str, Any]:
        """What the atoms come from and what came of them, one step."""
        rows: list[LineageRow] = []
        for ref in sorted(ids):
            steps = sorted(
                (s for s in self._graph.steps.get(ref, ()) if s.edge["relation"] in PROVENANCE_RELATIONS),
                key=lambda step: step.edge["edge_id"],
            )
            for step in [step for step in steps if self._graph.open(step.other)][:LINEAGE_MAX]:
                other = self._graph.nodes["atom"][step.other].properties
                rows.append(
                    LineageRow(
                        ref,
                        step.edge["edge_id"],
                        step.edge["relation"],
                        step.along,
                        step.other,
                        other["title"],
                        other["version"],
                        other["state_key"],
                    )
                )
        return by_atom(rows)

    def _contradicting(self, ref: str) -> list[Step]:
        return self._graph.shown(ref, {"rel:contradicts"})

    def _around(self, node: Node, with_degree: bool) -> Around:
        """The edges and entities of an atom, as `read_traits` tells them."""
        atoms = self._graph.nodes["atom"]
        holding = [s for s in self._graph.shown(node.ref, _HOLDING) if not s.along][:EDGES_MAX]
        walked = [
            s
            for s in self._graph.steps.get(node.ref, ())
            if with_degree
            and s.edge["relation"] not in _NOT_WALKED
            and s.strength > 0
            and self._graph.open(s.other)
        ]
        return Around(
            opposed=[
                atoms[step.other].properties["type"] for step in self._contradicting(node.ref)[:EDGES_MAX]
            ],
            held=[(s.other, s.edge["relation"], s.edge["edge_id"], s.strength) for s in holding],
            corrects=any(s.along for s in self._graph.shown(node.ref, {"rel:corrects", "rel:supersedes"})),
            degree=min(len(walked), DEGREE_MAX),
            entities=sorted({entity for _, entity in node.entities})[:EDGES_MAX],
        )

    def _widening(self, ref: str, ids: Sequence[str], live: Iterable[Node]) -> list[Expansion]:
        """Those of the live beliefs by which one entity widens a cue, the surest first."""
        found: dict[tuple[str, str, bool], Expansion] = {}
        for node in live:
            said, relation = node.properties, node.properties["relation"]
            near, far = ("object", "subject") if relation in INSTANCES else ("subject", "object")
            if not any(role == near and entity in ids for role, entity in node.entities):
                continue
            for role, entity in node.entities:
                known = self._graph.nodes["entity"].get(entity)
                if role == far and entity not in ids and known is not None:
                    name, along = known.properties["canonical_name"], far == "object"
                    sure = said["confidence_score"]
                    each = Expansion(ref, node.ref, relation, sure, entity, name, along)
                    found[node.ref, entity, along] = each
        ordered = sorted(found.values(), key=lambda each: (-each.confidence, each.belief, each.entity))
        return ordered[:BELIEFS_MAX]

    def _line(self, ref: str) -> Iterator[SuccessorRow]:
        """The successors of an atom, one after the other, those that may enter."""
        steps: list[dict[str, Any]] = []
        confidence, current = 1.0, ref
        while len(steps) < STEPS_MAX:
            newer = [s for s in self._graph.steps.get(current, ()) if s.edge["relation"] == "rel:supersedes"]
            step = next((s for s in newer if not s.along), None)
            if step is None:
                return
            steps.append({"edge_id": step.edge["edge_id"], "source": current, "target": step.other})
            confidence, current = confidence * step.edge["confidence_score"], step.other
            if self._graph.enters(self._graph.nodes["atom"][current]):
                yield SuccessorRow(ref, current, confidence, list(steps))

    def _by_words(self, terms: Terms, states: Collection[str]) -> TextRow:
        wanted = frozenset(terms.tokens)
        hits: list[tuple[Node, list[str]]] = []
        for node in self._graph.atoms():
            text = node.properties["search_text"]
            if node.properties["state_key"] in states and not wanted.isdisjoint(tokens_of(text)):
                lowered = text.lower()
                hits.append((node, [word for word in terms.tokens if word in lowered]))
        counts = {word: sum(word in words for _, words in hits) for word in terms.tokens}
        weighed = [(-_weight(terms.tokens, words, counts), node.ref, node) for node, words in hits]
        ranked = [node for _, _, node in sorted(weighed, key=lambda entry: entry[:2])]
        shown = [node for node in ranked if self._graph.open(node.ref)]
        fits = [node for node in shown if self._graph.fits(node)]
        return TextRow(
            [{"id": n.ref, "state_key": n.properties["state_key"]} for n in fits if self._graph.holds(n)],
            [node.ref for node in fits if not self._graph.holds(node)],
            sum(self._graph.holds(node) for node in shown) - sum(self._graph.holds(node) for node in fits),
            len(hits),
        )

    def _by_name(self, atom_ids: Sequence[str], entity_ids: Sequence[str]) -> list[NamedRow]:
        about: dict[str, list[Node]] = {ref: [] for ref in sorted({*atom_ids, *entity_ids})}
        for ref in atom_ids:
            if ref in self._graph.nodes["atom"]:
                about[ref].append(self._graph.nodes["atom"][ref])
        wanted = set(entity_ids)
        for node in self._graph.atoms() if wanted else ():
            for entity in {entity for _, entity in node.entities} & wanted:
                about[entity].append(node)
        rows: list[NamedRow] = []
        for ref, nodes in about.items():
            entering = [node for node in nodes if self._graph.enters(node) and self._graph.fits(node)]
            entering.sort(key=lambda node: node.ref)
            entering.sort(key=lambda node: node.properties["updated_at"], reverse=True)
            if entering:
                rows.append(NamedRow(ref, [node.ref for node in entering[:ABOUT_MAX]], len(entering)))
        return rows

    def _entities(self, names: Names) -> list[EntityRow]:
        wanted = {stretch.key for stretch in names.stretches}
        rows: list[EntityRow] = []
        for ref, node in sorted(self._graph.nodes["entity"].items()):
            keys = [key for key in node.names if key in wanted]
            if keys or ref in names.entity_ids:
                same = self._graph.sameness.stands_for(ref)
                rows.append(EntityRow(ref, keys, node.properties["names"], same))
        return rows

    def _hop(self, ref: str, start: Activation, asked: Collection[str]) -> Iterator[tuple[str, Activation]]:
        """The strongest steps from one atom, each with what it passes on."""
        steps = [
            step
            for step in self._graph.steps.get(ref, ())
            if step.edge["relation"] not in _NOT_WALKED
            and step.strength > 0
            and self._graph.enters(self._graph.nodes["atom"][step.other])
        ]
        steps.sort(key=lambda s: (s.edge["relation"] not in asked, -s.strength, s.other, s.edge["edge_id"]))
        asked_for = sum(step.edge["relation"] in asked for step in steps)
        for step in [step for step in steps if step.other != start.seed][: BOUNDS.fan_out]:
            told = {
                "edge_id": step.edge["edge_id"],
                "relation": step.edge["relation"],
                "source": ref,
                "target": step.other,
                "along": step.along,
            }
            degree = asked_for if step.edge["relation"] in asked else len(steps)
            passed = start.strength * step.strength * BOUNDS.decay / math.sqrt(degree)
            yield step.other, Activation(passed, start.seed, (*start.path, told))


def read_past(tx: Tx, gate: Gate, as_of: int, records_max: int, encoder: Encoder) -> Past:
    """The shard as it was at a version.

    Raises `capacity_limited` when it held more than `records_max` records then.
    """
    rows: list[PastRow] = []
    after = ""
    while True:
        page = tx.many(_PAST, shard=gate.shard, as_of=as_of, kinds=list(READ), after=after, limit=_PAGE)
        rows += page
        if len(rows) > records_max:
            message = (
                f"this shard held more than {records_max} records then, which is the most that a packet "
                "of the past looks at (AMOS_PAST_RECORDS_MAX)"
            )
            raise AmosError("capacity_limited", message, [Fault("as_of_version", message)])
        if len(page) < _PAGE:
            return Past(PastGraph(gate, rows), encoder, corpus_of(tx, gate, encoder))
        after = page[-1].ref


def _best(told: Iterable[tuple[str, Activation]]) -> list[tuple[str, Activation]]:
    """The strongest activation of each atom, strongest first."""

    def order(entry: tuple[str, Activation]) -> tuple[float, int, str, list[str]]:
        reached = entry[1]
        edges = [cast("str", step["edge_id"]) for step in reached.path]
        return -reached.strength, len(reached.path), reached.seed, edges

    chosen: dict[str, Activation] = {}
    for ref, reached in sorted(told, key=order):
        chosen.setdefault(ref, reached)
    return sorted(chosen.items(), key=lambda entry: (-entry[1].strength, entry[0]))


def _weight(words: Sequence[str], matched: Collection[str], counts: Mapping[str, int]) -> float:
    weight = 0.0
    for word in words:
        if word in matched:
            weight += 1.0 / counts[word]
    return weight


def _said(node: Node) -> str:
    return said_text(node.ref, node.properties["type"], node.properties["search_text"])
