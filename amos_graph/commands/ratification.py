"""Guarded transitions: found a constitution, ratify, resolve, replace (spec, "self-ratification").

The identity that the token is bound to judges; what is here validates the judgment and records it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from amos_graph.commands.commit import plan_of
from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.hearing import Bench, Hearing, hear
from amos_graph.commands.refusals import permitted
from amos_graph.commands.state import Mentions
from amos_graph.commands.view import View
from amos_graph.domain.evidence import GENESIS_PREFIX, SourceEvent, evidence_body
from amos_graph.domain.ids import AtomId, derived_id
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.scope import Scope
from amos_graph.domain.state import Current, State
from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.policy.amendment import AMENDING, FIRST
from amos_graph.policy.changing import changes_of
from amos_graph.policy.linking import governing_edges, intrinsic_edges, standing_to_refresh
from amos_graph.policy.ratification import (
    ADOPTING,
    COMMON,
    GUIDANCE,
    check_versions,
    demand,
    denied,
    identity_refs,
    state_after,
)
from amos_graph.policy.submission import Case, Pending

STANDINGS: Final = (
    "epistemic_standing",
    "normative_standing",
    "operational_authority",
    "constitutional_standing",
)


class RatifyRequest(Strict):
    """Which proposal, by which of its author's judgments, at which version it was judged."""

    proposal_ref: AtomId
    adjudication_ref: AtomId
    expected_version: int = Field(ge=1)


class ResolveRequest(RatifyRequest):
    """Which proposal is not adopted, and by which judgment."""


class ReplaceRequest(Strict):
    """Which constitutional record gives way to which successor, by which judgment."""

    current_ref: AtomId
    successor_ref: AtomId
    adjudication_ref: AtomId
    expected_current_version: int = Field(ge=1)
    expected_successor_version: int = Field(ge=1)


class GenesisRequest(Strict):
    """The proposals that an identity begins with; it begins once."""

    record_refs: Annotated[list[AtomId], Field(min_length=1, max_length=50)]


def ratify(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Adopt a proposal by its author's adjudication (`POST /v1/proposals:ratify`).

    Raises `not_found`, `expected_version_conflict`, and `authorization_denied` with a fault for each
    requirement that is not met.
    """
    asked = validate(RatifyRequest, request)
    command = _command("ratify_proposal", "self_ratification", request, asked)

    def decided(view: View, moment: Moment) -> Plan:
        bench = Bench(context, view, moment, command)
        proposal = bench.seen(asked.proposal_ref, "proposal_ref")
        check_versions([(proposal, asked.expected_version, "expected_version")])
        body = proposal.body
        if body["type"] in GUIDANCE and (body["payload"].get("predecessor_ref") or body.get("supersedes")):
            raise denied("proposal_ref", "a successor takes effect by constitutional-records:replace")
        heard = hear(bench, proposal, asked.adjudication_ref)
        demand(heard.judged, {**COMMON, **ADOPTING})
        return _adopted(bench, heard, "proposal_ratified")

    return execute(context, command, decided)


def resolve(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Dispose of a proposal that is not adopted (`POST /v1/proposals:resolve`).

    What was deferred or is contested stays a proposal; what was rejected, revised or withdrawn is
    archived. Raises as `ratify` does.
    """
    asked = validate(ResolveRequest, request)
    command = _command("resolve_proposal", "self_adjudication", request, asked)

    def decided(view: View, moment: Moment) -> Plan:
        bench = Bench(context, view, moment, command)
        proposal = bench.seen(asked.proposal_ref, "proposal_ref")
        check_versions([(proposal, asked.expected_version, "expected_version")])
        heard = hear(bench, proposal, asked.adjudication_ref)
        demand(heard.judged, COMMON)
        return _disposed(bench, heard, state_after(heard.judgment))

    return execute(context, command, decided)


def replace_record(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Put a successor in the place of a constitutional record (`POST /v1/constitutional-records:replace`).

    Both change in one transaction, at the versions that were judged. Raises as `ratify` does.
    """
    asked = validate(ReplaceRequest, request)
    command = Command(
        operation="replace_constitutional_record",
        capability="constitutional_self_amendment",
        payload=dict(request),
        target_refs=(asked.current_ref, asked.successor_ref),
        mentions=_mentions(asked.successor_ref, asked.current_ref, asked.adjudication_ref),
    )

    def decided(view: View, moment: Moment) -> Plan:
        bench = Bench(context, view, moment, command)
        current = bench.seen(asked.current_ref, "current_ref")
        successor = bench.seen(asked.successor_ref, "successor_ref")
        check_versions(
            [
                (current, asked.expected_current_version, "expected_current_version"),
                (successor, asked.expected_successor_version, "expected_successor_version"),
            ]
        )
        heard = hear(bench, successor, asked.adjudication_ref, current)
        demand(heard.judged, FIRST, "current_ref")
        demand(heard.judged, {**COMMON, **ADOPTING, **AMENDING}, "successor_ref")
        return _adopted(bench, heard, "constitutional_record_replaced", instead_of=current.ref)

    return execute(context, command, decided)


def found(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Begin an identity's constitution, once (`POST /v1/constitutional-records:genesis`).

    The first covenant cannot be ratified by another, so what begins has inherited-genesis standing.
    Raises `not_found`, `schema_invalid`, and `authorization_denied` where it was done before.
    """
    asked = validate(GenesisRequest, request)
    refs = tuple(dict.fromkeys(asked.record_refs))
    agent = context.identity.scope.agent_id
    evidence_ref = derived_id(GENESIS_PREFIX, [context.scope.shard, agent])
    command = Command(
        operation="record_genesis",
        capability="self_ratification",
        payload=dict(request),
        target_refs=refs,
        mentions=_mentions(*refs, evidence_ref),
    )

    def decided(view: View, moment: Moment) -> Plan:
        if agent is None or not identity_refs(context.identity):
            raise denied("", "a constitution is an identity's, and this token is bound to no agent")
        if view.records([evidence_ref]):
            raise denied("", "the constitution of this identity was founded before")
        bench = Bench(context, view, moment, command)
        known = bench.state(refs)
        proposals = [_founding(known, agent, ref, f"record_refs[{i}]") for i, ref in enumerate(refs)]
        cited = [ref for proposal in proposals for ref in proposal.body["evidence_refs"]]
        case = bench.case(bench.state([*refs, *cited], owners=refs))
        event = SourceEvent(
            source_type="constitutional_genesis",
            source_ref=f"agent:{agent}",
            payload={"record_refs": list(refs), "constitutional_standing": "inherited_genesis"},
        )
        body = evidence_body(event, evidence_ref, context.scope, now=moment.now, writer=moment.writer)
        case.decision.evidence[evidence_ref] = Pending(evidence_ref, body, None, "record_refs")
        for index, proposal in enumerate(proposals):
            rests_on = [*proposal.body["evidence_refs"], evidence_ref]
            _moved(case, proposal, f"record_refs[{index}]", "active", evidence_refs=rests_on)
        intrinsic_edges(case)
        standing_to_refresh(case)
        extra = {"constitutional_standing": "inherited_genesis", "identity_ref": agent}
        plan = _named(plan_of(case.decision, (), proposing=False), "constitution_founded", command, extra)
        return replace(plan, result={"record_refs": list(refs), "evidence_refs": [evidence_ref]})

    return execute(context, command, decided)


def _founding(state: State, agent: str, ref: str, at: str) -> Current:
    """A proposal of guidance within the identity's own scope."""
    record = state.visible.get(ref)
    if record is None or record.kind != "atom":
        raise AmosError("not_found", f"{at}: no such proposal", [Fault(at, "no such proposal")])
    body = record.body
    if body["type"] not in GUIDANCE:
        raise invalid(at, f"{ref} is no constitutional record")
    if body["lifecycle_state"] != "proposed":
        raise invalid(at, f"{ref} is {body['lifecycle_state']}, and no proposal")
    if body["payload"].get("predecessor_ref") or body.get("supersedes"):
        raise invalid(at, f"{ref} follows another record; a beginning follows none")
    if Scope.model_validate(body["scope"]).agent_id != agent:
        raise invalid(at, f"{ref} is not in the scope of this identity's agent")
    return record


def _command(operation: str, capability: str, request: Mapping[str, Any], asked: RatifyRequest) -> Command:
    return Command(
        operation=operation,
        capability=capability,
        payload=dict(request),
        target_refs=(asked.proposal_ref,),
        mentions=_mentions(asked.proposal_ref, asked.adjudication_ref),
    )


def _mentions(*refs: str) -> Mentions:
    return Mentions(refs=refs, digest_states=("proposed",))


def _moved(case: Case, proposal: Current, at: str, state: str, **changes: Any) -> None:
    body = case.stamped({**proposal.body, **changes, "lifecycle_state": state}, proposal)
    case.decision.atoms[proposal.ref] = Pending(proposal.ref, body, proposal, at)


def _adopted(bench: Bench, heard: Hearing, event_type: str, instead_of: str | None = None) -> Plan:
    """The proposal active, with the edges that its record asks for and those of its judgment."""
    case, proposal = bench.case(heard.state), heard.proposal
    changes: dict[str, Any] = {}
    if instead_of is not None:
        changes["supersedes"] = list(dict.fromkeys([*proposal.body.get("supersedes", []), instead_of]))
    _moved(case, proposal, "proposal_ref", "active", **changes)
    intrinsic_edges(case)
    # The record that gives way is judged by the checks of an amendment.
    changed = [
        change for change in changes_of(case.decision, heard.state.visible) if change.before.ref != instead_of
    ]
    approvals = permitted(bench.view, bench.context, bench.command, bench.moment, changed)
    governing_edges(case, heard.adjudication.ref, proposal.ref, heard.judgment["covenant_refs"])
    standing_to_refresh(case)
    plan = _named(plan_of(case.decision, (), proposing=False), event_type, bench.command, _bound(heard))
    return replace(plan, drafts=(*approvals, *plan.drafts), result=_result(heard))


def _disposed(bench: Bench, heard: Hearing, state: str) -> Plan:
    """The proposal archived, or a proposal still; its judgment stands either way."""
    case = bench.case(heard.state)
    _moved(case, heard.proposal, "proposal_ref", state)
    if state != "proposed":
        governing_edges(case, heard.adjudication.ref, heard.proposal.ref, heard.judgment["covenant_refs"])
    plan = plan_of(case.decision, (), proposing=False)
    extra = {**_bound(heard), "lifecycle_state": state}
    return replace(_named(plan, "proposal_resolved", bench.command, extra), result=_result(heard))


def _bound(heard: Hearing) -> dict[str, Any]:
    """What the event binds together: ids, enums and versions."""
    judgment = heard.judgment
    return {
        "proposal_ref": heard.proposal.ref,
        "expected_version": heard.proposal.version,
        "adjudication_ref": heard.adjudication.ref,
        "outcome": judgment["outcome"],
        "ratifier": judgment["ratifier"]["identity_ref"],
        "covenant_refs": list(judgment["covenant_refs"]),
        "dissent_refs": list(judgment["dissent_refs"]),
        "risk_class": judgment["risk_class"],
        "confirmations": len(heard.judged.progress.counted),
        **{name: judgment[name]["status"] for name in STANDINGS},
    }


def _result(heard: Hearing) -> dict[str, Any]:
    return {
        "atom_ref": heard.proposal.ref,
        "adjudication_ref": heard.adjudication.ref,
        "covenant_refs": list(heard.judgment["covenant_refs"]),
        "diachronic": heard.judged.progress.record(),
    }


def _named(plan: Plan, event_type: str, command: Command, extra: Mapping[str, Any]) -> Plan:
    """The plan with the events of its atoms under the name of the transition."""
    drafts = (
        replace(draft, event_type=event_type, operation=command.operation, extra={**draft.extra, **extra})
        if draft.event_type == "atom_updated"
        else draft
        for draft in plan.drafts
    )
    return replace(plan, drafts=tuple(drafts))
