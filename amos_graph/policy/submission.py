"""What a commit brings, what it sees, and what becomes of each record: the data of its decision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from amos_graph.domain.association import AssociationEdge
from amos_graph.domain.dictionary import RELATIONS
from amos_graph.domain.entries import EntityRecord, EnumEntry, RelationEntry
from amos_graph.domain.envelope import CheckedAtom
from amos_graph.domain.evidence import SourceEvent
from amos_graph.domain.scope import Scope
from amos_graph.domain.score import NUMBERS
from amos_graph.domain.state import Current, State
from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.policy.conflict import version_conflict

#: Fields that the kernel sets; they do not count when two records are compared for being the same.
_KERNEL: Final = frozenset({"version", "created_at", "updated_at", "last_writer"})


@dataclass(frozen=True, slots=True)
class Submission:
    """Everything that one commit brings, validated."""

    atoms: tuple[CheckedAtom, ...] = ()
    edges: tuple[AssociationEdge, ...] = ()
    entities: tuple[EntityRecord, ...] = ()
    relations: tuple[RelationEntry, ...] = ()
    enums: tuple[EnumEntry, ...] = ()
    #: Evidence id → the source event that it records (its payload archived where it is large), and its scope.
    evidence: Mapping[str, tuple[SourceEvent, Scope]] = field(
        default_factory=dict[str, tuple[SourceEvent, Scope]]
    )
    #: Evidence id → where in the request its event stands.
    evidence_at: Mapping[str, str] = field(default_factory=dict[str, str])
    expected_versions: Mapping[str, int] = field(default_factory=dict[str, int])
    #: Proposals are stored without edges, and nothing ordinary makes them active.
    proposing: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """A record on its way: its body so far, what it replaces, and where the request asked for it."""

    ref: str
    body: Mapping[str, Any]
    before: Current | None
    at: str
    changed: bool = True


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of a commit, record by record and in input order."""

    evidence: dict[str, Pending] = field(default_factory=dict[str, Pending])
    entities: dict[str, Pending] = field(default_factory=dict[str, Pending])
    relations: dict[str, Pending] = field(default_factory=dict[str, Pending])
    enums: dict[str, Pending] = field(default_factory=dict[str, Pending])
    atoms: dict[str, Pending] = field(default_factory=dict[str, Pending])
    edges: dict[str, Pending] = field(default_factory=dict[str, Pending])
    #: The ref that each atom and each edge of the input ended at.
    atom_refs: list[str] = field(default_factory=list[str])
    edge_refs: list[str] = field(default_factory=list[str])
    #: Stream id → row of cypher/project/stream.
    streams: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    #: Atoms whose supersession may change → the state key that they have without it.
    standing: dict[str, str] = field(default_factory=dict[str, str])
    #: What the request said and the commit does not do, for the receipt.
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Case:
    """One commit under decision."""

    submission: Submission
    state: State
    now: str
    writer: str
    #: Tenant and workspace, where entities and dictionary entries live.
    shard_scope: Scope
    decision: Decision = field(default_factory=Decision)

    def atom_body(self, ref: str) -> Mapping[str, Any] | None:
        """An atom as it will stand after this commit, if the caller may see it."""
        pending = self.decision.atoms.get(ref)
        if pending is not None:
            return pending.body
        stored = self.state.visible.get(ref)
        return stored.body if stored is not None and stored.kind == "atom" else None

    def check_evidence(self, refs: Sequence[str], at: str) -> None:
        """Raise `evidence_denied` unless every ref is visible evidence; absent and hidden look alike."""
        missing = [
            Fault(f"{at}[{index}]", "no such evidence")
            for index, ref in enumerate(refs)
            if ref not in self.decision.evidence and ref not in self.state.visible
        ]
        if missing:
            raise AmosError("evidence_denied", f"{missing[0].path}: no such evidence", missing)

    def relation(self, ref: str, at: str) -> tuple[str, float]:
        """Kind and spread weight of a defined relation. Raises `schema_invalid` for an unknown one."""
        built_in = RELATIONS.get(ref)
        if built_in is not None:
            return built_in.kind, built_in.spread_weight
        pending = self.decision.relations.get(ref)
        stored = self.state.visible.get(ref)
        known = pending.body if pending else stored.body if stored else None
        if known is None:
            raise invalid(at, f"{ref} is not in the dictionary; define it first or in the same commit")
        if known.get("deprecation_state") == "deprecated":
            warning = f"{at}: {ref} is deprecated"
            if warning not in self.decision.warnings:
                self.decision.warnings.append(warning)
        return known["kind"], float(known["spread_weight"])

    def stamped(self, body: Mapping[str, Any], before: Current | None) -> dict[str, Any]:
        """A body with the fields that the kernel owns."""
        return {
            **body,
            "version": before.version + 1 if before else 1,
            "created_at": before.body["created_at"] if before else body.get("created_at") or self.now,
            "updated_at": self.now,
            "last_writer": self.writer,
        }

    def replace(
        self, ref: str, body: Mapping[str, Any], before: Current | None, at: str, stated: int | None
    ) -> Pending:
        """A record under an id of the caller's: new, unchanged, or the next version of what stands there.

        Raises `expected_version_conflict` unless the caller knows the version that it replaces.
        """
        if before is None:
            if stated not in (None, 0, 1):
                raise version_conflict(at, ref, stated, 0, None)
            return Pending(ref, self.stamped(body, None), None, at)
        if content(body) == content(before.body):
            return Pending(ref, before.body, before, at, changed=False)
        expected = self.submission.expected_versions.get(ref, stated)
        if expected != before.version:
            raise version_conflict(at, ref, expected, before.version, before.event_id)
        return Pending(ref, self.stamped(body, before), before, at)

    def with_evidence(self, pending: Pending, refs: Iterable[str], **changes: Any) -> Pending:
        """A record with further evidence; a new version only if there is something new."""
        known = pending.body["evidence_refs"]
        added = [ref for ref in dict.fromkeys(refs) if ref not in known]
        if not added and all(pending.body[name] == value for name, value in changes.items()):
            return pending
        body = {**pending.body, **changes, "evidence_refs": [*known, *added]}
        return Pending(pending.ref, self.stamped(body, pending.before), pending.before, pending.at)

    def with_moved(
        self, body: Mapping[str, Any], before: Current, given: Collection[str]
    ) -> Mapping[str, Any]:
        """The body with the numbers that outcomes may move as they are, unless the request states others.

        A number that is left out, or is the one that the record stated before it was moved, says nothing
        new: so a source that is loaded again changes nothing. A weight that is left out is the relation's,
        whatever that is by now, unless outcomes moved it.
        """

        def says_nothing(name: str) -> bool:
            if name in given:
                return body[name] == before.stated.get(name)
            return before.kind == "atom" or name in before.stated

        kept = {name: before.body[name] for name in NUMBERS if name in body and says_nothing(name)}
        return {**body, **kept}

    def refuse_hidden(self, ref: str, at: str, stated: int | None = None) -> None:
        """Raise a conflict that tells nothing when an id is taken by a record the caller may not see."""
        if ref not in self.state.hidden:
            return
        if stated not in (None, 0, 1):
            # Word for word what an id that nobody took answers to a stated version (T20).
            raise version_conflict(at, ref, stated, 0, None)
        expected = self.submission.expected_versions.get(ref)
        raise version_conflict(at, ref, expected, 0, None, action="review")


def content(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says, without what the kernel notes about it."""
    return {name: value for name, value in body.items() if name not in _KERNEL}
