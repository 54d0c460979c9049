"""Out of ordinary recall and back: `POST /v1/atoms:archive` and `POST /v1/atoms:restore`.

What is archived is kept for audit and history. Restoring undoes it, edges included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.reasons import ReasonedRequest, note_of
from amos_graph.commands.refusals import permitted
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.model import validate
from amos_graph.domain.projection import state_key
from amos_graph.domain.state import Current
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.access import may_read_body
from amos_graph.policy.archiving import archive_writes, restore_writes
from amos_graph.policy.changing import Change
from amos_graph.policy.conflict import check_expected
from amos_graph.policy.risk import OPERATION_RISKS


class ArchiveRequest(ReasonedRequest):
    """Which atom is to be put away, and why; the reason is kept as evidence."""


class RestoreRequest(ReasonedRequest):
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


def _moved(context: Context, request: Mapping[str, Any], asked: ReasonedRequest, move: _Move) -> Receipt:
    expected, at = context.expecting(asked.atom_id, asked.expected_version)
    note = note_of(context, asked, move.reason_type)
    scope, edges_max = context.scope, context.settings.detached_edges_max
    command = Command(
        operation=move.operation,
        capability="atom.archive",
        payload=dict(request),
        target_refs=(asked.atom_id,),
        mentions=Mentions(refs=(asked.atom_id, note.ref, *expected)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        state = read_state(view, context.identity, scope, command.mentions, edges_max)
        check_expected(expected, state.visible, at)
        atom = state.visible.get(asked.atom_id)
        if atom is None:
            raise AmosError("not_found", "no such atom", [Fault("atom_id", "no such atom")])
        change = Change("atom_id", atom, OPERATION_RISKS[move.operation])
        approvals = permitted(view, context, command, moment, [change])
        edges = view.edges_at([atom.ref], [move.edges_in], edges_max)
        writes = move.writes(view, atom, edges, moment)
        reasons = note.drafts(context, state, moment)
        moved = Draft(
            event_type=move.event_type,
            operation=move.operation,
            writes=tuple(writes),
            evidence_refs=(note.ref,),
            extra={"atom_id": atom.ref, "atom_type": atom.body["type"], "atom_version": atom.version + 1},
        )
        seen = {edge.ref for edge in edges if may_read_body(context.identity, scope, edge.body)}
        return Plan(
            drafts=(*approvals, *reasons, moved),
            created=(note.ref,) if reasons else (),
            updated=tuple(write.ref for write in writes if write.ref == atom.ref or write.ref in seen),
            standing=_standing(writes[0]),
            result={"atom_refs": [atom.ref], "evidence_refs": [note.ref]},
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
