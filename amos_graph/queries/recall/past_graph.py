"""What a shard held at a version, in memory: its records, what joins them, and what the gate lets in.

Records are projected from their bodies by the same pure functions as ever. `past.py` asks this graph by
the rules of the statements of `cypher/recall/`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from amos_graph.domain.canonical import canonical_text
from amos_graph.domain.projection import Node, project
from amos_graph.domain.sameness import Sameness
from amos_graph.domain.score import numbers_of, with_numbers
from amos_graph.queries.recall.candidates import Gate, filtered

_KINDS: Final = ("atom", "edge", "entity", "evidence")
#: The kinds of records that are read for it; scores stand in the records that they are of.
READ: Final = (*_KINDS, "score")


@dataclass(frozen=True, slots=True)
class PastRow:
    ref: str
    kind: str
    body: str | None
    event_id: str | None
    access_class: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """An association as seen from one of its ends."""

    other: str
    strength: float
    edge: Mapping[str, Any]
    along: bool


class PastGraph:
    """The nodes of a shard at a version, as far as the caller may see them."""

    def __init__(self, gate: Gate, rows: Sequence[PastRow]) -> None:
        scores: dict[str, Mapping[str, Any]] = {}
        for row in rows:
            if row.kind == "score" and row.body is not None:
                score = json.loads(row.body)
                scores[score["of_ref"]] = score
        self.bodies: dict[str, tuple[str, str]] = {}
        self.nodes: dict[str, dict[str, Node]] = {kind: {} for kind in _KINDS}
        #: Those of which the caller may know what they rest on.
        self.cited: set[str] = set()
        seen, cited = set(gate.classes), set(gate.cited)
        for row in rows:
            if row.body is None or row.kind not in _KINDS:
                continue
            body = json.loads(row.body)
            known = with_numbers(body, numbers_of(scores.get(row.ref), body["version"]))
            node = project(row.kind, gate.shard, known, row.event_id or "")  # pyright: ignore[reportArgumentType]
            readable = node.properties.get("access_class") in seen and row.access_class in seen
            if readable and {node.properties.get("access_class"), row.access_class} <= cited:
                self.cited.add(row.ref)
            if row.kind == "entity" or readable:
                self.nodes[row.kind][row.ref] = node
                text = row.body if known is body else canonical_text(known)
                self.bodies[row.ref] = (text, row.event_id or "")
        self.sameness = Sameness.of(node.properties for node in self.nodes["entity"].values())
        self.gate = gate = filtered(gate, self.sameness.stands_for)
        self._supersede()
        self._speaking: dict[str, set[str]] = {}
        for ref in self.nodes["atom"]:
            for key in self.spoken_of(ref):
                self._speaking.setdefault(key, set()).add(ref)
        self._joined: dict[str, set[str]] = {}
        for node in self.nodes["entity"].values():
            into = node.properties.get("merged_into")
            for other in (*node.names, *((into,) if into in self.nodes["entity"] else ())):
                self._joined.setdefault(node.ref, set()).add(other)
                self._joined.setdefault(other, set()).add(node.ref)
        self.steps: dict[str, list[Step]] = {}
        for node in self.nodes["edge"].values():
            self._join(node)

    def atoms(self) -> Iterator[Node]:
        """Every atom that the caller may see."""
        return iter(self.nodes["atom"].values())

    def spoken_of(self, ref: str) -> frozenset[str]:
        """The names in an atom's text and the entities that it refers to."""
        node = self.nodes["atom"].get(ref)
        if node is None:
            return frozenset()
        return frozenset({*(mention.name for mention in node.mentions), *(ent for _, ent in node.entities)})

    def entering(self) -> list[Node]:
        """The atoms that may enter and pass the request's own filters."""
        return [node for node in self.atoms() if self.enters(node) and self.fits(node)]

    def speakers(self, key: str) -> list[str]:
        """The atoms that may enter and speak of a name or an entity, or of what it is joined to."""
        found = {ref for each in self._alike(key) for ref in self._speaking.get(each, ())}
        return [ref for ref in sorted(found) if self.enters(self.nodes["atom"][ref])]

    def _alike(self, key: str) -> frozenset[str]:
        """A name or an entity, with what it is joined to in two steps: names of entities, and merges."""
        same, level = {key}, {key}
        for _ in range(2):
            level = {other for each in level for other in self._joined.get(each, ())} - same
            same |= level
        return frozenset(same)

    def shown(self, ref: str, relations: Collection[str]) -> list[Step]:
        """The steps over some relations to atoms that may be shown, by edge."""
        steps = [s for s in self.steps.get(ref, ()) if s.edge["relation"] in relations]
        return sorted((s for s in steps if self.open(s.other)), key=lambda step: step.edge["edge_id"])

    def open(self, ref: str) -> bool:
        """Whether an atom may be shown beside another: private ones only to the processor they name."""
        properties = self.nodes["atom"][ref].properties
        return (
            properties["health_status"] != "privacy_sensitive"
            or properties["access_class"] in self.gate.targeted
        )

    def holds(self, node: Node) -> bool:
        """Whether an atom holds at the gate's instant."""
        begins, ends = node.properties.get("valid_from"), node.properties.get("valid_until")
        if node.properties["state_key"] == "superseded":
            # At an instant that was asked for, what was superseded since is told only if it held then.
            if not self.gate.then:
                return True
            if begins is None and ends is None:
                return False
        return (begins is None or begins <= self.gate.at) and (ends is None or self.gate.at < ends)

    def enters(self, node: Node) -> bool:
        """Whether an atom may be in the packet at all, but for the request's own filters."""
        return node.properties["state_key"] in self.gate.states and self.open(node.ref) and self.holds(node)

    def fits(self, node: Node) -> bool:
        """Whether an atom passes the request's own filters."""
        gate, properties = self.gate, node.properties
        return (not gate.types or properties["type"] in gate.types) and all(
            any(_equal(properties.get(name), value) for value in values)
            for name, values in gate.payload_filter.items()
        )

    def _supersede(self) -> None:
        """Give the atoms that were superseded then their standing of then."""
        atoms = self.nodes["atom"]
        for node in self.nodes["edge"].values():
            edge, target = node.properties, atoms.get(node.properties["target_ref"])
            if edge["relation"] != "rel:supersedes" or node.relationship is None or target is None:
                continue
            if target.properties["lifecycle_state"] == "active":
                properties = {**target.properties, "state_key": "superseded"}
                atoms[target.ref] = replace(target, properties=properties)

    def _join(self, node: Node) -> None:
        """Enter an active association at both of its ends, if the caller may see them."""
        edge, atoms = node.properties, self.nodes["atom"]
        source, target = edge["source_ref"], edge["target_ref"]
        if node.relationship is None or source not in atoms or target not in atoms:
            return
        strength = node.relationship.properties["weight"] * node.relationship.properties["confidence"]
        self.steps.setdefault(source, []).append(Step(target, strength, edge, along=True))
        self.steps.setdefault(target, []).append(Step(source, strength, edge, along=False))


def _equal(value: Any, wanted: Any) -> bool:
    """Equality as Cypher has it: 1 equals 1.0, and a truth value equals no number."""
    if isinstance(value, bool) is not isinstance(wanted, bool):
        return False
    return value is not None and value == wanted
