"""`amos index`: have the vectors of all memories made now, or made anew, with the database's own login."""

from __future__ import annotations

import time
from typing import Annotated, Final

import typer

from amos_graph.cli.administration import opened
from amos_graph.cli.output import JsonOption, counted, print_json, print_table
from amos_graph.encoding import open_encoder
from amos_graph.upkeep.indexing import Indexed, Indexer, Tell, index_marks

#: How often another worker that has the shard is looked at.
_WAIT_S: Final = 0.5


def index(
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make all vectors anew, as after a change of AMOS_ENCODER.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the vectors that are missing and count words; a run that was stopped goes on where it ended."""
    with opened(as_json) as (graph, settings), counted("indexing") as tell:
        indexer = Indexer(graph, open_encoder(settings.encoder))
        marks = index_marks(graph)
        if rebuild:
            # Of every shard first, so that a run that is stopped leaves none with the old model.
            indexer.forget([mark.shard for mark in marks])
        found = [_indexed(indexer, mark.shard, tell) for mark in marks]
    if as_json:
        print_json({"encoder": indexer.encoder.model.key, "shards": [entry.record() for entry in found]})
        return
    print_table(
        ["shard", "graph version", "vectors made", "words counted"],
        ([entry.shard, entry.indexed, entry.encoded, "yes" if entry.counted else ""] for entry in found),
    )


def _indexed(indexer: Indexer, shard: str, tell: Tell) -> Indexed:
    """One shard, after another worker that may be at it."""
    while True:
        found = indexer.catch_up(shard, count=True, tell=tell)
        if not found.held:
            return found
        tell(shard, found.indexed, found.head)
        time.sleep(_WAIT_S)
