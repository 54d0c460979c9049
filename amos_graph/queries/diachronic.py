"""How far a conclusion has been reached again (`POST /v1/ratifications:diachronic-status`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from amos_graph.commands.execution import Context
from amos_graph.commands.view import read_records, reconstructions
from amos_graph.domain.atoms.governance import INTERVAL_S_MAX, Threshold
from amos_graph.domain.ids import AtomId, Identifier
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.state import Current
from amos_graph.graph.transactions import Tx
from amos_graph.policy.access import may_read_body
from amos_graph.policy.diachronic import Bar, progress
from amos_graph.policy.ratification import GUIDANCE, bar_of, derived_risk, predecessor_ref
from amos_graph.queries.versions import head_version
from amos_graph.queries.visibility import visible_classes


class DiachronicStatusRequest(Strict):
    """Whose reconstructions of which subject count, towards which threshold beside the one that holds."""

    subject_ref: AtomId
    identity_ref: Identifier
    required_confirmations: int | None = Field(default=None, ge=1, le=1000)
    min_interval_seconds: int | None = Field(default=None, ge=0, le=INTERVAL_S_MAX)
    materially_distinct_evidence: bool | None = None


def diachronic_status(context: Context, request: Mapping[str, Any]) -> dict[str, Any]:
    """The qualifying reconstructions of a proposal, their intervals, and whether the threshold is reached.

    The threshold is the risk class's own, raised by what is asked for. An absent subject and one that
    the caller may not see give the same answer. Raises `schema_invalid` and `authorization_denied`.
    """
    asked = validate(DiachronicStatusRequest, request)
    stated = asked.model_dump(exclude={"subject_ref", "identity_ref"}, exclude_none=True)
    if stated:
        validate(Threshold, {"required_confirmations": 1, **stated})
    context.identity.demand("memory.read")
    return context.graph.read("diachronic_status", lambda tx: _status(tx, context, asked, stated))


def _status(
    tx: Tx, context: Context, asked: DiachronicStatusRequest, stated: Mapping[str, Any]
) -> dict[str, Any]:
    shard = context.scope.shard
    answer: dict[str, Any] = {
        "found": False,
        "subject_ref": asked.subject_ref,
        "identity_ref": asked.identity_ref,
        "graph_version": head_version(tx, shard),
    }
    subject = _seen(tx, context, asked.subject_ref)
    if subject is None:
        return answer
    follows = predecessor_ref(subject.body)
    before = _seen(tx, context, follows) if follows else None
    risk = derived_risk(subject.body, before.body if before else None)
    history = reconstructions(tx, shard, subject.ref, visible_classes(tx, context).classes)
    wanted = {ref for one in history for ref in one.payload["diachronic"]["new_experience_refs"]}
    known = frozenset(
        record.ref
        for record in read_records(tx, shard, sorted(wanted))
        if may_read_body(context.identity, context.scope, record.body)
    )
    amends = subject.body["type"] in GUIDANCE
    bar: Bar = bar_of(risk, {"ratification_threshold": stated}, before.body if amends and before else None)
    reached = progress(history, asked.identity_ref, known, bar)
    return {**answer, "found": True, "risk_class": risk, **reached.record()}


def _seen(tx: Tx, context: Context, ref: str) -> Current | None:
    """An atom that the caller may see; proposals are open to those who judge and to stewards."""
    found = read_records(tx, context.scope.shard, [ref])
    if not found or found[0].kind != "atom":
        return None
    body = found[0].body
    judges = context.identity.may("self_adjudication") or context.identity.may("memory.steward")
    if body["lifecycle_state"] == "proposed" and not judges:
        return None
    return found[0] if may_read_body(context.identity, context.scope, body) else None
