"""The rules of a commit and of a proposal, stated once more for the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from amos_graph.domain.association import edge_id
from amos_graph.domain.envelope import check_atom
from tests.machine.model import (
    CONFLICT,
    INVALID,
    NO_EVIDENCE,
    NOT_FOUND,
    PROVENANCE,
    SUPERSEDES,
    WEIGHTS,
    Accepted,
    Call,
    Json,
    State,
)

if TYPE_CHECKING:
    from tests.machine.model import Model

#: What an atom says, apart from its state and version.
_SAID: Final = ("type", "payload", "evidence_refs", "score", "health", "supersedes")


class Committing:
    """One commit: `before` is the shard as it stands, `draft` as the commit will leave it."""

    def __init__(self, model: Model, draft: State, call: Call, answer: Accepted) -> None:
        self.model, self.before, self.draft = model, model.state, draft
        self.call, self.answer = call, answer
        self.request = call.request
        self.wanted = "proposed" if call.operation == "propose" else "active"
        self.found: set[str] = set()
        #: Atoms that the request touched, in its order.
        self.touched: list[str] = []

    def faults(self) -> set[str]:
        """Work the request into the draft; every fault that was met on the way."""
        self.found |= self.model.sources(self.request.get("events", ()), self.answer)
        self._dictionary("relations", self._relation)
        self._dictionary("entities", self._entity)
        values = self.request.get("atoms", self.request.get("candidates", []))
        self.answer.atom_refs = [ref for value in values for ref in self._atom(value)]
        for value in values:
            self._references(value)
        if self.wanted == "active":
            self._streams()
            for ref in self.touched:
                if self._changed(ref):
                    self._own_edges(ref)
        edges = self.request.get("edges", ())
        self.answer.edge_refs = [ref for edge in edges for ref in self._submitted(edge)]
        return self.found

    def _changed(self, ref: str) -> bool:
        record = {name: value for name, value in self.draft.atoms[ref].items() if name != "touched"}
        return self.before.atoms.get(ref) != record

    def _may_replace(self, ref: str, stated: int | None, version: int) -> bool:
        """Whoever replaces a record names the version that it replaces; a new one has none."""
        if version == 0:
            return stated in (None, 0, 1)
        return self.call.expected.get(ref, stated) == version

    # --- dictionaries ------------------------------------------------------------------------

    def _dictionary(self, kind: str, content_of: Any) -> None:
        records: dict[str, Json] = getattr(self.draft, kind)
        named: set[str] = set()
        for entry in self.request.get(kind, ()):
            ref, content = entry["id"], content_of(entry)
            if ref in named:
                self.found.add(INVALID)
            named.add(ref)
            old = records.get(ref)
            version = old["version"] if old else 0
            same = old is not None and {**content, "version": version} == old
            if not same and not self._may_replace(ref, entry.get("version"), version):
                self.found.add(CONFLICT)
            records[ref] = {**content, "version": version, "touched": True}

    def _relation(self, entry: Mapping[str, Any]) -> Json:
        return {"description": entry["description"], "weight": entry["spread_weight"]}

    def _entity(self, entry: Mapping[str, Any]) -> Json:
        into, parts = entry.get("merged_into"), entry.get("split_into", [])
        for ref in [*parts, *([into] if into else [])]:
            other = self.draft.entities.get(ref)
            if other is None:
                self.found.add(NOT_FOUND)
            elif other["merged_into"] or other["split_into"]:
                self.found.add(INVALID)
        return {"aliases": entry.get("aliases", []), "merged_into": into, "split_into": parts}

    # --- atoms -------------------------------------------------------------------------------

    def _atom(self, value: Json) -> Iterator[str]:
        if any(ref not in self.draft.evidence for ref in value["evidence_refs"]):
            self.found.add(NO_EVIDENCE)
        ref = value.get("id") or self._holder(value)
        if ref is None:
            ref = check_atom(value, self.model.scope)[0].derived_id
        elif "id" in value and ref in self.touched:
            self.found.add(INVALID)
        atom = self.draft.atoms.get(ref)
        if atom is None:
            if not self._may_replace(ref, value.get("version"), 0):
                self.found.add(CONFLICT)
            self.draft.atoms[ref] = {**_said(value), "state": self.wanted, "version": 0, "touched": True}
        elif "id" in value:
            self._replace(ref, atom, value)
        else:
            self._add_evidence(atom, value)
        self.draft.atoms[ref]["touched"] = True
        if ref not in self.touched:
            self.touched.append(ref)
        yield ref

    def _holder(self, value: Json) -> str | None:
        """The live atom that says this already: the first one stored, else one of this very request."""

        def says(ref: str, state: State) -> bool:
            atom = state.atoms[ref]
            said = (atom["type"], atom["payload"], atom["state"])
            return said == (value["type"], value["payload"], self.wanted) and not self.before.successors(ref)

        stored = min((ref for ref in self.before.atoms if says(ref, self.before)), default=None)
        if stored is not None and says(stored, self.draft):
            return stored
        return next((ref for ref in self.touched if says(ref, self.draft)), None)

    def _add_evidence(self, atom: Json, value: Json) -> None:
        """Said again: further evidence is added; what was put away or says something else stays."""
        known = set(atom["evidence_refs"])
        same = (atom["type"], atom["payload"]) == (value["type"], value["payload"])
        # A proposal of what is active already changes nothing.
        nothing_new = atom["state"] == "active" and known >= set(value["evidence_refs"])
        if not same or not (atom["state"] == self.wanted or nothing_new):
            self.found.add(CONFLICT)
        added = [ref for ref in dict.fromkeys(value["evidence_refs"]) if ref not in known]
        atom["evidence_refs"] = [*atom["evidence_refs"], *added]

    def _replace(self, ref: str, atom: Json, value: Json) -> None:
        said = _said(value)
        if {name: atom[name] for name in _SAID} == said and atom["state"] == self.wanted:
            return
        other_type = atom["type"] != value["type"]
        if atom["state"] != self.wanted or other_type or atom["type"] == "interaction_event":
            self.found.add(INVALID)
        if not self._may_replace(ref, value.get("version"), atom["version"]):
            self.found.add(CONFLICT)
        atom.update(said)

    def _references(self, value: Json) -> None:
        """Entities come with the atoms that name them; relations must be there."""
        for relation, _ in _asked(value):
            if relation not in WEIGHTS and relation not in self.draft.relations:
                self.found.add(INVALID)
        named = (value["payload"].get(name) for name in ("subject", "object", "actor"))
        for ref in named:
            if ref is not None and ref.startswith("ent:"):
                new: Json = {"aliases": [], "merged_into": None, "split_into": [], "by_name": True}
                self.draft.entities.setdefault(ref, {**new, "version": 0})["touched"] = True

    def _streams(self) -> None:
        """A conversation grows by one event after the other."""
        for ref in self.touched:
            atom = self.draft.atoms[ref]
            if atom["type"] != "interaction_event" or ref in self.before.atoms:
                continue
            payload = atom["payload"]
            conversation = payload["conversation_id"]
            if payload["sequence"] != self.draft.streams.get(conversation, 0) + 1:
                self.found.add(CONFLICT)
            self.draft.streams[conversation] = payload["sequence"]

    # --- edges -------------------------------------------------------------------------------

    def _own_edges(self, ref: str) -> None:
        """The edges that the atom's record asks for now; those that it asked for before are archived."""
        atom = self.draft.atoms[ref]
        wanted: set[str] = set()
        for relation, target in _asked(atom):
            wanted.add(edge_ref := edge_id(ref, relation, target))
            stored = self.before.edges.get(edge_ref)
            if stored and stored["state"] == "detached":
                continue
            if ref == target:
                self.found.add(INVALID)
            derivation = "supersedes" if relation == SUPERSEDES else "graph_relations"
            self._edge(edge_ref, (ref, relation, target), atom["evidence_refs"], atom["score"], derivation)
        for edge_ref, stored in self.before.edges.items():
            own = stored["source_ref"] == ref and stored["derivation"] != "submitted"
            if own and stored["state"] in ("active", "detached") and edge_ref not in wanted:
                self.draft.edges[edge_ref].update(state="archived", touched=True)

    def _submitted(self, edge: Json) -> Iterator[str]:
        joins = (edge["source_ref"], edge["relation"], edge["target_ref"])
        evidence = edge.get("evidence_refs", [])
        if any(ref not in self.draft.evidence for ref in evidence):
            self.found.add(NO_EVIDENCE)
        ref = edge_id(*joins)
        self._edge(ref, joins, evidence, edge["confidence"]["score"], "submitted")
        yield ref

    def _edge(
        self, ref: str, joins: tuple[str, str, str], evidence: list[str], score: float, derivation: str
    ) -> None:
        source, relation, target = joins
        self._ends(source, relation, target)
        if relation == SUPERSEDES:
            self._succession(ref, source, target)
        known = self.draft.relations.get(relation)
        weight = known["weight"] if known else WEIGHTS.get(relation)
        if weight is None:
            self.found.add(INVALID)
        edge: Json | None = self.draft.edges.get(ref)
        if edge is None:
            edge = {
                "source_ref": source,
                "relation": relation,
                "target_ref": target,
                "evidence_refs": [],
                "derivation": derivation,
                "score": score,
                "weight": weight,
                "version": 0,
            }
            self.draft.edges[ref] = edge
        elif "submitted" in (derivation, edge["derivation"]):
            # What somebody submitted is theirs, whatever an atom's own record asks for.
            edge["derivation"] = "submitted"
        elif not edge.get("touched"):
            edge.update(score=score, weight=weight, derivation=derivation)
        edge["evidence_refs"] = list(dict.fromkeys([*edge["evidence_refs"], *evidence]))
        edge.update(state="active", touched=True)

    def _ends(self, source: str, relation: str, target: str) -> None:
        for ref in (source, target):
            atom = self.draft.atoms.get(ref)
            if atom is None:
                self.found.add(NOT_FOUND)
            elif atom["state"] == "proposed" or (atom["state"] != "active" and relation not in PROVENANCE):
                self.found.add(INVALID)

    def _succession(self, ref: str, source: str, target: str) -> None:
        """One successor at a time, no circles, and what is superseded supersedes nothing."""
        stored = self.before.edges.get(ref)
        if stored and stored["state"] == "active":
            return
        others = {*self.before.successors(target), *self.draft.successors(target)} - {source}
        if others:
            self.found.add(CONFLICT)
        if self.before.successors(source) or self._leads_to(target, source):
            self.found.add(INVALID)

    def _leads_to(self, start: str, goal: str) -> bool:
        reached, pending = {start}, [start]
        while pending:
            current = pending.pop()
            for edge in self.draft.edges.values():
                follows = (edge["relation"], edge["source_ref"], edge["state"])
                if follows == (SUPERSEDES, current, "active") and edge["target_ref"] not in reached:
                    reached.add(edge["target_ref"])
                    pending.append(edge["target_ref"])
        return goal in reached


def _said(value: Json) -> Json:
    return {
        "type": value["type"],
        "payload": value["payload"],
        "evidence_refs": list(dict.fromkeys(value["evidence_refs"])),
        "score": value["confidence"]["score"],
        "health": value.get("health_status", "healthy"),
        "supersedes": value.get("supersedes", []),
    }


def _asked(atom: Json) -> Iterator[tuple[str, str]]:
    """Relation and target of each edge that an atom's own record asks for."""
    for target in atom.get("supersedes", ()):
        yield SUPERSEDES, target
    for relation in atom["payload"].get("graph_relations", ()):
        yield relation["relation"], relation["target_ref"]
