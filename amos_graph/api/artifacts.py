"""`/v1/artifacts`: generated records that cite, expire, and are never memory."""

from __future__ import annotations

from fastapi import APIRouter, Response

from amos_graph.api.calls import Posted, lift_scope
from amos_graph.api.contract import post
from amos_graph.commands.artifacts import (
    ExpireArtifactsRequest,
    RecordArtifactRequest,
    expire_artifacts,
    record_artifact,
)
from amos_graph.queries.artifacts import GetArtifactRequest, get_artifact

router = APIRouter(tags=["artifacts"])


@router.post("/v1/artifacts:record", **post("artifacts:record", RecordArtifactRequest))
def record_one(call: Posted) -> Response:
    """Record a self-narrative: it cites its sources and what speaks against it, and it expires."""
    call = lift_scope(call)
    return call.command(record_artifact)


@router.post("/v1/artifacts:get", **post("artifacts:get", GetArtifactRequest))
def get_one(call: Posted) -> Response:
    """Get an artifact by its id while it is current: neither expired nor outdated by what came since."""
    call = lift_scope(call)
    return call.read(get_artifact)


@router.post("/v1/artifacts:expire", **post("artifacts:expire", ExpireArtifactsRequest))
def expire_due(call: Posted) -> Response:
    """Put away the artifacts whose time has passed."""
    call = lift_scope(call)
    return call.command(expire_artifacts)
