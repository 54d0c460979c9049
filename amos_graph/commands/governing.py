"""What people decide of a memory beside what it says: who may see and change it, and how long it is kept.

Pinning is the retention class `user_pinned`; constraining is an access policy. Source: spec,
"User interface", "AccessPolicy", "change access policy or retention class".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import model_validator

from amos_graph.commands.commit import mentioned, plan_of
from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.reasons import ReasonedRequest, note_of
from amos_graph.commands.refusals import permitted
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.envelope import check_atom
from amos_graph.domain.lifecycle import RetentionClass
from amos_graph.domain.model import validate
from amos_graph.domain.scope import AccessPolicy
from amos_graph.domain.state import Current
from amos_graph.domain.value_kinds import fault
from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.policy.changing import changes_of
from amos_graph.policy.commit import decide
from amos_graph.policy.conflict import check_expected
from amos_graph.policy.submission import Submission


class GovernRequest(ReasonedRequest):
    """Which atom, what is decided of it, and why."""

    retention_class: RetentionClass | None = None
    #: The whole policy that the atom has from now on; `{}` takes it away.
    access_policy: AccessPolicy | None = None

    @model_validator(mode="after")
    def _decides_something(self) -> GovernRequest:
        if self.retention_class is None and self.access_policy is None:
            raise fault("name a retention_class or an access_policy", "access_policy")
        return self


def govern(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Give an active atom another access policy or retention class (`POST /v1/atoms:govern`).

    Its content stays; edges that come from its own record follow its policy, in the same transaction.
    Raises `not_found`, `expected_version_conflict`, `schema_invalid`, `authorization_denied` and
    `review_required`.
    """
    asked = validate(GovernRequest, request)
    expected, at = context.expecting(asked.atom_id, asked.expected_version)
    note = note_of(context, asked, "govern_reason")
    edges_max = context.settings.detached_edges_max
    command = Command(
        operation="govern_atom",
        capability="atom.govern",
        payload=dict(request),
        target_refs=(asked.atom_id,),
        mentions=Mentions(refs=(asked.atom_id, note.ref, *expected), owners=(asked.atom_id,)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        state = read_state(view, context.identity, context.scope, command.mentions, edges_max)
        check_expected(expected, state.visible, at)
        atom = state.visible.get(asked.atom_id)
        if atom is None:
            raise AmosError("not_found", "no such atom", [Fault("atom_id", "no such atom")])
        submission = _submission(context, asked, atom)
        wanted = replace(command.mentions, refs=(*command.mentions.refs, *mentioned(submission)))
        state = read_state(view, context.identity, context.scope, wanted, edges_max)
        decision = decide(submission, state, now=moment.now, writer=moment.writer, shard_scope=context.scope)
        approvals = permitted(view, context, command, moment, list(changes_of(decision, state.visible)))
        plan = plan_of(decision, (), proposing=False)
        governed = tuple(
            replace(draft, event_type="atom_governed", operation="govern_atom", evidence_refs=(note.ref,))
            if draft.event_type == "atom_updated"
            else draft
            for draft in plan.drafts
        )
        reasons = note.drafts(context, state, moment) if governed else ()
        return replace(
            plan,
            drafts=(*approvals, *reasons, *governed),
            created=(*plan.created, *((note.ref,) if reasons else ())),
            result={**plan.result, "evidence_refs": [note.ref]},
        )

    receipt = execute(context, command, decided)
    # The copies that packets have of it go before the change is acknowledged.
    context.graph.packets.purge(context.scope.shard, receipt.graph_version)
    return receipt


def _submission(context: Context, asked: GovernRequest, atom: Current) -> Submission:
    """The atom as it is, with what is decided of it, as a commit would bring it."""
    state = atom.body["lifecycle_state"]
    if state == "proposed":
        message = "a proposal is decided by ratify_proposal, and governed by nobody before"
        raise AmosError("authorization_denied", message, [Fault("atom_id", message)])
    if state != "active":
        raise invalid("atom_id", f"the atom is {state}; restore it first")
    body = {**atom.body, **atom.stated}
    if asked.retention_class is not None:
        body["retention_class"] = asked.retention_class
    if asked.access_policy is not None:
        body["access_policy"] = asked.access_policy.record()
        if not body["access_policy"]:
            del body["access_policy"]
    checked, _ = check_atom(body, context.scope, "atom")
    return Submission(atoms=(replace(checked, at="atom_id"),), expected_versions={atom.ref: atom.version})
