"""Out of ordinary recall and back: `POST /v1/atoms:archive` and `POST /v1/atoms:restore`.

What is archived is kept for audit and history. Restoring undoes it, edges included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.refusals import permitted
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.evidence import SourceEvent, evidence_body, evidence_id
from amos_graph.domain.ids import AtomId
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.projection import state_key
from amos_graph.domain.state import Current
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.access import may_read_body
from amos_graph.policy.archiving import archive_writes, restore_writes
from amos_graph.policy.changing import Change
from amos_graph.policy.conflict import check_expected

Reason = Annotated[str, Field(min_length=1, max_length=2000)]


class ArchiveRequest(Strict):
    """Which atom, and why; the reason is kept as evidence, since the journal holds no free text."""

    atom_id: AtomId
    reason: Reason
    expected_version: int | None = Field(default=None, ge=1)


class RestoreRequest(ArchiveRequest):
    """Which archived atom is to be active again, and why; the reason is kept as evidence."""


@dataclass(frozen=True, slots=True)
class _Move:
    """One of the two ways, and what it does to the atom and the edges at it."""

    operation: str
    event_type: str
    #: The type of the evidence that keeps the reason.
    reason_type: str
    #: The state of the edges that go along.
    edges_in: str
    writes: Callable[[View, Current, list[Current], Moment], list[Write]]


def archive(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Archive one atom; its associative edges are detached in the same transaction.

    Raises `not_found`, `expected_version_conflict`, `schema_invalid` and `authorization_denied`.
    """
    return _moved(context, request, validate(ArchiveRequest, request), _ARCHIVE)


def restore(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Make an archived atom active; edges that were detached are attached where both ends are active.

    Raises `not_found`, `expected_version_conflict`, `schema_invalid` and `authorization_denied`.
    """
    return _moved(context, request, validate(RestoreRequest, request), _RESTORE)


def _archived(_view: View, atom: Current, edges: list[Current], moment: Moment) -> list[Write]:
    return archive_writes(atom, edges, now=moment.now, writer=moment.writer)


def _restored(view: View, atom: Current, edges: list[Current], moment: Moment) -> list[Write]:
    ends = {edge.body[end] for edge in edges for end in ("source_ref", "target_ref")} - {atom.ref}
    active = {end.ref for end in view.records(sorted(ends)) if end.body["lifecycle_state"] == "active"}
    return restore_writes(atom, edges, active, now=moment.now, writer=moment.writer)


_ARCHIVE: Final = _Move("archive_atom", "atom_archived", "archive_reason", "active", _archived)
_RESTORE: Final = _Move("restore_atom", "atom_restored", "restore_reason", "detached", _restored)


def _moved(context: Context, request: Mapping[str, Any], asked: ArchiveRequest, move: _Move) -> Receipt:
    expected, at = dict(context.expected_versions), dict[str, str]()
    if asked.expected_version is not None:
        expected[asked.atom_id] = asked.expected_version
        at[asked.atom_id] = "expected_version"
    note = SourceEvent(
        source_type=move.reason_type, source_ref=f"atom:{asked.atom_id}", payload={"reason": asked.reason}
    )
    scope, edges_max = context.scope, context.settings.detached_edges_max
    note_ref = evidence_id(note, scope)
    command = Command(
        operation=move.operation,
        capability="atom.archive",
        payload=dict(request),
        target_refs=(asked.atom_id,),
        mentions=Mentions(refs=(asked.atom_id, note_ref, *expected)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        state = read_state(view, context.identity, scope, command.mentions, edges_max)
        check_expected(expected, state.visible, at)
        atom = state.visible.get(asked.atom_id)
        if atom is None:
            raise AmosError("not_found", "no such atom", [Fault("atom_id", "no such atom")])
        approvals = permitted(view, context, command, moment, [Change("atom_id", atom, "medium")])
        edges = view.edges_at([atom.ref], [move.edges_in], edges_max)
        writes = move.writes(view, atom, edges, moment)
        drafts: list[Draft] = [*approvals]
        if note_ref not in state.visible:
            body = evidence_body(note, note_ref, scope, now=moment.now, writer=moment.writer)
            drafts.append(captured(note_ref, body))
        drafts.append(
            Draft(
                event_type=move.event_type,
                operation=move.operation,
                writes=tuple(writes),
                evidence_refs=(note_ref,),
                extra={"atom_id": atom.ref, "atom_type": atom.body["type"], "atom_version": atom.version + 1},
            )
        )
        seen = {edge.ref for edge in edges if may_read_body(context.identity, scope, edge.body)}
        return Plan(
            drafts=tuple(drafts),
            created=() if note_ref in state.visible else (note_ref,),
            updated=tuple(write.ref for write in writes if write.ref == atom.ref or write.ref in seen),
            standing=_standing(writes[0]),
            result={"atom_refs": [atom.ref], "evidence_refs": [note_ref]},
        )

    receipt = execute(context, command, decided)
    # The copies that packets have of it go before its archiving is acknowledged.
    context.graph.packets.purge(scope.shard, receipt.graph_version)
    return receipt


def _standing(atom: Write) -> tuple[tuple[str, str], ...]:
    """What is to be worked out anew: whether something superseded a restored atom, only the graph tells."""
    state = atom.body["lifecycle_state"]
    if state != "active":
        return ()
    return ((atom.ref, state_key(state, atom.body["health_status"], superseded=False)),)


def captured(ref: str, body: Mapping[str, Any]) -> Draft:
    """The event that keeps a reason as evidence."""
    return Draft(
        event_type="evidence_captured",
        operation="capture_event",
        writes=(Write("evidence", ref, 1, body),),
        evidence_refs=(ref,),
        extra={name: body[name] for name in ("source_type", "checksum")},
    )
