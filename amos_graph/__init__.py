"""amos-graph: memories for agents, in Neo4j."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amos_graph.client import Amos

__version__ = "0.1.0"
__all__ = ["Amos", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the client when it is asked for, so that the domain needs no HTTP library."""
    if name == "Amos":
        from amos_graph.client import Amos  # noqa: PLC0415 - late on purpose

        return Amos
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
