"""`/v1/verify`: the journal's chain, every body, every projected record."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from amos_graph.api.calls import Queried, below
from amos_graph.api.contract import get
from amos_graph.api.parameters import read_query
from amos_graph.domain.model import Strict, validate
from amos_graph.errors import invalid
from amos_graph.queries.verify import checkpoint_of, verify

router = APIRouter(tags=["verify"])

_Version = Annotated[int, Field(ge=1, le=2**53 - 1)]


class VerifyRequest(Strict):
    """A range of events, or all and the projection; and a checkpoint that was kept outside the store."""

    first: _Version | None = None
    last: _Version | None = None
    checkpoint_store_id: str | None = Field(default=None, min_length=1, max_length=200)
    checkpoint_graph_version: _Version | None = None
    checkpoint_head_hash: str | None = Field(default=None, pattern=r"^sha256:[0-9a-f]{64}$")

    def checkpoint(self) -> dict[str, object] | None:
        """The checkpoint as `verify` takes it. Raises `schema_invalid` when a part of it is missing."""
        parts = {
            "store_id": self.checkpoint_store_id,
            "graph_version": self.checkpoint_graph_version,
            "head_hash": self.checkpoint_head_hash,
        }
        missing = [name for name, value in parts.items() if value is None]
        if len(missing) == len(parts):
            return None
        if missing:
            raise invalid(f"query.checkpoint_{missing[0]}", "a checkpoint is given whole")
        return dict(parts)


@router.get("/v1/verify", **get("verify", VerifyRequest, scoped=False))
def verify_shard(request: Request, call: Queried) -> Response:
    """Verify the shard of the token; `ok` says whether anything is wrong, `checkpoint` is to be kept."""
    values, _ = read_query(request, VerifyRequest, scoped=False)
    asked = validate(VerifyRequest, values, "query")
    context = call.context
    context.identity.demand("memory.verify")
    checkpoint = asked.checkpoint()
    with below("query"):
        report = verify(
            context.graph, context.scope.shard, first=asked.first, last=asked.last, checkpoint=checkpoint
        )
    head = checkpoint_of(context.graph, context.scope.shard)
    return call.reading({**report.record(), "checkpoint": head})
