"""Record and put away generated artifacts: journaled like a memory, and never one (spec, "SelfNarrative")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import Field

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.artifact import SelfNarrative, narrative_body
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.sameness import STEPS_MAX, Sameness
from amos_graph.domain.state import Current, State
from amos_graph.domain.times import now, parse_time
from amos_graph.graph.procedures import procedure
from amos_graph.policy.access import may_read_body
from amos_graph.policy.conflict import check_expected, version_conflict
from amos_graph.policy.narrating import agent_of, check_balance, check_sources, expiry, speaks_against

CAPABILITY: Final = "artifact.record"


class RecordArtifactRequest(Strict):
    """One self-narrative; under an id that is there, its next version."""

    artifact: SelfNarrative


class ExpireArtifactsRequest(Strict):
    """How many artifacts whose time has passed are put away at most."""

    limit: int = Field(default=100, ge=1, le=1_000)


@dataclass(frozen=True, slots=True)
class ExpiredRow:
    id: str


_EXPIRED = procedure("upkeep/list_expired_artifacts", ExpiredRow)


def record_artifact(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Record a self-narrative (`POST /v1/artifacts:record`); telling it again is a new version.

    Raises `schema_invalid`, also for a source that cannot be cited and for counterevidence that is left
    out, `not_found`, `scope_denied`, `authorization_denied` and `expected_version_conflict`.
    """
    settings = context.settings
    narrative = validate(RecordArtifactRequest, request, depth_max=settings.payload_depth_max).artifact
    scope = narrative.scope or context.scope
    context.writable(scope, "artifact.scope")
    ref = narrative.id
    cited = tuple(dict.fromkeys(found for _, found in narrative.cited()))
    command = Command(
        operation="record_artifact",
        capability=CAPABILITY,
        payload=dict(request),
        target_refs=(ref,),
        mentions=Mentions(refs=(ref, narrative.subject_agent, *cited, *context.expected_versions)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        state = _state(view, context, command.mentions.refs)
        check_expected(context.expected_versions, state.visible)
        before = _replaced(narrative, state, context.expected_versions)
        expires_at = expiry(narrative, moment.now, settings.artifact_lifetime_s_max)
        sources = [state.visible[at] for at in cited if at in state.visible]
        check_sources(narrative, state.visible, _merges(view, narrative, sources).resolved)
        atoms = [source.ref for source in sources if source.kind == "atom"]
        edges = view.edges_at(atoms, ("active",), settings.detached_edges_max)
        seen = [edge for edge in edges if may_read_body(context.identity, context.scope, edge.body)]
        against = list(speaks_against(narrative, state.visible, seen))
        check_balance(narrative, against, _state(view, context, [each.ref for each in against]).visible)
        body = narrative_body(
            narrative,
            scope,
            {source.ref: source.version for source in sources},
            expires_at=expires_at,
            now=moment.now,
            writer=moment.writer,
        )
        if before is not None:
            body |= {"version": before.version + 1, "created_at": before.body["created_at"]}
        return Plan(
            drafts=(_draft("artifact_recorded", "record_artifact", ref, body),),
            created=() if before else (ref,),
            updated=(ref,) if before else (),
            result={"artifact_refs": [ref], "expires_at": expires_at},
        )

    return execute(context, command, decided)


def expire_artifacts(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Put away the artifacts whose time has passed (`POST /v1/artifacts:expire`).

    No reader sees them in any case; the graph then says so too. Raises `schema_invalid` and
    `authorization_denied`.
    """
    asked = validate(ExpireArtifactsRequest, request)
    context.identity.demand("memory.steward")
    shard, instant = context.scope.shard, parse_time(now())
    rows = context.graph.read(
        "list_expired", lambda tx: tx.many(_EXPIRED, shard=shard, at=instant, limit=asked.limit)
    )
    refs = tuple(row.id for row in rows)
    command = Command(
        operation="expire_artifacts",
        capability="memory.steward",
        payload=dict(request),
        mentions=Mentions(refs=refs),
    )

    def decided(view: View, moment: Moment) -> Plan:
        due = [
            record
            for record in view.records(refs)
            if record.body["lifecycle_state"] == "active"
            and record.body["expires_at"] <= moment.now
            and may_read_body(context.identity, context.scope, record.body)
        ]
        return Plan(
            drafts=tuple(_put_away(record, moment) for record in due),
            updated=tuple(record.ref for record in due),
            result={"artifact_refs": [record.ref for record in due]},
        )

    return execute(context, command, decided)


def _state(view: View, context: Context, refs: Sequence[str]) -> State:
    edges_max = context.settings.detached_edges_max
    return read_state(view, context.identity, context.scope, Mentions(refs=tuple(refs)), edges_max)


def _replaced(narrative: SelfNarrative, state: State, expected: Mapping[str, int]) -> Current | None:
    """The record that this one takes the place of, which the request must name by its version."""
    ref = narrative.id
    if ref in state.hidden:
        raise version_conflict("artifact", ref, expected.get(ref), 0, None, action="review")
    before = state.visible.get(ref)
    named = expected.get(ref, narrative.version)
    if before is not None and named != before.version:
        raise version_conflict("artifact", ref, named, before.version, before.event_id)
    if before is None and named not in (None, 0, 1):
        raise version_conflict("artifact", ref, named, 0, None)
    return before


def _merges(view: View, narrative: SelfNarrative, sources: Sequence[Current]) -> Sameness:
    """What the agents of a narrative and of its sources became."""
    agents = {narrative.subject_agent, *filter(None, map(agent_of, sources))}
    known: dict[str, Mapping[str, Any]] = {}
    wanted = {agent for agent in agents if agent.startswith("ent:")}
    for _ in range(STEPS_MAX):
        known |= {record.ref: record.body for record in view.records(wanted - known.keys())}
        wanted = {body["merged_into"] for body in known.values() if body.get("merged_into")}
    return Sameness.of(known.values())


def _put_away(record: Current, moment: Moment) -> Draft:
    body = {
        **record.body,
        "lifecycle_state": "archived",
        "version": record.version + 1,
        "updated_at": moment.now,
        "last_writer": moment.writer,
    }
    return _draft("artifact_archived", "expire_artifacts", record.ref, body)


def _draft(event_type: str, operation: str, ref: str, body: Mapping[str, Any]) -> Draft:
    return Draft(
        event_type=event_type,
        operation=operation,
        writes=(Write("artifact", ref, body["version"], body),),
        extra={
            "artifact_type": body["artifact_type"],
            "lifecycle_state": body["lifecycle_state"],
            "expires_at": body["expires_at"],
        },
    )
