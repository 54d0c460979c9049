"""Exact reference: one atom by its id, now or as it was known and as it held (`POST /v1/atoms:get`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from amos_graph.commands.execution import Context
from amos_graph.domain.atoms import payload_type
from amos_graph.domain.ids import AtomId, Identifier
from amos_graph.domain.lifecycle import HEALTH_DEFAULTS
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.score import numbers_of, score_id, with_numbers
from amos_graph.domain.times import Timestamp
from amos_graph.graph.transactions import Tx
from amos_graph.policy.access import may_cite_body, may_read_body
from amos_graph.queries.items import item_of
from amos_graph.queries.versions import (
    evidence_pointers,
    head_version,
    read_version,
    readable_version,
    revisions,
    superseding,
)
from amos_graph.queries.visibility import visible_classes


class GetRequest(Strict):
    """Which atom, at which point of both clocks, and what to include that ordinary reads leave out."""

    atom_id: AtomId
    target_processor: Identifier | None = None
    include_proposed: bool = False
    include_archived: bool = False
    include_low_health: bool = False
    include_superseded: bool = False
    #: What was known: a graph version.
    as_of_version: int | None = Field(default=None, ge=0)
    #: What held: an instant within the atom's validity_interval.
    valid_at: Timestamp | None = None


def get_atom(context: Context, request: Mapping[str, Any]) -> dict[str, Any]:
    """An exact-reference packet: found, item, omissions.

    An absent atom and one that the caller may not see give the same answer.
    Raises `schema_invalid` and `authorization_denied`.
    """
    asked = validate(GetRequest, request)
    context.identity.demand("memory.read")
    return context.graph.read("get_atom", lambda tx: _get(tx, context, asked))


def _get(tx: Tx, context: Context, asked: GetRequest) -> dict[str, Any]:
    shard = context.scope.shard
    as_of = readable_version(tx, shard, asked.as_of_version)
    row = read_version(tx, shard, asked.atom_id, as_of)
    answer: dict[str, Any] = {"found": False, "item": None, "omissions": [], "graph_version": as_of}
    if row is None or row.body is None:
        return answer
    body = json.loads(row.body)
    if not may_read_body(context.identity, context.scope, body, asked.target_processor):
        return answer
    present = body if asked.as_of_version is None else _present(tx, context, asked)
    if present is None:
        return answer
    if body["lifecycle_state"] == "proposed" and not context.identity.may("memory.steward"):
        return answer
    classes = visible_classes(tx, context, asked.target_processor).classes
    cited = all(may_cite_body(context.identity, context.scope, one) for one in (body, present))
    score = read_version(tx, shard, score_id(asked.atom_id), as_of)
    moved = json.loads(score.body) if score is not None and score.body is not None else None
    body = with_numbers(body, numbers_of(moved, row.version))
    superseded, superseded_by = superseding(tx, shard, asked.atom_id, as_of, classes)
    omissions = list(_suppressed(asked, body, superseded=superseded))
    if omissions:
        return {**answer, "omissions": [{"reason": reason} for reason in omissions]}
    return {
        **answer,
        "found": True,
        "item": {
            **item_of(body, row.event_id, cited=cited),
            "evidence": evidence_pointers(tx, shard, body["evidence_refs"], classes) if cited else [],
            "provenance": {
                "supersedes": body.get("supersedes", []),
                "superseded_by": superseded_by,
                "written_at_graph_version": row.graph_version,
                "revision_history": revisions(tx, shard, asked.atom_id, as_of),
            },
        },
    }


def _present(tx: Tx, context: Context, asked: GetRequest) -> Mapping[str, Any] | None:
    """The present record if it is readable too: who lost the right to an atom lost its past with it."""
    row = read_version(tx, context.scope.shard, asked.atom_id, head_version(tx, context.scope.shard))
    body: Mapping[str, Any] | None = (
        json.loads(row.body) if row is not None and row.body is not None else None
    )
    if body is None or not may_read_body(context.identity, context.scope, body, asked.target_processor):
        return None
    return body


def _suppressed(asked: GetRequest, body: Mapping[str, Any], *, superseded: bool) -> list[str]:
    """Why an ordinary read leaves the atom out, by the spec's names."""
    reasons: list[str] = []
    state, health = body["lifecycle_state"], body["health_status"]
    if state == "proposed" and not asked.include_proposed:
        reasons.append("proposed")
    if state not in ("active", "proposed") and not asked.include_archived:
        reasons.append(state)
    if HEALTH_DEFAULTS[health] in ("excluded", "suppressed") and not asked.include_low_health:
        reasons.append(f"{health}_suppressed")
    if superseded and not asked.include_superseded:
        reasons.append("superseded")
    if asked.valid_at is not None and not holds_at(body, asked.valid_at):
        reasons.append("not_valid_then")
    return reasons


def holds_at(body: Mapping[str, Any], instant: str) -> bool:
    """True if the instant lies where the atom holds; one that says nothing of it always holds."""
    begins, ends = payload_type(body["type"]).interval(body["payload"])
    return (begins is None or begins <= instant) and (ends is None or instant < ends)
