"""`/v1/events`: what happened in the source world, kept as evidence."""

from __future__ import annotations

from fastapi import APIRouter, Response

from amos_graph.api.calls import Posted, bare, lift_scope
from amos_graph.api.contract import post
from amos_graph.commands.capture import CaptureRequest, capture

router = APIRouter(tags=["events"])


@router.post("/v1/events:capture", **post("events:capture", CaptureRequest))
def capture_events(call: Posted) -> Response:
    """Capture one source event or a batch as immutable evidence; the same event twice is one evidence."""
    call = lift_scope(bare(call, "event", "source_type"))
    return call.command(capture)
