"""Outcomes: what became of a packet, and what that does to its memories (`POST /v1/retrieval-outcomes`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.manifests import note, noted, tidy_soon
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.dictionary import RELATIONS
from amos_graph.domain.events import Draft
from amos_graph.domain.model import validate
from amos_graph.domain.outcomes import JUDGMENTS, Manifest, OutcomeRequest, outcome_id, request_digest
from amos_graph.domain.packets import check_request
from amos_graph.domain.scope import Scope
from amos_graph.domain.score import score_id
from amos_graph.domain.state import Current
from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.policy.conflict import check_expected
from amos_graph.policy.outcomes import Effect, effect
from amos_graph.queries.recall.again import packet_again

CAPABILITY: Final = "outcome.record"


def record_outcome(context: Context, request: Mapping[str, Any]) -> Receipt:
    """Record what became of a packet: raw, as counts, and as moved numbers of what helped or harmed.

    The same outcome of the same client counts once, under whatever key. A packet that is unknown, is no
    longer kept, or was given to somebody else is `not_found`. Raises that, `schema_invalid` with the
    path of a reference that the packet does not hold, and `authorization_denied`.
    """
    asked = validate(OutcomeRequest, request, depth_max=context.settings.payload_depth_max)
    context.identity.demand(CAPABILITY)
    told = asked.told()
    packet = noted(context, asked.packet_id) or _given_once(context, asked)
    if packet is not None:
        _check(context, asked, packet)
    ref = outcome_id(context.identity.client_id, told)
    looked_at = tuple(_looked_at(told, packet)) if packet else ()
    command = Command(
        operation="record_outcome",
        capability=CAPABILITY,
        payload=dict(request),
        target_refs=(asked.packet_id,),
        sameness=ref,
        mentions=Mentions(refs=(*looked_at, *(score_id(at) for at in looked_at), *context.expected_versions)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        # Decided here, so that a repeat finds its receipt whether the packet is still known or not.
        if packet is None:
            raise AmosError("not_found", "no such packet", [Fault("packet_id", "no such packet")])
        edges_max = context.settings.detached_edges_max
        state = read_state(view, context.identity, packet.scope, command.mentions, edges_max)
        check_expected(context.expected_versions, state.visible)
        current = {at: state.visible[at] for at in looked_at if at in state.visible}
        scores = view.records([score_id(at) for at in current])
        done = effect(
            told,
            packet,
            {**current, **{score.ref: score for score in scores}},
            _protected(view, current.values()),
            now=moment.now,
            writer=moment.writer,
        )
        return _plan(context, told, done, ref, moment)

    receipt = execute(context, command, decided)
    if not receipt.replayed:
        tidy_soon(context)
    return receipt


def _given_once(context: Context, asked: OutcomeRequest) -> Manifest | None:
    """The manifest of a packet that nobody noted, as when the service was killed behind its answer."""
    if asked.request is None or asked.graph_version is None:
        return None
    packet = packet_again(context, asked.request, asked.graph_version)
    if packet is None or packet["packet_id"] != asked.packet_id:
        return None
    note(replace(context, scope=Scope.model_validate(packet["scope"])), packet)
    return noted(context, asked.packet_id)


def _check(context: Context, asked: OutcomeRequest, packet: Manifest) -> None:
    """Demand that the request is the packet's, and that every reference is of one of its items."""
    if asked.request is not None:
        try:
            request = check_request(
                asked.request, packet.scope, packet.evaluated_at, context.settings.items_max
            )
        except AmosError as error:
            faults = [Fault(f"request.{fault.path}".rstrip("."), fault.message) for fault in error.faults]
            raise AmosError(error.code, f"request: {error.message}", faults) from error
        if request_digest(request.record()) != packet.request_digest:
            raise invalid("request", "not the request that this packet answered")
    if asked.graph_version not in (None, packet.graph_version):
        raise invalid("graph_version", "not the version of this packet")
    items = packet.items
    faults = [Fault(at, "not an item of this packet") for at, ref in asked.named() if ref not in items]
    if faults:
        raise AmosError("schema_invalid", f"{faults[0].path}: {faults[0].message}", faults)


def _looked_at(told: Mapping[str, Any], packet: Manifest) -> Iterator[str]:
    """The judged atoms, and the edges that led to them."""
    judged = [ref for name in JUDGMENTS for ref in told[name]]
    yield from judged
    yield from dict.fromkeys(edge for ref in judged for edge in packet.items[ref].path)


def _protected(view: View, records: Iterable[Current]) -> set[str]:
    """The relations of these edges that nothing weakens."""
    relations = {record.body["relation"] for record in records if record.kind == "edge"}
    own = view.records(sorted(relations - RELATIONS.keys()))
    return {
        *(name for name in relations if name in RELATIONS and RELATIONS[name].protected),
        *(record.ref for record in own if record.body.get("protected")),
    }


def _plan(context: Context, told: Mapping[str, Any], done: Effect, ref: str, moment: Moment) -> Plan:
    edges = {"reinforced_edges": list(done.reinforced), "weakened_edges": list(done.weakened)}
    draft = Draft(
        event_type="retrieval_outcome_recorded",
        operation="record_outcome",
        writes=done.writes,
        extra={
            "outcome_ref": ref,
            **{name: told[name] for name in ("packet_id", "outcome_labels", "use_status")},
            **{name: list(done.moved[judgment]) for name, judgment in JUDGMENTS.items()},
            **edges,
        },
    )
    row = {
        "packet_id": told["packet_id"],
        "created_at": moment.now,
        "properties": {
            "id": ref,
            "client_id": context.identity.client_id,
            **told,
            **edges,
            "title": f"{told['use_status']}: {', '.join(told['outcome_labels'])}",
        },
        "counts": list(done.counts),
    }
    return Plan(
        drafts=(draft,) if done.writes else (),
        created=(ref,),
        updated=tuple(write.body["of_ref"] for write in done.writes),
        outcomes=(row,),
        result={"outcome_refs": [ref], "packet_id": told["packet_id"], "created_at": moment.now},
    )
