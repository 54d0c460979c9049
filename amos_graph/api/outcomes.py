"""`/v1/retrieval-outcomes`: what became of the memories of a packet."""

from __future__ import annotations

from fastapi import APIRouter, Response

from amos_graph.api.calls import Posted, lift_scope
from amos_graph.api.contract import post
from amos_graph.commands.outcomes import record_outcome
from amos_graph.domain.outcomes import OutcomeRequest

router = APIRouter(tags=["packets"])


@router.post("/v1/retrieval-outcomes", **post("outcomes:record", OutcomeRequest))
def record(call: Posted) -> Response:
    """Tell what became of a packet: which of its memories were used, helped, harmed or were corrected."""
    call = lift_scope(call)
    return call.command(record_outcome)
