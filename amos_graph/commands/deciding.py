"""Decide on what was refused: approve it, decline it, or put it aside (`POST /v1/refusals:decide`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.refusals import DecideRefusalRequest, refusal_draft
from amos_graph.commands.state import Mentions
from amos_graph.commands.view import View
from amos_graph.domain.model import validate
from amos_graph.domain.refusal import next_refusal
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.access import may_read_body
from amos_graph.policy.conflict import check_expected
from amos_graph.policy.reviewing import status_after


def decide_refusal(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Decide on a refusal; what was approved may be sent once more by whoever asked, and is done then.

    Raises `not_found`, `schema_invalid`, `authorization_denied` and `expected_version_conflict`.
    """
    asked = validate(DecideRefusalRequest, request)
    ref = asked.refusal_id
    expected, at = context.expecting(ref, asked.expected_version)
    command = Command(
        operation="decide_refusal",
        capability="review.decide",
        payload=dict(request),
        target_refs=(ref,),
        mentions=Mentions(refs=(ref, *expected)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        seen = {
            record.ref: record
            for record in view.records(command.mentions.refs)
            if record.kind == "refusal" and may_read_body(context.identity, context.scope, record.body)
        }
        check_expected(expected, seen, at)
        found = seen.get(ref)
        if found is None:
            raise AmosError("not_found", "no such refusal", [Fault("refusal_id", "no such refusal")])
        body = next_refusal(
            found.body,
            now=moment.now,
            writer=moment.writer,
            status=status_after(found.body, asked.decision, context.identity),
            decision=asked.decision,
            decided_by=context.identity.client_id,
        )
        return Plan(
            drafts=(refusal_draft("refusal_decided", "decide_refusal", body),),
            updated=(ref,),
            result={"refusal_id": ref, "status": body["status"]},
        )

    return execute(context, command, decided)
