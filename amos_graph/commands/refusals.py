"""Refusals in the journal: noted when a command is refused, decided by somebody else, used once."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from amos_graph.commands.plan import Command, Context, Decide, Moment, Plan
from amos_graph.commands.state import Mentions
from amos_graph.commands.view import View
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.model import Strict
from amos_graph.domain.refusal import ATTEMPTS_MAX, next_refusal, refusal_body, refusal_id
from amos_graph.errors import AmosError
from amos_graph.policy.changing import Change, check_changes
from amos_graph.policy.reviewing import Choice, is_kept
from amos_graph.policy.risk import OPERATION_RISKS

_log: Final = logging.getLogger(__name__)


class DecideRefusalRequest(Strict):
    """Which refusal, and what is decided of it."""

    refusal_id: str = Field(pattern=r"^rfs_[0-9a-f]{40}$")
    decision: Choice
    expected_version: int | None = Field(default=None, ge=1)


def noting(context: Context, command: Command, error: AmosError) -> tuple[Command, Decide] | None:
    """The command that keeps a refusal in the journal, if it is one of those that are kept."""
    if not is_kept(command.operation, error.code, error.details):
        return None
    ref = _id(context, command)
    bound = context.identity.scope

    def decided(view: View, moment: Moment) -> Plan:
        known = view.records([ref])
        if known:
            before = known[0].body
            if before["attempts"] >= ATTEMPTS_MAX:
                return Plan(reused=(ref,))
            # What was approved and failed again for another reason waits anew.
            again = {"attempts": before["attempts"] + 1, "code": error.code, "status": "open"}
            if before["status"] == "declined" and error.code == "review_required":
                again["status"] = "declined"
            body = next_refusal(before, now=moment.now, writer=moment.writer, **again)
        else:
            body = refusal_body(
                ref,
                code=error.code,
                details=error.details,
                operation=command.operation,
                risk=error.details.get("risk") or OPERATION_RISKS.get(command.operation, "low"),
                client={
                    "client_id": context.identity.client_id,
                    "agent_id": bound.agent_id,
                    "user_id": bound.user_id,
                },
                scope=context.scope.record(),
                payload=command.payload,
                now=moment.now,
                writer=moment.writer,
            )
        draft = refusal_draft("command_rejected", "note_refusal", body)
        return Plan(drafts=(draft,), updated=(ref,) if known else (), created=() if known else (ref,))

    note = Command(
        operation="note_refusal",
        capability=command.capability,
        payload={"refusal_id": ref},
        target_refs=(ref,),
        mentions=Mentions(refs=(ref,)),
    )
    return note, decided


def permitted(
    view: View, context: Context, command: Command, moment: Moment, changes: list[Change]
) -> tuple[Draft, ...]:
    """Judge the changes of a command; where a review is wanted, an approval of this very command is used up.

    Raises as `check_changes` does.
    """
    caller = context.caller(command.capability)
    try:
        check_changes(caller, changes)
    except AmosError as error:
        if error.code != "review_required":
            raise
        approved = [
            record for record in view.records([_id(context, command)]) if record.body["status"] == "approved"
        ]
        if not approved:
            raise
        check_changes(context.caller(command.capability, approved=True), changes)
        body = next_refusal(approved[0].body, now=moment.now, writer=moment.writer, status="used")
        return (refusal_draft("refusal_used", command.operation, body),)
    return ()


def _id(context: Context, command: Command) -> str:
    return refusal_id(command.operation, context.identity.client_id, context.scope.record(), command.payload)


RefusalEvent = Literal["command_rejected", "refusal_decided", "refusal_used"]


def refusal_draft(event_type: RefusalEvent, operation: str, body: Mapping[str, Any]) -> Draft:
    """The event of a refusal at a new version: codes and ids, never what was asked for."""
    return Draft(
        event_type=event_type,
        operation=operation,
        writes=(Write("refusal", body["id"], body["version"], body),),
        extra={
            "refused_operation": body["operation"],
            "reason_code": body["reason_code"],
            "status": body["status"],
            "refused_refs": body["target_refs"],
        },
    )
