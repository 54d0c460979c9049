"""`/live`, `/ready`, `/v1/health/memory`: does it run, does it work, how do the memories stand."""

from __future__ import annotations

import threading
import time
from typing import Final

from fastapi import APIRouter, Request, Response

from amos_graph.api.calls import Queried, request_id_of, within
from amos_graph.api.contract import get, responses
from amos_graph.api.envelope import answer
from amos_graph.api.parameters import read_query
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.health import check_ready, memory_health

router = APIRouter(tags=["health"])

#: A good answer holds this long, so that asking often costs no more writes than asking each second.
READY_FOR_S: Final = 1.0
#: While a check is under way, a good answer holds this long for everybody else.
CHECKING_FOR_S: Final = 5.0


class Readiness:
    """One check at a time, and its good answer kept for a second; nobody waits for another's check."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._good_at: float | None = None

    def check(self) -> None:
        """Raise `unavailable` unless the store answers, reads and writes.

        A Neo4j that hangs keeps one worker thread here and no more.
        """
        if self._good_within(READY_FOR_S):
            return
        if not self._lock.acquire(blocking=False):
            if self._good_within(CHECKING_FOR_S):
                return
            raise AmosError("unavailable", "Neo4j is being asked and has not answered yet")
        try:
            check_ready(self._graph)
            self._good_at = time.monotonic()
        finally:
            self._lock.release()

    def _good_within(self, seconds: float) -> bool:
        return self._good_at is not None and time.monotonic() - self._good_at < seconds


@router.get("/live", operation_id="live", responses=responses(500))
async def live(request: Request) -> Response:
    """Answer while the service runs, whatever Neo4j does."""
    # On the event loop, since every worker thread may be waiting for Neo4j.
    return answer(request_id_of(request), {"live": True})


@router.get("/ready", operation_id="ready", responses=responses(500, 503))
def ready(request: Request) -> Response:
    """Answer once Neo4j has its schema and has just taken a write and given it back."""
    readiness: Readiness = request.app.state.readiness
    readiness.check()
    return answer(request_id_of(request), {"ready": True})


@router.get("/v1/health/memory", **get("health:memory"))
def health_of_memory(request: Request, call: Queried) -> Response:
    """Count the memories that the caller can see, by project, type, lifecycle state and health."""
    _, scope = read_query(request, None)
    call = within(call, scope)
    return call.reading(memory_health(call.context))
