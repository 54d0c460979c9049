"""The graphs that recall is measured on, loaded by batch commits and kept if a folder is kept.

Three shards: a large one, a small one, and the small one again with a hub, an atom that has an edge
to every other. Each is loaded once; a load that was stopped goes on with the batch that it ended at.
Their atoms have the vectors and the counted words that the service's worker would give them, and no
packet of them is given twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from amos_graph.commands.execution import Context
from amos_graph.encoding import open_encoder
from amos_graph.errors import AmosError
from amos_graph.queries.versions import head_version
from amos_graph.upkeep.indexing import Indexer
from bench.figures import Run
from bench.samples import TOPICS, Json, Samples, batches
from bench.stores import send

#: Another seed is another graph: a folder that was kept has to go then.
GRAPH_SEED: Final = 20
BATCH: Final = 500

EDGES_EACH: Final = 5
LARGE: Final = 100_000
SMALL: Final = 10_000
HUB: Final = "hub"
#: Edges of one command of the hub.
_HUB_PART: Final = 1_000


def large(run: Run) -> Context:
    """100,000 atoms and 500,000 edges."""
    return _loaded(run, "large", run.count(LARGE, 100), hub=False)


def small(run: Run) -> Context:
    """10,000 atoms and 50,000 edges."""
    return _loaded(run, "small", run.count(SMALL, 50), hub=False)


def small_again(run: Run) -> Context:
    """The small graph, known to be loaded, without asking the server anything."""
    return uncached(run.store.context(_tenant("small", run.count(SMALL, 50))))


def with_hub(run: Run) -> Context:
    """The small graph and an atom with an edge to each of its atoms."""
    return _loaded(run, "hub", run.count(SMALL, 50), hub=True)


def _loaded(run: Run, name: str, atoms: int, *, hub: bool) -> Context:
    """The shard, loaded as far as it was not: its version tells which commands it has."""
    context = run.store.context(_tenant(name, atoms))
    at = context.graph.read("bench", lambda tx: head_version(tx, context.scope.shard))
    batch_count = math.ceil(atoms / BATCH)
    whole = batch_count + atoms * (1 + EDGES_EACH) + min(TOPICS, atoms) + (2 + atoms if hub else 0)
    if at == whole:
        return indexed(run, context)
    version, topics = 0, set[str]()
    for payload in _commands(atoms, hub=hub):
        found = {atom["payload"].get("topic") for atom in payload["atoms"]} - {None}
        records = sum(len(payload[part]) for part in ("events", "atoms", "edges"))
        version += records + len(found - topics)
        topics |= found
        if version > at:
            stands = send(context, payload).graph_version
            require(stands == version, f"{name} stands at {stands} in place of {version}")
            run.told(f"load {name}", version, whole)
    require(version == whole, f"{name}: {version} events in place of {whole}")
    return indexed(run, context)


def _tenant(name: str, atoms: int) -> str:
    return f"bench_{name}_{atoms}"


def indexed(run: Run, context: Context) -> Context:
    """The same shard with every atom in the vector index, asked without the packet cache."""
    indexer = Indexer(context.graph, open_encoder(context.settings.encoder))
    indexer.catch_up(context.scope.shard, count=True, tell=run.told)
    return uncached(context)


def uncached(context: Context) -> Context:
    """The same caller, to whom no packet is given twice."""
    settings = context.settings.model_copy(update={"packet_cache_bytes_max": 0})
    return replace(context, settings=settings)


def require(truth: bool, sentence: str) -> None:
    """Raise `internal` with the sentence unless it is true."""
    if not truth:
        raise AmosError("internal", sentence)


def _commands(atoms: int, *, hub: bool) -> Iterator[Json]:
    refs: list[str] = []
    for payload in batches(GRAPH_SEED, "m", atoms, EDGES_EACH, BATCH):
        refs += [atom["id"] for atom in payload["atoms"]]
        yield payload
    if hub:
        yield from _hub(refs)


def _hub(refs: list[str]) -> Iterator[Json]:
    """An atom with an edge to every other; none of its words is one that a cue asks for."""
    proof, samples = "evd_hub", Samples(GRAPH_SEED + 1)
    atom = {
        "id": HUB,
        "type": "semantic",
        "payload": {"statement": "everything hangs together"},
        "evidence_refs": [proof],
        "confidence": {"level": "high", "score": 0.9},
    }
    for start in range(0, len(refs), _HUB_PART):
        # Strong edges, so that no other neighbour keeps the hub out of the frontier.
        edges = [
            {**samples.edge(HUB, ref, proof), "weight": 1.0, "confidence": {"score": 1.0}}
            for ref in refs[start : start + _HUB_PART]
        ]
        first = start == 0
        yield {
            "events": [samples.evidence(proof)] if first else [],
            "atoms": [atom] if first else [],
            "edges": edges,
        }
