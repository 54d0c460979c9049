"""One generated artifact by its id, while it is current (`POST /v1/artifacts:get`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import Field

from amos_graph.commands.execution import Context
from amos_graph.domain.ids import ArtifactId
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.times import now
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.access import may_read_body
from amos_graph.policy.narrating import CHANGES, FAILURES, outdated
from amos_graph.queries.versions import VersionRow, head_version, read_version, readable_version, revisions
from amos_graph.queries.visibility import visible_classes

#: Records that made an artifact old, as far as a steward is told of them.
REFS_MAX: Final = 10


class GetArtifactRequest(Strict):
    """Which artifact, as known at which version; stewards may also see what readers do not see any more."""

    artifact_id: ArtifactId
    as_of_version: int | None = Field(default=None, ge=0)
    include_expired: bool = False


@dataclass(frozen=True, slots=True)
class JudgedRow:
    sources: list[dict[str, Any]]
    contradicted_by: list[str]
    since: list[str]


_JUDGE = procedure("provenance/judge_artifact", JudgedRow)


def get_artifact(context: Context, request: Mapping[str, Any]) -> dict[str, Any]:
    """The artifact while it is current: now, whichever of its versions is asked for.

    One that has expired, or that is outdated by what came since, is answered like an id that nobody
    used, and so is one of which the caller may not see a source. With `include_expired` a steward gets
    it, and its omissions say why a reader does not. Raises `schema_invalid` and `authorization_denied`.
    """
    asked = validate(GetArtifactRequest, request)
    context.identity.demand("memory.read")
    if asked.include_expired:
        context.identity.demand("memory.steward")
    return context.graph.read("get_artifact", lambda tx: _get(tx, context, asked))


def _get(tx: Tx, context: Context, asked: GetArtifactRequest) -> dict[str, Any]:
    shard, ref = context.scope.shard, asked.artifact_id
    as_of = readable_version(tx, shard, asked.as_of_version)
    answer: dict[str, Any] = {"found": False, "artifact": None, "omissions": [], "graph_version": as_of}
    row = read_version(tx, shard, ref, as_of)
    present = read_version(tx, shard, ref, head_version(tx, shard))
    body = _readable(context, row)
    # Who lost the right to an artifact lost its past with it.
    if row is None or body is None or _readable(context, present) is None:
        return answer
    classes = visible_classes(tx, context).classes
    judged = tx.one(
        _JUDGE,
        shard=shard,
        refs=list(body["source_versions"]),
        agent=body["subject_agent"],
        told=row.graph_version,
        classes=classes,
        changes=list(CHANGES),
        failures=list(FAILURES),
        limit=REFS_MAX,
    )
    if not {source["access_class"] for source in judged.sources} <= set(classes):
        return answer
    omissions = _omissions(body, judged)
    if omissions and not asked.include_expired:
        return answer
    record = {
        **body,
        "last_write_event_id": row.event_id,
        "revision_history": revisions(tx, shard, ref, as_of),
    }
    return {**answer, "found": True, "artifact": record, "omissions": omissions}


def _readable(context: Context, row: VersionRow | None) -> dict[str, Any] | None:
    """The body of a version, if it is there and the caller may see it."""
    if row is None or row.body is None:
        return None
    body: dict[str, Any] = json.loads(row.body)
    return body if may_read_body(context.identity, context.scope, body) else None


def _omissions(body: Mapping[str, Any], judged: JudgedRow) -> list[dict[str, Any]]:
    """Why a reader gets the artifact no more."""
    found: list[dict[str, Any]] = []
    if body["lifecycle_state"] != "active":
        found.append({"reason": body["lifecycle_state"]})
    elif body["expires_at"] <= now():
        found.append({"reason": "expired"})
    changed = outdated(body["source_versions"], judged.sources)
    refs = list(dict.fromkeys([*changed, *judged.contradicted_by, *judged.since]))
    if refs:
        found.append({"reason": "outdated", "refs": refs[:REFS_MAX]})
    return found
