"""The service: one FastAPI app over one Neo4j, synchronous endpoints in worker threads."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI

from amos_graph import __version__
from amos_graph.api import (
    artifacts,
    atoms,
    contract,
    events,
    failures,
    governance,
    health,
    outcomes,
    packets,
    pages,
    provenance,
    refusals,
    verification,
)
from amos_graph.api.calls import Store
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.settings import Settings

_DESCRIPTION: Final = (
    "Memories for agents, in Neo4j: typed, evidenced, scoped, journaled and explained. "
    "Every answer, whatever its status, is an AmosResponse."
)


def create_app(graph: Graph, settings: Settings, archive: Archive) -> FastAPI:
    """The service over a graph; nothing is asked of Neo4j until a request comes."""
    app = FastAPI(
        title="amos-graph",
        version=__version__,
        description=_DESCRIPTION,
        # Both would load their scripts from another host; `pages` serves the first from here.
        docs_url=None,
        redoc_url=None,
        # A path with a slash too many is no path of ours; a redirect would not be an AmosResponse.
        redirect_slashes=False,
    )
    app.state.store = Store(graph, settings, archive)
    app.state.readiness = health.Readiness(graph)
    memory = (events, packets, atoms, artifacts, outcomes, provenance, refusals, governance)
    for module in (*memory, verification, health, pages):
        app.include_router(module.router)
    failures.install(app)
    contract.install(app, settings)
    return app
