"""`/v1/provenance`: what an atom rests on, down to its roots."""

from __future__ import annotations

from fastapi import APIRouter, Response

from amos_graph.api.calls import Posted, lift_scope
from amos_graph.api.contract import post
from amos_graph.queries.provenance import AnalyzeRequest, analyze_provenance

router = APIRouter(tags=["provenance"])


@router.post("/v1/provenance:analyze", **post("provenance:analyze", AnalyzeRequest))
def analyze(call: Posted) -> Response:
    """Tell the roots of an atom, which of them are independent, and where support goes in a circle."""
    call = lift_scope(call)
    return call.read(analyze_provenance)
