"""Read models for notebooks: the graph as neomodel classes, through a connection that cannot write.

Nothing that writes or recalls imports this package, and no other one imports neomodel. Attributes are
the properties' own names, but for two that neomodel keeps for itself: `id` is `ref`, and `labels` of an
entity is `label_names`. docs/analyst.md draws the classes.
"""

from typing import Final

from amos_graph.analyst.bookkeeping import (
    AccessClass,
    Canary,
    Embedding,
    IndexMark,
    InteractionStream,
    Migration,
    PacketManifest,
    Receipt,
    RetrievalOutcome,
    TermStatistics,
    Usage,
)
from amos_graph.analyst.chain import Event, Journal, Version
from amos_graph.analyst.kinds import KINDS
from amos_graph.analyst.models import (
    LEFT_OUT,
    Artifact,
    Atom,
    Client,
    Edge,
    Entity,
    EnumValue,
    Evidence,
    Link,
    Mention,
    Name,
    Node,
    Refusal,
    RelationType,
    Role,
    Score,
    Told,
)
from amos_graph.analyst.reading import connect

#: Every model but those of `KINDS`, in the order in which the class diagram draws them.
MODELS: Final[tuple[type[Node], ...]] = (
    Journal,
    Event,
    Version,
    Atom,
    Edge,
    Evidence,
    Entity,
    RelationType,
    EnumValue,
    Client,
    Refusal,
    Score,
    Artifact,
    Receipt,
    AccessClass,
    InteractionStream,
    Name,
    Usage,
    PacketManifest,
    RetrievalOutcome,
    Embedding,
    IndexMark,
    TermStatistics,
    Migration,
    Canary,
)

__all__ = [
    "KINDS",
    "LEFT_OUT",
    "MODELS",
    "AccessClass",
    "Artifact",
    "Atom",
    "Canary",
    "Client",
    "Edge",
    "Embedding",
    "Entity",
    "EnumValue",
    "Event",
    "Evidence",
    "IndexMark",
    "InteractionStream",
    "Journal",
    "Link",
    "Mention",
    "Migration",
    "Name",
    "Node",
    "PacketManifest",
    "Receipt",
    "Refusal",
    "RelationType",
    "RetrievalOutcome",
    "Role",
    "Score",
    "TermStatistics",
    "Told",
    "Usage",
    "Version",
    "connect",
]
