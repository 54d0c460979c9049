"""`/v1/refusals`: what waits for a review, conflicts of high risk, and rejections."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from amos_graph.api.calls import Posted, Queried, lift_scope
from amos_graph.api.contract import get, post
from amos_graph.api.parameters import listed
from amos_graph.commands.deciding import decide_refusal
from amos_graph.commands.refusals import DecideRefusalRequest
from amos_graph.queries.refusals import ListRefusalsRequest, list_refusals

router = APIRouter(tags=["refusals"])


@router.get("/v1/refusals", **get("refusals:list", ListRefusalsRequest))
def list_page(request: Request, call: Queried) -> Response:
    """List what was refused and is kept, oldest first, page by page."""
    return listed(request, call, ListRefusalsRequest, list_refusals)


@router.post("/v1/refusals:decide", **post("refusals:decide", DecideRefusalRequest))
def decide_one(call: Posted) -> Response:
    """Approve or decline what waits for a review, or put a conflict or a rejection aside."""
    call = lift_scope(call)
    return call.command(decide_refusal)
