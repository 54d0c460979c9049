"""The index worker: it goes on where it ended, mixes no models, and stays out of everything canonical."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from amos_graph.commands.execution import Context
from amos_graph.encoding import Encoder, open_encoder
from amos_graph.encoding.encoder import Model, Rows
from amos_graph.encoding.hashed import HashedEncoder
from amos_graph.errors import AmosError
from amos_graph.queries.digest import graph_digest
from amos_graph.queries.verify import verify
from amos_graph.upkeep import indexing
from amos_graph.upkeep.indexing import Indexer, demand_model, index_marks, keep_indexing
from tests import administrator
from tests.recall.samples import fact, packet, refs, store

HASHED = open_encoder("hashed")


def _facts(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [fact(f"f{n}", f"the crane lifts load number {n}") for n in range(start, start + count)]


def _vectors(context: Context) -> list[dict[str, Any]]:
    return administrator.run(
        context.graph,
        "MATCH (e:Embedding {shard: $shard}) RETURN e.ref AS ref, e.version AS version, "
        "e.embedding_model AS model, e.state_key AS state_key, size(e.embedding) AS size ORDER BY ref",
        shard=context.scope.shard,
    )


def _mark(context: Context) -> indexing.MarkRow:
    (mark,) = [mark for mark in index_marks(context.graph) if mark.shard == context.scope.shard]
    return mark


class _OtherModel(HashedEncoder):
    """Vectors that are told apart from those of `hashed`, and are as good."""

    model = Model("other", "1", 512)


class _WrongLength(HashedEncoder):
    """An encoder that makes other vectors than it says."""

    def encode(self, texts: Sequence[str]) -> Rows:
        return np.ones((len(texts), 1536), dtype=np.float32)


def test_a_killed_worker_is_followed_where_it_ended(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of the groups before the kill stay; the next worker makes the rest, once the lease is over."""
    monkeypatch.setattr(indexing, "GROUP_VERSIONS", 4)
    for n in range(3):
        store(context, *_facts(2, 2 * n))
    shard = context.scope.shard
    killed = Indexer(context.graph, HASHED)

    def kill(_shard: str, done: int, total: int) -> None:
        if done < total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        killed.catch_up(shard, tell=kill)
    before = _vectors(context)
    assert 0 < len(before) < 6
    assert Indexer(context.graph, HASHED).catch_up(shard).held

    administrator.run(context.graph, "MATCH (m:IndexMark {shard: $s}) SET m.leased_until = 0", s=shard)
    found = Indexer(context.graph, HASHED).catch_up(shard)

    assert found.encoded == 6 - len(before)
    assert [row["ref"] for row in _vectors(context)] == [f"f{n}" for n in range(6)]
    assert (found.indexed, _mark(context).indexed) == (found.head, found.head)
    with pytest.raises(AmosError, match="another worker"):
        killed.move(shard, 1, 0)


@pytest.mark.case("C63")
def test_vectors_of_another_model_or_length_are_refused_and_nothing_is_written(context: Context) -> None:
    """At start and at each write the refusal names what was expected and got; a rebuild changes the model."""
    store(context, *_facts(2))
    shard, other = context.scope.shard, _OtherModel()
    first = Indexer(context.graph, HASHED)
    first.catch_up(shard)
    written = _vectors(context)

    with pytest.raises(AmosError) as wrong_length:
        Indexer(context.graph, _WrongLength()).vectors_of(["a"])
    with pytest.raises(AmosError) as at_start:
        demand_model(context.graph, other)
    with pytest.raises(AmosError) as refused:
        Indexer(context.graph, other).catch_up(shard)
    row = {"ref": "f0", "version": 1, "fresh": True, "embedding": [1], "squares": 1}
    with pytest.raises(AmosError) as at_write:
        Indexer(context.graph, other).send(shard, [row])
    assert {error.value.code for error in (wrong_length, at_start, refused, at_write)} == {
        "derived_index_stale"
    }
    assert wrong_length.value.details == {"expected": 512, "got": 1536}
    for error in (refused, at_write):
        assert error.value.details == {"expected": HASHED.model.key, "got": other.model.key}
    assert _vectors(context) == written

    changed = Indexer(context.graph, other)
    changed.forget([shard])
    assert changed.catch_up(shard).encoded == 2
    assert {row["model"] for row in _vectors(context)} == {other.model.key}
    with pytest.raises(AmosError, match="amos index --rebuild"):
        first.catch_up(shard)
    Indexer(context.graph, HASHED).forget([shard])


def test_vectors_follow_versions_and_standing(context: Context) -> None:
    """A changed text is encoded anew; a superseded atom keeps its vector, and the filter knows of it."""
    store(context, *_facts(2))
    indexer = Indexer(context.graph, HASHED)
    shard = context.scope.shard
    assert indexer.catch_up(shard).encoded == 2

    store(context, fact("f0", "the crane is painted", version=1))
    store(context, fact("g", "the crane is sold", supersedes=["f1"]))

    assert indexer.catch_up(shard).encoded == 2
    assert [(row["ref"], row["version"], row["state_key"]) for row in _vectors(context)] == [
        ("f0", 2, "live"),
        ("f1", 1, "superseded"),
        ("g", 1, "live"),
    ]


def test_an_index_is_in_no_digest_and_no_fault(context: Context) -> None:
    """verify and the digest of the graph are the same with vectors and without."""
    store(context, *_facts(2))
    shard = context.scope.shard
    before = graph_digest(context.graph, shard)

    Indexer(context.graph, HASHED).catch_up(shard, count=True)

    assert graph_digest(context.graph, shard) == before
    assert verify(context.graph, shard).faults == []


def test_the_worker_of_the_service_goes_on_after_a_failure_and_stops_when_told(context: Context) -> None:
    """A failure is followed by another try; a stop ends the thread between two groups."""
    store(context, *_facts(1))
    stopping, failed = threading.Event(), threading.Event()

    class FailsOnce(HashedEncoder):
        def encode(self, texts: Sequence[str]) -> Rows:
            if not failed.is_set():
                failed.set()
                raise OSError("no memory")
            return super().encode(texts)

    encoder: Encoder = FailsOnce()
    worker = threading.Thread(target=keep_indexing, args=(context.graph, encoder, 0.05, stopping))
    worker.start()
    deadline = time.monotonic() + 60
    while _mark(context).indexed < _mark(context).head and time.monotonic() < deadline:
        time.sleep(0.1)
    stopping.set()
    worker.join(30)

    assert failed.is_set()
    assert not worker.is_alive()
    assert _mark(context).indexed == _mark(context).head
    assert refs(packet(replace(context), "crane")) == ["f0"]
