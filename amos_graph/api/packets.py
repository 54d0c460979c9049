"""`/v1/packets`: what is worth knowing for a task, and why each item of it was chosen."""

from __future__ import annotations

from fastapi import APIRouter, Response

from amos_graph.api.calls import Posted, lift_scope
from amos_graph.api.contract import post
from amos_graph.domain.packets import PacketRequest
from amos_graph.queries.recall import recall

router = APIRouter(tags=["packets"])


@router.post("/v1/packets:retrieve", **post("packets:retrieve", PacketRequest))
def retrieve_packet(call: Posted) -> Response:
    """Retrieve a packet of memories for cues: ranked, explained, with what was left out and why."""
    call = lift_scope(call)
    return call.read(recall)
