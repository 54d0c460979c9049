"""Capture: source events become immutable evidence records (`POST /v1/events:capture`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import Field

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.evidence import GENESIS_PREFIX, SourceEvent, evidence_id
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.scope import Scope, in_shard
from amos_graph.errors import invalid
from amos_graph.policy.commit import decide
from amos_graph.policy.conflict import check_expected
from amos_graph.policy.submission import Submission


class CaptureRequest(Strict):
    """One source event or a batch of them."""

    event: dict[str, Any] | None = None
    events: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])


@dataclass(frozen=True, slots=True)
class Sources:
    """Checked source events: their records, and the bytes that go to the archive."""

    #: Evidence id → event and scope, in input order.
    records: Mapping[str, tuple[SourceEvent, Scope]]
    #: Evidence id → where in the request its event stands.
    places: Mapping[str, str]
    archived: Sequence[bytes]


def capture(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Store source events as evidence; the same event captured twice is one evidence.

    Raises `schema_invalid`, `scope_denied`, `expected_version_conflict` and `idempotency_conflict`.
    """
    asked = validate(CaptureRequest, request, depth_max=context.settings.payload_depth_max)
    if asked.event is not None and asked.events:
        raise invalid("event", "one event, or a list of events")
    if asked.event is None and not asked.events:
        raise invalid("events", "the request captures nothing")
    named = listed(asked.events) if asked.event is None else {"event": asked.event}
    sources = check_sources(context, named)
    command = Command(
        operation="capture_events",
        capability="event.capture",
        payload=dict(request),
        target_refs=tuple(ref for ref, (event, _) in sources.records.items() if event.evidence_id),
        mentions=Mentions(refs=(*sources.records, *context.expected_versions)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        edges_max = context.settings.detached_edges_max
        state = read_state(view, context.identity, context.scope, command.mentions, edges_max)
        check_expected(context.expected_versions, state.visible)
        submission = Submission(evidence=sources.records, evidence_at=sources.places)
        decision = decide(submission, state, now=moment.now, writer=moment.writer, shard_scope=context.scope)
        fresh = [pending for pending in decision.evidence.values() if pending.changed]
        return Plan(
            drafts=tuple(
                Draft(
                    event_type="evidence_captured",
                    operation="capture_event",
                    writes=(Write("evidence", pending.ref, 1, pending.body),),
                    evidence_refs=(pending.ref,),
                    extra={name: pending.body[name] for name in ("source_type", "checksum")},
                )
                for pending in fresh
            ),
            created=tuple(pending.ref for pending in fresh),
            reused=tuple(ref for ref, pending in decision.evidence.items() if not pending.changed),
            result={"evidence_refs": list(decision.evidence)},
        )

    context.identity.demand(command.capability)
    stored_sources(context, sources)
    return execute(context, command, decided)


def listed(events: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The events of a list by their places."""
    return {f"events[{index}]": event for index, event in enumerate(events)}


def check_sources(context: Context, named: Mapping[str, dict[str, Any]]) -> Sources:
    """Validate source events, by their places, and part off payloads that are too large for the graph."""
    settings = context.settings
    if len(named) > settings.events_max:
        raise invalid("events", f"more than {settings.events_max} in one request")
    records: dict[str, tuple[SourceEvent, Scope]] = {}
    places: dict[str, str] = {}
    archived: list[bytes] = []
    for path, given in named.items():
        stated: Any = given.get("scope")
        scoped = (
            {"scope": in_shard(cast("dict[str, Any]", stated), context.scope)}
            if isinstance(stated, dict)
            else {}
        )
        event = validate(SourceEvent, {**given, **scoped}, path)
        scope = event.scope or context.scope
        context.writable(scope, f"{path}.scope")
        ref = event.evidence_id or evidence_id(event, scope)
        if ref.startswith(GENESIS_PREFIX):
            raise invalid(f"{path}.evidence_id", "an id of the store's own, for how a constitution began")
        if event.payload.get("archived") is True:
            # Otherwise a caller could make a record point at archived bytes that are not its own.
            raise invalid(f"{path}.payload.archived", "is how the store marks a payload in the archive")
        raw = canonical_bytes(event.payload)
        if len(raw) > settings.evidence_bytes_max:
            raise invalid(f"{path}.payload", f"larger than {settings.evidence_bytes_max} bytes")
        if len(raw) > settings.evidence_inline_bytes_max:
            archived.append(raw)
            event = event.model_copy(update={"payload": context.archive.pointer(scope.shard, raw)})
        if ref in records and records[ref][0] != event:
            raise invalid(f"{path}.evidence_id", f"{ref} stands twice in this request")
        records[ref] = (event, scope)
        places[ref] = path
    return Sources(records, places, archived)


def stored_sources(context: Context, sources: Sources) -> None:
    """Make archived payloads durable."""
    for raw in sources.archived:
        context.archive.put(context.scope.shard, raw)
