"""What packets held is kept: behind the answer, within bounds, across restarts, and for no absent shard."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any, Final

import pytest

from amos_graph.commands.execution import Context
from amos_graph.domain.outcomes import manifest_from, manifest_of
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph, connect
from amos_graph.queries.digest import graph_digest
from amos_graph.queries.verify import verify
from tests.administrator import run
from tests.conftest import ROOT, ContextOf
from tests.outcomes.samples import CAUSES, FAR, SUPPORTS, count, harbour, numbers, recalled, tell, usage
from tests.recall.samples import packet
from tests.server import Server


@pytest.fixture
def shard(context: Context) -> Context:
    harbour(context)
    return context


def _kept(context: Context) -> list[dict[str, Any]]:
    assert context.graph.outbox.flush()
    rows = run(
        context.graph,
        "MATCH (m:PacketManifest {shard: $shard}) RETURN properties(m) AS m ORDER BY m.kept_at",
        shard=context.scope.shard,
    )
    return [row["m"] for row in rows]


def test_a_manifest_says_what_the_packet_held(shard: Context) -> None:
    """Client, request, version, and of each item its version and the edges that led to it; once a packet."""
    at = "2027-01-01T00:00:00Z"
    found = recalled(shard, evaluated_at=at)
    assert recalled(shard, evaluated_at=at)["packet_id"] == found["packet_id"]

    (kept,) = _kept(shard)
    manifest = manifest_from(kept)
    assert manifest == manifest_of(found, "cli_test")
    assert [(held.version, held.path) for held in manifest.held] == [
        (1, ()),
        (1, (SUPPORTS,)),
        (1, (SUPPORTS, CAUSES)),
    ]


@pytest.mark.case("C27")
def test_reading_keeps_a_note_of_a_packet_and_writes_nothing_else(shard: Context) -> None:
    """No version, no digest, no record and no usage; and nothing at all for a shard that is absent."""
    before = (graph_digest(shard.graph, shard.scope.shard), numbers(shard))
    recalled(shard)
    assert len(_kept(shard)) == 1
    assert (graph_digest(shard.graph, shard.scope.shard), numbers(shard)) == before
    assert (count(shard, "Usage"), count(shard, "Receipt")) == (0, 1)
    assert verify(shard.graph, shard.scope.shard).ok
    scope = shard.scope.model_copy(update={"workspace_id": "absent"})
    absent = replace(shard, scope=scope, identity=replace(shard.identity, scope=scope))
    found = packet(absent, "harbour")
    assert _kept(absent) == []
    with pytest.raises(AmosError) as refused:
        tell(absent, found)
    assert refused.value.code == "not_found"
    assert run(shard.graph, "MATCH (n {shard: $shard}) RETURN n", shard=scope.shard) == []


@pytest.mark.case("C66")
def test_manifests_are_bounded_in_number(shard: Context) -> None:
    """`manifests_max`: the newest ones stay, and with a larger one all do."""
    few = replace(shard, settings=shard.settings.model_copy(update={"manifests_max": 3}))
    packets = [recalled(few, max_items=n) for n in range(1, 9)]
    assert [m["id"] for m in _kept(few)] == [found["packet_id"] for found in packets[-3:]]
    with pytest.raises(AmosError) as refused:
        tell(few, packets[0])
    assert refused.value.code == "not_found"
    tell(few, packets[-1], helpful_atom_refs=[FAR])
    for n in range(1, 9):
        recalled(shard, max_items=n, evaluated_at="2027-01-01T00:00:00Z")
    assert len(_kept(shard)) == 11


@pytest.mark.case("C66")
def test_manifests_are_bounded_in_time(shard: Context) -> None:
    """`manifest_days`: older ones go with the next packet that is tidied after."""
    short = replace(
        shard, settings=shard.settings.model_copy(update={"manifest_days": 2.0, "manifests_max": 3})
    )
    found = recalled(short, max_items=1)
    assert len(_kept(short)) == 1
    text = "MATCH (m:PacketManifest {shard: $shard}) SET m.kept_at = datetime() - duration('P3D')"
    run(shard.graph, text, shard=shard.scope.shard)
    later = recalled(short, max_items=2)

    assert [m["id"] for m in _kept(short)] == [later["packet_id"]]
    with pytest.raises(AmosError):
        tell(short, found)


@pytest.mark.case("C66")
def test_raw_outcomes_are_bounded_and_what_they_counted_stays(shard: Context) -> None:
    """`outcomes_max` and `outcome_days`; usage and scores keep what was told."""
    few = replace(shard, settings=shard.settings.model_copy(update={"outcomes_max": 2}))
    for n in range(6):
        tell(few, recalled(few, evaluated_at=f"2027-01-01T00:00:0{n}Z"), helpful_atom_refs=[FAR])
    few.graph.outbox.flush()
    assert count(few, "RetrievalOutcome") == 2
    assert usage(few, FAR)["helpful_count"] == 6
    short = replace(few, settings=few.settings.model_copy(update={"outcome_days": 1.0}))
    text = "MATCH (o:RetrievalOutcome {shard: $shard}) SET o.created_at = datetime() - duration('P2D')"
    run(shard.graph, text, shard=shard.scope.shard)
    tell(short, recalled(short), use_status="unused")
    short.graph.outbox.flush()
    assert count(short, "RetrievalOutcome") == 1


def test_an_outcome_is_told_after_a_restart(shard: Context, server: Server) -> None:
    """A stop sends what is on its way, and another process knows the packet."""
    first = Graph(connect(server.uri, server.user, server.password))
    found = recalled(replace(shard, graph=first))
    first.close()
    second = Graph(connect(server.uri, server.user, server.password))
    receipt = tell(replace(shard, graph=second), found, helpful_atom_refs=[FAR])
    second.close()

    assert receipt.record["updated"] == [CAUSES, SUPPORTS, FAR]


#: Recalls, prints the packet, and is killed at once, before anything is sent behind it.
_KILLED: Final = """
import json, os, signal, sys
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.commands.execution import Context
from amos_graph.graph import outbox
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph, connect
from amos_graph.queries.recall import recall
from amos_graph.settings import Settings

uri, user, tenant, home = sys.argv[1:]
graph = Graph(connect(uri, user, os.environ["SECRET"]))
scope = Scope(tenant_id=tenant, workspace_id="w")
identity = Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES))
settings = Settings.model_validate({"home": home})
outbox.LINGER_S = 60.0
context = Context(graph, settings, Archive(settings.archive_folder), identity, scope)
sys.stdout.write(json.dumps(recall(context, {"cues": ["harbour"]})))
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def orphan(shard: Context, server: Server) -> dict[str, Any]:
    """A packet whose service was killed behind the answer, so that nobody noted it."""
    words = [server.uri, server.user, shard.scope.tenant_id, str(shard.settings.home)]
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, *words],
        cwd=ROOT,
        env={**os.environ, "SECRET": server.password, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return json.loads(done.stdout)


@pytest.mark.reliability("T14")
def test_a_packet_whose_note_died_with_its_service_is_worked_out_again(
    shard: Context, orphan: dict[str, Any], context_of: ContextOf
) -> None:
    """By its own request and version, whatever was written since; without them it is not known."""
    assert _kept(shard) == []
    tell(shard, recalled(shard), correction_refs=[FAR])
    with pytest.raises(AmosError) as refused:
        tell(shard, orphan, helpful_atom_refs=[FAR])
    assert refused.value.code == "not_found"
    known = {"request": orphan["request"], "graph_version": orphan["graph_version"]}
    small = replace(shard, settings=shard.settings.model_copy(update={"past_records_max": 1}))
    for asking, wrong in (
        (shard, {**known, "graph_version": orphan["graph_version"] + 1}),
        (shard, {**known, "graph_version": 10_000}),
        (shard, {**known, "request": {**orphan["request"], "evaluated_at": None}}),
        (shard, {**known, "request": {**orphan["request"], "cues": ["pilot"]}}),
        (shard, {**known, "request": {**orphan["request"], "surprise": 1}}),
        (small, known),
    ):
        with pytest.raises(AmosError) as refused:
            tell(asking, orphan, helpful_atom_refs=[FAR], **wrong)
        assert refused.value.code == "not_found"
    receipt = tell(shard, orphan, helpful_atom_refs=[FAR], **known)

    assert receipt.record["updated"] == [CAUSES, SUPPORTS, FAR]
    assert usage(shard, FAR)["access_count"] == 2
    assert tell(shard, orphan, helpful_atom_refs=[FAR]).record == receipt.record
    assert verify(shard.graph, shard.scope.shard).ok
