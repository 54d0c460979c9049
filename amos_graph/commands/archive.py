"""Archive: out of ordinary recall, kept for audit and history (`POST /v1/atoms:archive`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.evidence import SourceEvent, evidence_body, evidence_id
from amos_graph.domain.ids import AtomId
from amos_graph.domain.model import Strict, validate
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.access import may_read_body
from amos_graph.policy.archiving import archive_writes
from amos_graph.policy.conflict import check_expected


class ArchiveRequest(Strict):
    """Which atom, and why; the reason is kept as evidence, since the journal holds no free text."""

    atom_id: AtomId
    reason: Annotated[str, Field(min_length=1, max_length=2000)]
    expected_version: int | None = Field(default=None, ge=1)


def archive(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Archive one atom; its associative edges are detached in the same transaction.

    Raises `not_found`, `expected_version_conflict`, `schema_invalid` and `authorization_denied`.
    """
    asked = validate(ArchiveRequest, request)
    expected = dict(context.expected_versions)
    if asked.expected_version is not None:
        expected[asked.atom_id] = asked.expected_version
    note = SourceEvent(
        source_type="archive_reason", source_ref=f"atom:{asked.atom_id}", payload={"reason": asked.reason}
    )
    scope, edges_max = context.scope, context.settings.detached_edges_max
    note_ref = evidence_id(note, scope)
    command = Command(
        operation="archive_atom",
        capability="atom.archive",
        payload=dict(request),
        target_refs=(asked.atom_id,),
        mentions=Mentions(refs=(asked.atom_id, note_ref, *expected)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        state = read_state(view, context.identity, scope, command.mentions, edges_max)
        check_expected(expected, state.visible)
        atom = state.visible.get(asked.atom_id)
        if atom is None:
            raise AmosError("not_found", "no such atom", [Fault("atom_id", "no such atom")])
        edges = view.edges_at([atom.ref], ["active"], edges_max)
        writes = archive_writes(atom, edges, now=moment.now, writer=moment.writer)
        drafts: list[Draft] = []
        if note_ref not in state.visible:
            body = evidence_body(note, note_ref, scope, now=moment.now, writer=moment.writer)
            drafts.append(_captured(note_ref, body))
        drafts.append(
            Draft(
                event_type="atom_archived",
                operation="archive_atom",
                writes=tuple(writes),
                evidence_refs=(note_ref,),
                extra={"atom_id": atom.ref, "atom_type": atom.body["type"], "atom_version": atom.version + 1},
            )
        )
        seen = {edge.ref for edge in edges if may_read_body(context.identity, scope, edge.body)}
        return Plan(
            drafts=tuple(drafts),
            created=(note_ref,) if len(drafts) > 1 else (),
            updated=tuple(write.ref for write in writes if write.ref == atom.ref or write.ref in seen),
            result={"atom_refs": [atom.ref], "evidence_refs": [note_ref]},
        )

    receipt = execute(context, command, decided)
    # The copies that packets have of it go before its archiving is acknowledged.
    context.graph.packets.purge(scope.shard, receipt.graph_version)
    return receipt


def _captured(ref: str, body: Mapping[str, Any]) -> Draft:
    return Draft(
        event_type="evidence_captured",
        operation="capture_event",
        writes=(Write("evidence", ref, 1, body),),
        evidence_refs=(ref,),
        extra={name: body[name] for name in ("source_type", "checksum")},
    )
