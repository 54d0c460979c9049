"""A shard as it was known at a version, or as it held at an instant: recall without an index.

The indexes hold the present alone, so the past is read from the Versions, whole and within a limit,
projected by the same pure functions as ever, and searched in memory by the rules of the statements of
`cypher/recall/`. A test holds both to each other: a packet of a past version is the packet that was
given then, byte for byte.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from amos_graph.domain.canonical import canonical_text
from amos_graph.domain.dictionary import PROVENANCE_RELATIONS
from amos_graph.domain.projection import Node, project, said_text
from amos_graph.domain.sameness import Sameness
from amos_graph.domain.score import numbers_of, with_numbers
from amos_graph.domain.tokens import tokens_of
from amos_graph.encoding import Corpus, Encoder
from amos_graph.errors import AmosError, Fault
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
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
    filtered,
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
from amos_graph.queries.recall.meaning import Probe, Similar, corpus_of, encoded, kept, nearest, version_of
from amos_graph.queries.recall.spread import BOUNDS
from amos_graph.queries.recall.succession import STEPS_MAX, WAYS_MAX, SuccessorRow
from amos_graph.queries.recall.traits import EDGES_MAX, Around, said_of, traits_of

_PAGE: Final = 1_000
_KINDS: Final = ("atom", "edge", "entity", "evidence")
_READ: Final = (*_KINDS, "score")
_NOT_WALKED: Final = PROVENANCE_RELATIONS | {"rel:inhibits"}
_HOLDING: Final = frozenset({"rel:inhibits", "rel:corrects", "rel:supersedes"})


@dataclass(frozen=True, slots=True)
class PastRow:
    ref: str
    kind: str
    body: str | None
    event_id: str | None
    access_class: str | None


_PAST = procedure("recall/list_past", PastRow)


@dataclass(frozen=True, slots=True)
class _Step:
    """An association as seen from one of its ends."""

    other: str
    strength: float
    edge: Mapping[str, Any]
    along: bool


class Past:
    """A source of packets: what a shard held at a version."""

    def __init__(self, gate: Gate, rows: Sequence[PastRow], encoder: Encoder, corpus: Corpus) -> None:
        self.corpus = corpus
        self._encoder = encoder
        self._probe: Probe | None = None
        scores: dict[str, Mapping[str, Any]] = {}
        for row in rows:
            if row.kind == "score" and row.body is not None:
                score = json.loads(row.body)
                scores[score["of_ref"]] = score
        self._bodies: dict[str, tuple[str, str]] = {}
        self._nodes: dict[str, dict[str, Node]] = {kind: {} for kind in _KINDS}
        seen = set(gate.classes)
        for row in rows:
            if row.body is None or row.kind not in _KINDS:
                continue
            body = json.loads(row.body)
            known = with_numbers(body, numbers_of(scores.get(row.ref), body["version"]))
            node = project(row.kind, gate.shard, known, row.event_id or "")  # pyright: ignore[reportArgumentType]
            readable = node.properties.get("access_class") in seen and row.access_class in seen
            if row.kind == "entity" or readable:
                self._nodes[row.kind][row.ref] = node
                text = row.body if known is body else canonical_text(known)
                self._bodies[row.ref] = (text, row.event_id or "")
        self._sameness = Sameness.of(node.properties for node in self._nodes["entity"].values())
        self.gate = gate = filtered(gate, self._sameness.stands_for)
        self._supersede()
        self._speaking: dict[str, set[str]] = {}
        for ref in self._nodes["atom"]:
            for key in self._spoken_of(ref):
                self._speaking.setdefault(key, set()).add(ref)
        self._joined: dict[str, set[str]] = {}
        for node in self._nodes["entity"].values():
            into = node.properties.get("merged_into")
            for other in (*node.names, *((into,) if into in self._nodes["entity"] else ())):
                self._joined.setdefault(node.ref, set()).add(other)
                self._joined.setdefault(other, set()).add(node.ref)
        self._steps: dict[str, list[_Step]] = {}
        for node in self._nodes["edge"].values():
            self._join(node)

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
        nodes = [self._nodes["atom"][ref] for ref in ids if ref in self._nodes["atom"]]
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
        near = self.nearness([n.ref for n in self._atoms() if self._enters(n) and self._fits(n)])
        chosen = nearest(near)
        near |= self.nearness([ref for ref in ids if ref not in near])
        told = {*ids, *chosen}
        return Similar({ref: value for ref, value in near.items() if ref in told}, chosen)

    def browse(self) -> Found:
        """The newest atoms that may enter."""
        fitting = [node for node in self._atoms() if self._enters(node) and self._fits(node)]
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
        atoms = self._nodes["atom"]
        nodes = [atoms[ref] for ref in ids if ref in atoms]
        return {
            node.ref: traits_of(node.properties, said_of(node.properties), self._around(node, with_degree))
            for node in nodes
        }

    def successors(self, ids: Collection[str]) -> list[SuccessorRow]:
        """Everything that took the place of these atoms and may enter, nearest first."""
        return [row for ref in sorted(ids) for row in list(self._line(ref))[:WAYS_MAX]]

    def spread(self, activation: Mapping[str, float]) -> dict[str, Activation]:
        """The walk of `spread_activation`, step by step the same."""
        strongest = sorted(
            ((value, ref) for ref, value in activation.items() if value > 0),
            key=lambda pair: (-pair[0], pair[1]),
        )
        seeds = [(ref, Activation(value, ref)) for value, ref in strongest[: BOUNDS.seeds]]
        near = _best(step for seed in seeds for step in self._hop(*seed))
        far = [step for start in near[: BOUNDS.frontier] for step in self._hop(*start)]
        return dict(_best([*near, *far])[: BOUNDS.reached])

    def shared(self, ids: Collection[str]) -> list[Shared]:
        """What `list_shared_names` tells."""
        sources: dict[str, list[str]] = {}
        for ref in sorted(ids):
            for key in self._spoken_of(ref):
                sources.setdefault(key, []).append(ref)
        found: list[Shared] = []
        for key in sorted(sources):
            speaking = {other for each in self._alike(key) for other in self._speaking.get(each, ())}
            atoms = [other for other in sorted(speaking) if self._enters(self._nodes["atom"][other])]
            if len(atoms) > 1:
                found.append(Shared(key, sources[key], atoms[: COMMON_MAX + 1]))
        return found

    def contents(self, ids: Collection[str]) -> Stored:
        """The stored atoms with pointers to their evidence, by id."""
        found: dict[str, ItemRow] = {}
        for ref in ids:
            node = self._nodes["atom"].get(ref)
            if node is None:
                continue
            body, event_id = self._bodies[ref]
            sources = [self._nodes["evidence"].get(cited) for cited in sorted(node.evidence)]
            pointers = [source.properties for source in sources if source is not None][:EVIDENCE_MAX]
            found[ref] = ItemRow(ref, body, event_id, node.properties["state_key"], pointers)
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
                (s for s in self._steps.get(ref, ()) if s.edge["relation"] in PROVENANCE_RELATIONS),
                key=lambda step: step.edge["edge_id"],
            )
            for step in [step for step in steps if self._open(step.other)][:LINEAGE_MAX]:
                other = self._nodes["atom"][step.other].properties
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

    def _atoms(self) -> Iterator[Node]:
        return iter(self._nodes["atom"].values())

    def _supersede(self) -> None:
        """Give the atoms that were superseded then their standing of then."""
        atoms = self._nodes["atom"]
        for node in self._nodes["edge"].values():
            edge, target = node.properties, atoms.get(node.properties["target_ref"])
            if edge["relation"] != "rel:supersedes" or node.relationship is None or target is None:
                continue
            if target.properties["lifecycle_state"] == "active":
                properties = {**target.properties, "state_key": "superseded"}
                atoms[target.ref] = replace(target, properties=properties)

    def _spoken_of(self, ref: str) -> frozenset[str]:
        """The names in an atom's text and the entities that it refers to."""
        node = self._nodes["atom"].get(ref)
        if node is None:
            return frozenset()
        return frozenset({*(mention.name for mention in node.mentions), *(ent for _, ent in node.entities)})

    def _alike(self, key: str) -> frozenset[str]:
        """A name or an entity, with what it is joined to in two steps: names of entities, and merges."""
        same, level = {key}, {key}
        for _ in range(2):
            level = {other for each in level for other in self._joined.get(each, ())} - same
            same |= level
        return frozenset(same)

    def _join(self, node: Node) -> None:
        """Enter an active association at both of its ends, if the caller may see them."""
        edge, atoms = node.properties, self._nodes["atom"]
        source, target = edge["source_ref"], edge["target_ref"]
        if node.relationship is None or source not in atoms or target not in atoms:
            return
        strength = node.relationship.properties["weight"] * node.relationship.properties["confidence"]
        self._steps.setdefault(source, []).append(_Step(target, strength, edge, along=True))
        self._steps.setdefault(target, []).append(_Step(source, strength, edge, along=False))

    def _contradicting(self, ref: str) -> list[_Step]:
        return self._shown(ref, {"rel:contradicts"})

    def _shown(self, ref: str, relations: Collection[str]) -> list[_Step]:
        """The steps over some relations to atoms that may be shown, by edge."""
        steps = [s for s in self._steps.get(ref, ()) if s.edge["relation"] in relations]
        return sorted((s for s in steps if self._open(s.other)), key=lambda step: step.edge["edge_id"])

    def _around(self, node: Node, with_degree: bool) -> Around:
        """The edges and entities of an atom, as `read_traits` tells them."""
        atoms = self._nodes["atom"]
        holding = [s for s in self._shown(node.ref, _HOLDING) if not s.along][:EDGES_MAX]
        walked = [
            s
            for s in self._steps.get(node.ref, ())
            if with_degree
            and s.edge["relation"] not in _NOT_WALKED
            and s.strength > 0
            and self._open(s.other)
        ]
        return Around(
            opposed=[
                atoms[step.other].properties["type"] for step in self._contradicting(node.ref)[:EDGES_MAX]
            ],
            held=[(s.other, s.edge["relation"], s.edge["edge_id"], s.strength) for s in holding],
            corrects=any(s.along for s in self._shown(node.ref, {"rel:corrects", "rel:supersedes"})),
            degree=min(len(walked), DEGREE_MAX),
            entities=sorted({entity for _, entity in node.entities})[:EDGES_MAX],
        )

    def _line(self, ref: str) -> Iterator[SuccessorRow]:
        """The successors of an atom, one after the other, those that may enter."""
        steps: list[dict[str, Any]] = []
        confidence, current = 1.0, ref
        while len(steps) < STEPS_MAX:
            newer = [s for s in self._steps.get(current, ()) if s.edge["relation"] == "rel:supersedes"]
            step = next((s for s in newer if not s.along), None)
            if step is None:
                return
            steps.append({"edge_id": step.edge["edge_id"], "source": current, "target": step.other})
            confidence, current = confidence * step.edge["confidence_score"], step.other
            if self._enters(self._nodes["atom"][current]):
                yield SuccessorRow(ref, current, confidence, list(steps))

    def _open(self, ref: str) -> bool:
        """Whether an atom may be shown beside another: private ones only to the processor they name."""
        properties = self._nodes["atom"][ref].properties
        return (
            properties["health_status"] != "privacy_sensitive"
            or properties["access_class"] in self.gate.targeted
        )

    def _holds(self, node: Node) -> bool:
        begins, ends = node.properties.get("valid_from"), node.properties.get("valid_until")
        if node.properties["state_key"] == "superseded":
            # At an instant that was asked for, what was superseded since is told only if it held then.
            if not self.gate.then:
                return True
            if begins is None and ends is None:
                return False
        return (begins is None or begins <= self.gate.at) and (ends is None or self.gate.at < ends)

    def _enters(self, node: Node, states: Collection[str] | None = None) -> bool:
        allowed = self.gate.states if states is None else states
        return node.properties["state_key"] in allowed and self._open(node.ref) and self._holds(node)

    def _fits(self, node: Node) -> bool:
        gate, properties = self.gate, node.properties
        return (not gate.types or properties["type"] in gate.types) and all(
            any(_equal(properties.get(name), value) for value in values)
            for name, values in gate.payload_filter.items()
        )

    def _by_words(self, terms: Terms, states: Collection[str]) -> TextRow:
        wanted = frozenset(terms.tokens)
        hits: list[tuple[Node, list[str]]] = []
        for node in self._atoms():
            text = node.properties["search_text"]
            if node.properties["state_key"] in states and not wanted.isdisjoint(tokens_of(text)):
                lowered = text.lower()
                hits.append((node, [word for word in terms.tokens if word in lowered]))
        counts = {word: sum(word in words for _, words in hits) for word in terms.tokens}
        weighed = [(-_weight(terms.tokens, words, counts), node.ref, node) for node, words in hits]
        ranked = [node for _, _, node in sorted(weighed, key=lambda entry: entry[:2])]
        shown = [node for node in ranked if self._open(node.ref)]
        fits = [node for node in shown if self._fits(node)]
        return TextRow(
            [{"id": n.ref, "state_key": n.properties["state_key"]} for n in fits if self._holds(n)],
            [node.ref for node in fits if not self._holds(node)],
            sum(self._holds(node) for node in shown) - sum(self._holds(node) for node in fits),
            len(hits),
        )

    def _by_name(self, atom_ids: Sequence[str], entity_ids: Sequence[str]) -> list[NamedRow]:
        about: dict[str, list[Node]] = {ref: [] for ref in sorted({*atom_ids, *entity_ids})}
        for ref in atom_ids:
            if ref in self._nodes["atom"]:
                about[ref].append(self._nodes["atom"][ref])
        wanted = set(entity_ids)
        for node in self._atoms() if wanted else ():
            for entity in {entity for _, entity in node.entities} & wanted:
                about[entity].append(node)
        rows: list[NamedRow] = []
        for ref, nodes in about.items():
            entering = [node for node in nodes if self._enters(node) and self._fits(node)]
            entering.sort(key=lambda node: node.ref)
            entering.sort(key=lambda node: node.properties["updated_at"], reverse=True)
            if entering:
                rows.append(NamedRow(ref, [node.ref for node in entering[:ABOUT_MAX]], len(entering)))
        return rows

    def _entities(self, names: Names) -> list[EntityRow]:
        rows: list[EntityRow] = []
        for ref, node in sorted(self._nodes["entity"].items()):
            said = [name for name in node.properties["names"] if name in names.names]
            if said or ref in names.entity_ids:
                rows.append(EntityRow(ref, said, self._sameness.stands_for(ref)))
        return rows

    def _hop(self, ref: str, start: Activation) -> Iterator[tuple[str, Activation]]:
        """The strongest steps from one atom, each with what it passes on."""
        steps = [
            step
            for step in self._steps.get(ref, ())
            if step.edge["relation"] not in _NOT_WALKED
            and step.strength > 0
            and self._enters(self._nodes["atom"][step.other])
        ]
        steps.sort(key=lambda step: (-step.strength, step.other, step.edge["edge_id"]))
        for step in [step for step in steps if step.other != start.seed][: BOUNDS.fan_out]:
            told = {
                "edge_id": step.edge["edge_id"],
                "relation": step.edge["relation"],
                "source": ref,
                "target": step.other,
                "along": step.along,
            }
            passed = start.strength * step.strength * BOUNDS.decay / math.sqrt(len(steps))
            yield step.other, Activation(passed, start.seed, (*start.path, told))


def read_past(tx: Tx, gate: Gate, as_of: int, records_max: int, encoder: Encoder) -> Past:
    """The shard as it was at a version.

    Raises `capacity_limited` when it held more than `records_max` records then.
    """
    rows: list[PastRow] = []
    after = ""
    while True:
        page = tx.many(_PAST, shard=gate.shard, as_of=as_of, kinds=list(_READ), after=after, limit=_PAGE)
        rows += page
        if len(rows) > records_max:
            message = (
                f"this shard held more than {records_max} records then, which is the most that a packet "
                "of the past looks at (AMOS_PAST_RECORDS_MAX)"
            )
            raise AmosError("capacity_limited", message, [Fault("as_of_version", message)])
        if len(page) < _PAGE:
            return Past(gate, rows, encoder, corpus_of(tx, gate, encoder))
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


def _equal(value: Any, wanted: Any) -> bool:
    """Equality as Cypher has it: 1 equals 1.0, and a truth value equals no number."""
    if isinstance(value, bool) is not isinstance(wanted, bool):
        return False
    return value is not None and value == wanted
