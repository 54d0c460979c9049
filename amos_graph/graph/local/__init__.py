"""The managed local Neo4j: fetched once, hardened, one server per home folder."""

from amos_graph.graph.local.options import LocalOptions, default_cache, default_home
from amos_graph.graph.local.progress import Progress, Step
from amos_graph.graph.local.server import LocalNeo4j, Running, Status

__all__ = [
    "LocalNeo4j",
    "LocalOptions",
    "Progress",
    "Running",
    "Status",
    "Step",
    "default_cache",
    "default_home",
]
