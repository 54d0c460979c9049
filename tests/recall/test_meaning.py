"""Nearness of meaning in packets: proposed by an index, exact, as fresh as words, and blind to the hidden."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Identity, Scope
from amos_graph.encoding import open_encoder
from amos_graph.queries.recall import meaning
from amos_graph.upkeep.indexing import Indexer, keep_indexing
from tests import administrator
from tests.conftest import ContextOf
from tests.recall.samples import fact, packet, reasons, refs, store
from tests.samples import source_event

_AT = "2027-01-01T00:00:00.000000Z"
HASHED = open_encoder("hashed")


def _indexed(context: Context, *, count: bool = False) -> None:
    found = Indexer(context.graph, HASHED).catch_up(context.scope.shard, count=count)
    assert found.indexed == found.head


def _with(context: Context, **changes: Any) -> Context:
    return replace(context, settings=context.settings.model_copy(update=changes))


def _similar(found: dict[str, Any]) -> dict[str, float]:
    return {i["atom_ref"]: i["score_components"]["semantic_similarity"] for i in found["items"]}


@pytest.mark.case("C70")
def test_what_was_written_is_found_by_meaning_before_and_after_it_is_indexed(context: Context) -> None:
    """Misspelt cues match no word; tail and index give the same packet, and an edit is found at once."""
    store(context, fact("k", "Kubernetes deployments restart nightly"), fact("t", "Tea is served at four"))
    fresh = packet(context, "kubernets deploymnt", evaluated_at=_AT)
    assert refs(fresh) == ["k"]
    assert fresh["provenance"]["encoder"] == HASHED.model.key

    _indexed(context)
    indexed = packet(context, "kubernets deploymnt", evaluated_at=_AT)
    assert json.dumps(indexed["items"]) == json.dumps(fresh["items"])
    assert indexed["provenance"]["index_version"] == fresh["provenance"]["index_version"]

    store(context, fact("k", "Postgres backups run hourly", version=1))
    assert refs(packet(context, "postgrs bakups")) == ["k"]
    assert refs(packet(context, "kubernets deploymnt")) == []
    _indexed(context)
    assert refs(packet(context, "postgrs bakups")) == ["k"]
    assert refs(packet(context, "kubernets deploymnt")) == []


def test_a_longer_tail_than_is_looked_at_is_told(context: Context) -> None:
    """AMOS_TAIL_MAX records are compared, newest first; what is beyond is disclosed until it is indexed."""
    store(context, fact("old", "Kubernetes deployments restart"))
    store(context, fact("new", "Postgres backups run hourly"))
    short = _with(context, tail_max=1)

    found = packet(short, "kubernets deploymnt")
    assert refs(found) == []
    assert "derived_index_stale" in reasons(found)
    assert found["degradation"]["index_freshness"] == "stale"
    assert refs(packet(short, "postgrs bakups")) == ["new"]
    assert "derived_index_stale" not in reasons(packet(context, "kubernets deploymnt"))

    _indexed(context)
    found = packet(short, "kubernets deploymnt")
    assert refs(found) == ["old"]
    assert found["degradation"] is None


def test_an_index_that_serves_another_model_is_passed_by(context: Context) -> None:
    """Vectors of another model are no candidates: everything is tail, and is compared exactly."""
    store(context, fact("k", "Kubernetes deployments restart"))
    _indexed(context)
    before = packet(context, "kubernets deploymnt", evaluated_at=_AT)
    administrator.run(
        context.graph,
        "MATCH (n:Embedding|IndexMark {shard: $s}) SET n.embedding_model = 'x.1/512/int8'",
        s=context.scope.shard,
    )

    assert packet(context, "kubernets deploymnt", evaluated_at=_AT)["items"] == before["items"]
    Indexer(context.graph, HASHED).forget([context.scope.shard])


def test_filters_and_standing_hold_for_what_meaning_proposes(context: Context) -> None:
    """Types, payload filters, validity, supersession and flags, in the index and in the tail alike."""
    over = {"validity_interval": {"until": "2020-01-01T00:00:00Z"}}
    store(
        context,
        fact("now", "Kubernetes deployments restart", payload={"topic": "ops"}),
        fact("was", "Kubernetes deployments restarted", payload=over),
        fact("old", "Kubernetes deployment restarts"),
    )
    store(context, fact("next", "Kubernetes deployments never restart", supersedes=["old"]))
    for _ in range(2):
        cue = "kubernets deploymnt"
        assert sorted(refs(packet(context, cue))) == ["next", "now"]
        assert refs(packet(context, cue, payload_filter={"topic": "ops"})) == ["now"]
        assert refs(packet(context, cue, requested_memory_types=["belief"])) == []
        assert sorted(refs(packet(context, cue, include_superseded=True))) == ["next", "now", "old"]
        _indexed(context)


@pytest.mark.reliability("T19")
def test_vectors_and_words_of_hidden_memories_change_no_byte(
    context_of: ContextOf, caller: Identity, tenant: str
) -> None:
    """Two worlds whose hidden memories differ give one packet, with vectors and counted words."""
    answers: list[str] = []
    for world, words in (("a", "kubernetes deployment harbour"), ("b", "zzz yyy xxx")):
        scope = Scope(tenant_id=f"{tenant}{world}", workspace_id="w")
        identity = Identity(caller.client_id, caller.service_id, "test", scope, caller.capabilities)
        reader = context_of(identity)
        store(reader, *(fact(f"f{n}", f"Kubernetes deployment number {n} restarts") for n in range(6)))
        secret = context_of(identity, scope={"project_id": "secret"})
        hidden = [fact(f"h{n}", f"{words} {n}", evidence_refs=["evd_secret"]) for n in range(8)]
        commit(secret, {"events": [source_event("evd_secret")], "atoms": hidden})
        _indexed(reader, count=True)
        found = packet(reader, "kubernets deploymnt harbor", evaluated_at=_AT)
        assert len(found["items"]) == 6
        kept = {name: found[name] for name in ("omissions", "degradation", "attention_trace", "provenance")}
        told = [[item["atom_ref"], item["score"]] for item in found["items"]]
        answers.append(json.dumps([kept, told, _similar(found)], sort_keys=True))

    assert answers[0] == answers[1]


def test_words_that_were_counted_weigh_and_are_kept_by_their_content(context: Context) -> None:
    """Counting words changes the index version, and the memory with the rare word is the nearer one."""
    store(context, *(fact(f"f{n}", f"harbour crane {n}") for n in range(12)), fact("z", "zeppelin crane"))
    before = packet(context, "harbour zeppelins", max_items=50, evaluated_at=_AT)
    _indexed(context, count=True)
    after = packet(context, "harbour zeppelins", max_items=50, evaluated_at=_AT)

    assert before["provenance"]["index_version"] != after["provenance"]["index_version"]
    assert _similar(after)["z"] > _similar(before).get("z", 0.0)
    again = packet(
        context, "harbour zeppelins", max_items=50, evaluated_at=_AT, as_of_version=after["graph_version"]
    )
    assert again["items"] == after["items"]


@pytest.mark.reliability("T12")
def test_packets_stay_of_one_version_while_the_worker_runs(context: Context) -> None:
    """Each packet holds all that was committed before it, whatever the worker has done meanwhile."""
    stopping = threading.Event()
    worker = threading.Thread(target=keep_indexing, args=(context.graph, HASHED, 0.01, stopping))
    worker.start()
    try:
        for n in range(6):
            store(context, fact(f"f{n}", f"Kubernetes deployments restart, case {n}"))
            found = packet(context, "kubernets deploymnt", max_items=50, evaluated_at=_AT)
            assert sorted(refs(found)) == [f"f{m}" for m in range(n + 1)]
            then = packet(
                context,
                "kubernets deploymnt",
                max_items=50,
                evaluated_at=_AT,
                as_of_version=found["graph_version"],
            )
            assert then["items"] == found["items"]
    finally:
        stopping.set()
        worker.join(60)
    assert not worker.is_alive()


def test_more_vectors_than_a_process_keeps_are_made_again(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kept vectors are bounded, and a packet is the same without them."""
    monkeypatch.setattr(meaning.vectors_kept, "_most", 1)
    store(context, fact("a", "Kubernetes deployments restart"), fact("b", "Kubernetes deployment restarts"))

    first = packet(context, "kubernets deploymnt", evaluated_at=_AT)

    assert sorted(refs(first)) == ["a", "b"]
    assert packet(context, "kubernets deploymnt", evaluated_at=_AT)["items"] == first["items"]
