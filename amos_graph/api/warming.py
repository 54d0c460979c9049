"""A first recall before anybody waits for one.

Why: Neo4j plans a statement when it first meets it, and its machine compiles what it runs often, so the
first recall after a start takes many times as long as the next. A plan holds for parameters of about
the same length, which is why a real recall warms up more than statements with samples do.
"""

from __future__ import annotations

from typing import Any, Final

from amos_graph.api.store import operator
from amos_graph.commands.dictionary import SYSTEM_SCOPE
from amos_graph.commands.execution import Context
from amos_graph.domain.packets import check_request
from amos_graph.domain.times import now
from amos_graph.graph.transactions import Graph
from amos_graph.queries.journal import list_shards
from amos_graph.queries.recall.packet import assembled, settled
from amos_graph.settings import Settings

ITEMS: Final = 20
#: Recalls by words, after one without; the second already runs on the plans of the first.
CUES: Final = 3


def warm_up(graph: Graph, settings: Settings) -> int:
    """Recall from the shard with the longest journal, without a cue and by the words of what came; how often.

    Reads only: these packets are given to nobody, so none is noted or kept. In a store without memories
    there is nothing to recall, and nothing is done.
    """
    shards = [row for row in list_shards(graph) if row.shard != SYSTEM_SCOPE.shard and row.graph_version > 0]
    if not shards:
        return 0
    tenant, _, workspace = max(shards, key=lambda row: row.graph_version).shard.partition("/")
    context = operator(graph, settings.model_copy(update={"tenant": tenant, "workspace": workspace}))
    cues = [each["rendered_content"][:200] for each in _items(context)[:CUES]]
    for cue in cues:
        _items(context, cue)
    return 1 + len(cues)


def _items(context: Context, *cues: str) -> list[dict[str, Any]]:
    request = {
        "scope": context.scope.record(),
        "target_processor": "reasoner",
        "max_items": min(ITEMS, context.settings.items_max),
        "cues": list(cues),
    }
    asked = check_request(request, context.scope, now(), context.settings.items_max)
    return assembled(context, asked, settled(context, asked))["items"]
