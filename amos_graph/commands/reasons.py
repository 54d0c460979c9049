"""Why a person changed a memory: kept as evidence, since the journal holds no free text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from amos_graph.commands.plan import Context, Moment
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.evidence import SourceEvent, evidence_body, evidence_id
from amos_graph.domain.ids import AtomId
from amos_graph.domain.model import Strict
from amos_graph.domain.state import State

Reason = Annotated[str, Field(min_length=1, max_length=2000)]


class ReasonedRequest(Strict):
    """Which atom, and why; the reason is kept as evidence."""

    atom_id: AtomId
    reason: Reason
    expected_version: int | None = Field(default=None, ge=1)


@dataclass(frozen=True, slots=True)
class Note:
    """A reason as evidence, under the id that its text and its atom give."""

    event: SourceEvent
    ref: str

    def drafts(self, context: Context, state: State, moment: Moment) -> tuple[Draft, ...]:
        """The event that keeps it, unless the same reason was given before."""
        if self.ref in state.visible:
            return ()
        body = evidence_body(self.event, self.ref, context.scope, now=moment.now, writer=moment.writer)
        return (
            Draft(
                event_type="evidence_captured",
                operation="capture_event",
                writes=(Write("evidence", self.ref, 1, body),),
                evidence_refs=(self.ref,),
                extra={name: body[name] for name in ("source_type", "checksum")},
            ),
        )


def note_of(context: Context, asked: ReasonedRequest, source_type: str) -> Note:
    """The reason of a request, as evidence of this type."""
    event = SourceEvent(
        source_type=source_type, source_ref=f"atom:{asked.atom_id}", payload={"reason": asked.reason}
    )
    return Note(event, evidence_id(event, context.scope))
