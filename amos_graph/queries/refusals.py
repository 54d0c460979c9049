"""What was refused: reviews, conflicts of high risk and rejections, page by page (`GET /v1/refusals`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from amos_graph.commands.execution import Context
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.refusal import KeptCode, Status
from amos_graph.domain.times import native_time
from amos_graph.errors import invalid
from amos_graph.graph.procedures import procedure
from amos_graph.queries.paging import cursor_of, position_of
from amos_graph.queries.versions import head_version
from amos_graph.queries.visibility import visible_classes


class ListRefusalsRequest(Strict):
    """Filters are joined by AND; a list matches any of its entries."""

    statuses: list[Status] = Field(default=["open"], max_length=5)
    #: Error codes: `review_required` is the review queue, `expected_version_conflict` the conflict queue.
    codes: list[KeptCode] = Field(default_factory=list[KeptCode], max_length=10)
    limit: int = Field(default=50, ge=1)
    cursor: str | None = Field(default=None, max_length=2_000)


@dataclass(frozen=True, slots=True)
class RefusalRow:
    id: str
    created_at: Any
    body: str


_LIST = procedure("govern/list_refusals", RefusalRow)


def list_refusals(context: Context, request: Mapping[str, Any]) -> dict[str, Any]:
    """One page of refusals, oldest first: items, next_cursor (null at the end).

    Raises `schema_invalid` and `authorization_denied`.
    """
    asked = validate(ListRefusalsRequest, request)
    context.identity.demand("review.decide")
    if asked.limit > context.settings.page_max:
        raise invalid("limit", f"at most {context.settings.page_max}")
    position = position_of(asked, asked.cursor)
    shard = context.scope.shard
    version, rows = context.graph.read(
        "list_refusals",
        lambda tx: (
            head_version(tx, shard),
            tx.many(
                _LIST,
                shard=shard,
                classes=visible_classes(tx, context).classes,
                statuses=asked.statuses,
                codes=asked.codes,
                after_created=position[0],
                after_id=position[1],
                limit=asked.limit + 1,
            ),
        ),
    )
    page = rows[: asked.limit]
    more = len(rows) > asked.limit
    return {
        "items": [json.loads(row.body) for row in page],
        "next_cursor": cursor_of(asked, (native_time(page[-1].created_at), page[-1].id)) if more else None,
        "graph_version": version,
    }
