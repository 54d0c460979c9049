"""`/v1/proposals`, `/v1/constitutional-records`, `/v1/ratifications`: what an identity adopts as its own."""

from __future__ import annotations

from fastapi import APIRouter, Response

from amos_graph.api.calls import Posted, lift_scope
from amos_graph.api.contract import post
from amos_graph.commands.ratification import (
    GenesisRequest,
    RatifyRequest,
    ReplaceRequest,
    ResolveRequest,
    found,
    ratify,
    replace_record,
    resolve,
)
from amos_graph.queries.diachronic import DiachronicStatusRequest, diachronic_status

router = APIRouter(tags=["governance"])


@router.post("/v1/constitutional-records:genesis", **post("constitutional-records:genesis", GenesisRequest))
def found_one(call: Posted) -> Response:
    """Begin an identity's constitution with its first records, once."""
    call = lift_scope(call)
    return call.command(found)


@router.post("/v1/proposals:ratify", **post("proposals:ratify", RatifyRequest))
def ratify_one(call: Posted) -> Response:
    """Adopt a proposal by its author's own adjudication; nothing else makes a proposal active."""
    call = lift_scope(call)
    return call.command(ratify)


@router.post("/v1/proposals:resolve", **post("proposals:resolve", ResolveRequest))
def resolve_one(call: Posted) -> Response:
    """Dispose of a proposal that is not adopted: archived, or a proposal still."""
    call = lift_scope(call)
    return call.command(resolve)


@router.post("/v1/constitutional-records:replace", **post("constitutional-records:replace", ReplaceRequest))
def replace_one(call: Posted) -> Response:
    """Put a successor in the place of a constitutional record, both at the versions that were judged."""
    call = lift_scope(call)
    return call.command(replace_record)


@router.post(
    "/v1/ratifications:diachronic-status", **post("ratifications:diachronic-status", DiachronicStatusRequest)
)
def status_of_one(call: Posted) -> Response:
    """Tell which independent reconstructions of a proposal count, and whether the threshold is reached."""
    call = lift_scope(call)
    return call.read(diachronic_status)
