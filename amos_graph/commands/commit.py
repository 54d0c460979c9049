"""Commit and propose: atoms, edges, entities, dictionary entries and their evidence in one command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import Field

from amos_graph.commands.capture import Sources, check_sources, listed, stored_sources
from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.refusals import permitted
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.association import AssociationEdge, edge_id
from amos_graph.domain.atoms import JUDGMENT, PROPOSABLE
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.entries import EntityRecord, EnumEntry, RelationEntry
from amos_graph.domain.envelope import CheckedAtom, check_atom
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.ids import RecordKind
from amos_graph.domain.model import ModelT, Strict, validate
from amos_graph.domain.projection import stream_id
from amos_graph.errors import AmosError, invalid
from amos_graph.policy.changing import changes_of, check_uncited
from amos_graph.policy.commit import decide
from amos_graph.policy.conflict import check_expected
from amos_graph.policy.guards import check_judge
from amos_graph.policy.linking import associations
from amos_graph.policy.risk import marked
from amos_graph.policy.submission import Decision, Pending, Submission


class CommitRequest(Strict):
    """What one commit may hold; `atom` is short for a list of one."""

    atom: dict[str, Any] | None = None
    atoms: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    edges: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    entities: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    relations: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    enums: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    #: Source events captured by the same command, so that atoms can cite them.
    events: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])


class ProposeRequest(Strict):
    """Candidates to store as proposals, and the source events that they rest on."""

    candidates: list[dict[str, Any]] = Field(min_length=1)
    events: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])


def commit(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Commit a batch as a whole (`POST /v1/atoms:commit`).

    Raises `schema_invalid`, `scope_denied`, `authorization_denied`, `evidence_denied`, `not_found`,
    `expected_version_conflict` and `idempotency_conflict`.
    """
    asked = validate(CommitRequest, request, depth_max=context.settings.payload_depth_max)
    atoms = {f"atoms[{index}]": atom for index, atom in enumerate(asked.atoms)}
    if asked.atom is not None:
        atoms = {"atom": asked.atom, **atoms}
    return _commit(context, request, asked, atoms, proposing=False)


def propose(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Store candidates as proposals, hidden from ordinary recall (`POST /v1/atoms:propose`).

    Raises as `commit` does.
    """
    asked = validate(ProposeRequest, request, depth_max=context.settings.payload_depth_max)
    candidates = {f"candidates[{index}]": atom for index, atom in enumerate(asked.candidates)}
    return _commit(context, request, CommitRequest(events=asked.events), candidates, proposing=True)


def _commit(
    context: Context,
    request: Mapping[str, Any],
    lists: CommitRequest,
    atoms: Mapping[str, dict[str, Any]],
    *,
    proposing: bool,
) -> Receipt:
    """Commit or propose; `atoms` are named by the place in the request where each stands."""
    _check_counts(context, lists, {"candidates" if proposing else "atoms": len(atoms)})
    sources = check_sources(context, listed(lists.events))
    submission, warnings = _submission(context, lists, atoms, sources, proposing=proposing)
    named = [atom.envelope.id for atom in submission.atoms] + [edge.edge_id for edge in submission.edges]
    entries = (*submission.entities, *submission.relations, *submission.enums)
    command = Command(
        operation="propose_atoms" if proposing else "commit_atoms",
        capability="atom.propose" if proposing else "atom.commit",
        payload=dict(request),
        target_refs=(*(ref for ref in named if ref), *(entry.id for entry in entries)),
        mentions=Mentions(
            refs=tuple(dict.fromkeys([*mentioned(submission), *context.expected_versions])),
            digests=tuple(atom.content_digest for atom in submission.atoms if atom.envelope.id is None),
            digest_states=("proposed",) if proposing else ("active",),
            streams=tuple(sorted(_streams(submission))),
            owners=tuple(atom.envelope.id for atom in submission.atoms if atom.envelope.id),
        ),
    )

    def decided(view: View, moment: Moment) -> Plan:
        edges_max = context.settings.detached_edges_max
        state = read_state(view, context.identity, context.scope, command.mentions, edges_max)
        try:
            check_expected(context.expected_versions, state.visible)
            decision = decide(
                submission, state, now=moment.now, writer=moment.writer, shard_scope=context.scope
            )
        except AmosError as error:
            raise marked(error, state.visible) from None
        check_uncited(context.caller(command.capability), decision)
        changes = list(changes_of(decision, state.visible))
        approvals = permitted(view, context, command, moment, changes)
        plan = plan_of(decision, warnings, proposing=proposing)
        return replace(plan, drafts=(*approvals, *plan.drafts)) if approvals else plan

    # Large payloads are made durable before the transaction that points at them, but for nobody
    # whose command would be refused anyway.
    context.identity.demand(command.capability)
    stored_sources(context, sources)
    return execute(context, command, decided)


def _check_counts(context: Context, lists: CommitRequest, atoms: Mapping[str, int]) -> None:
    settings = context.settings
    limits = {
        **dict.fromkeys(atoms, settings.atoms_max),
        "edges": settings.edges_max,
        "entities": settings.dictionary_max,
        "relations": settings.dictionary_max,
        "enums": settings.dictionary_max,
    }
    others: dict[str, int] = {name: len(getattr(lists, name)) for name in limits if name not in atoms}
    counts = {**others, **atoms}
    for name, limit in limits.items():
        if counts[name] > limit:
            raise invalid(name, f"more than {limit} in one request")
    if not any(counts.values()) and not lists.events:
        raise invalid("", "the request commits nothing")


def _submission(
    context: Context,
    lists: CommitRequest,
    records: Mapping[str, dict[str, Any]],
    sources: Sources,
    *,
    proposing: bool,
) -> tuple[Submission, list[str]]:
    warnings: list[str] = []
    atoms: list[CheckedAtom] = []
    for at, value in records.items():
        guarded = PROPOSABLE if proposing else {JUDGMENT}
        atom, noted = check_atom(value, context.scope, at, guarded=guarded)
        check_judge(context.identity, atom)
        warnings += noted
        context.writable(atom.envelope.scope, f"{at}.scope")
        if len(canonical_bytes(atom.payload_record)) > context.settings.payload_bytes_max:
            raise invalid(f"{at}.payload", f"larger than {context.settings.payload_bytes_max} bytes")
        atoms.append(atom)
    edges = tuple(_parsed(AssociationEdge, lists.edges, "edges"))
    for index, edge in enumerate(edges):
        if edge.scope is not None:
            context.writable(edge.scope, f"edges[{index}].scope")
    entities = tuple(_parsed(EntityRecord, lists.entities, "entities", _own_scope(context)))
    for index, entity in enumerate(entities):
        if entity.scope is None or entity.scope.record() != _own_scope(context)["scope"]:
            raise invalid(f"entities[{index}].scope", "an entity belongs to its whole tenant and workspace")
    submission = Submission(
        atoms=tuple(atoms),
        edges=edges,
        entities=entities,
        relations=tuple(_parsed(RelationEntry, lists.relations, "relations")),
        enums=tuple(_parsed(EnumEntry, lists.enums, "enums")),
        evidence=sources.records,
        evidence_at=sources.places,
        expected_versions=context.expected_versions,
        proposing=proposing,
    )
    return submission, warnings


def _streams(submission: Submission) -> set[str]:
    events = (atom for atom in submission.atoms if atom.envelope.type == "interaction_event")
    return {stream_id(atom.record()) for atom in events}


def _own_scope(context: Context) -> dict[str, Any]:
    """Entities and dictionary entries belong to their whole tenant and workspace."""
    return {
        "scope": {"tenant_id": context.scope.tenant_id, "workspace_id": context.scope.workspace_id},
    }


def _parsed(
    model: type[ModelT],
    values: Sequence[Mapping[str, Any]],
    at: str,
    defaults: Mapping[str, Any] | None = None,
) -> Iterator[ModelT]:
    for index, value in enumerate(values):
        yield validate(model, {**(defaults or {}), **value}, f"{at}[{index}]")


def mentioned(submission: Submission) -> Iterator[str]:
    """Every ref that the decision may look at."""
    for atom in submission.atoms:
        envelope = atom.envelope
        yield envelope.id or atom.derived_id
        yield from envelope.evidence_refs
        for found in atom.payload.references():
            yield found.ref
        record = atom.payload_record
        if record.get("reply_to") and envelope.type == "interaction_event":
            yield record["reply_to"]
        for relation, target in associations(envelope.supersedes, record):
            yield target
            yield edge_id(envelope.id or atom.derived_id, relation, target)
    for edge in submission.edges:
        yield from (edge.source_ref, edge.target_ref, edge.relation, *edge.evidence_refs)
        yield edge.edge_id or edge_id(edge.source_ref, edge.relation, edge.target_ref, edge.scope)
    for entry in (*submission.entities, *submission.relations, *submission.enums):
        yield entry.id
        if isinstance(entry, EntityRecord):
            yield from entry.split_into
            if entry.merged_into:
                yield entry.merged_into
    yield from submission.evidence


@dataclass(frozen=True, slots=True)
class _Group:
    kind: RecordKind
    pending: Mapping[str, Pending]
    created: str
    updated: str
    operation: str


def plan_of(decision: Decision, warnings: Sequence[str], *, proposing: bool) -> Plan:
    """The events, the receipt and the derived state of a decided commit."""
    atom_created = ("atom_proposed", "propose_atom") if proposing else ("atom_committed", "commit_atom")
    groups = (
        _Group("relation", decision.relations, "relation_defined", "relation_defined", "define_relation"),
        _Group("enum", decision.enums, "enum_defined", "enum_defined", "define_enum"),
        _Group("evidence", decision.evidence, "evidence_captured", "evidence_captured", "capture_event"),
        _Group("entity", decision.entities, "entity_committed", "entity_updated", "commit_entity"),
        _Group("atom", decision.atoms, atom_created[0], "atom_updated", atom_created[1]),
        _Group("edge", decision.edges, "edge_committed", "edge_updated", "link_atoms"),
    )
    drafts: list[Draft] = []
    created: list[str] = []
    updated: list[str] = []
    linked: list[str] = []
    reused: list[str] = []
    for group in groups:
        for ref, pending in group.pending.items():
            if not pending.changed:
                reused.append(ref)
                continue
            drafts.append(_draft(group, pending))
            if group.kind == "edge" and _joins_anew(pending):
                linked.append(ref)
            else:
                (updated if pending.before else created).append(ref)
    return Plan(
        drafts=tuple(drafts),
        created=tuple(created),
        updated=tuple(updated),
        linked=tuple(linked),
        reused=tuple(reused),
        warnings=(*warnings, *decision.warnings),
        streams=tuple(decision.streams.values()),
        standing=tuple(decision.standing.items()),
        result={
            "atom_refs": decision.atom_refs,
            "edge_refs": decision.edge_refs,
            "evidence_refs": list(decision.evidence),
        },
    )


def _joins_anew(pending: Pending) -> bool:
    """True for an edge that is active now and was not before."""
    was_active = pending.before is not None and pending.before.body["lifecycle_state"] == "active"
    return pending.body["lifecycle_state"] == "active" and not was_active


#: Fields of a body that the event may repeat: ids and enums, never text.
_SHOWN: Final[Mapping[RecordKind, Mapping[str, str]]] = {
    "atom": {"atom_type": "type", "lifecycle_state": "lifecycle_state"},
    "edge": {"relation": "relation", "source_ref": "source_ref", "target_ref": "target_ref"},
    "evidence": {"source_type": "source_type", "checksum": "checksum"},
}


def _event_type(group: _Group, pending: Pending) -> str:
    """What happened to the record; that an entity became another one or several has a name of its own."""
    if group.kind == "entity":
        before: Mapping[str, Any] = pending.before.body if pending.before else {}
        for name, event_type in (("merged_into", "entity_merged"), ("split_into", "entity_split")):
            if pending.body.get(name) and pending.body[name] != before.get(name):
                return event_type
    return group.updated if pending.before else group.created


def _draft(group: _Group, pending: Pending) -> Draft:
    body = pending.body
    extra = {name: body[field] for name, field in _SHOWN.get(group.kind, {}).items()}
    if group.kind == "atom":
        extra |= {"atom_id": pending.ref, "atom_version": body["version"]}
    archived = body["payload"].get("uri") if group.kind == "evidence" else None
    return Draft(
        event_type=_event_type(group, pending),
        operation=group.operation,
        writes=(Write(group.kind, pending.ref, body["version"], body),),
        evidence_refs=(pending.ref,) if group.kind == "evidence" else tuple(body.get("evidence_refs", ())),
        payload_refs=(archived,) if archived and body["payload"].get("archived") is True else (),
        extra=extra,
    )
