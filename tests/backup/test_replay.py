"""Replay gives the same graph on another server, whatever the process around it (T11)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.digest import TRIES, RestlessError, graph_digest
from amos_graph.queries.verify import verify
from amos_graph.upkeep.replay import Store, replay
from tests.administrator import run, wipe
from tests.backup.conftest import Told
from tests.samples import belief, source_event
from tests.server import Server


def stores(told: Told, there: Context) -> tuple[Store, Store]:
    return Store(told.context.graph, told.context.archive), Store(there.graph, there.archive)


@pytest.mark.reliability("T11")
def test_a_replay_from_zero_and_from_where_it_stands_gives_the_same_graph(told: Told, there: Context) -> None:
    """Both digests are equal, and still after more was written and replayed on top."""
    source, target = stores(told, there)
    (first,) = replay(source, target, [told.shard])
    (again,) = replay(source, target, [told.shard])
    commit(told.context, {"atoms": [belief(id="later", payload={"object": "later"}, supersedes=["b5"])]})
    archive(told.context, {"atom_id": "said4", "reason": "later too"})
    (further,) = replay(source, target, [told.shard])

    assert [r.rebuilt.outcome for r in (first, again, further)] == ["written", "present", "written"]
    assert (first.equal, again.equal, further.equal) == (True, True, True)
    assert first.source == again.source != further.source
    assert [fault.record() for fault in verify(there.graph, told.shard).faults] == []


@pytest.fixture
def servers(server: Server, second_server: Server) -> tuple[Server, Server]:
    """The session's server and the second one."""
    return server, second_server


#: What a process brings along that must not matter.
SURROUNDINGS = (
    {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Kathmandu"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "C.UTF-8", "TZ": "America/St_Johns", "PYTHONUTF8": "1"},
)


@pytest.mark.reliability("T11")
@pytest.mark.parametrize("surroundings", SURROUNDINGS, ids=["one", "other"])
def test_a_replay_in_another_process_gives_the_same_graph(
    told: Told, there: Context, servers: tuple[Server, Server], tmp_path: Path, surroundings: dict[str, str]
) -> None:
    """`amos replay` with another hash seed, locale and time zone: the digest is the one computed here."""
    server, second_server = servers
    tenant, workspace = told.shard.split("/")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AMOS_")},
        **surroundings,
        "AMOS_HOME": str(told.context.settings.home),
        "AMOS_NEO4J_URI": server.uri,
        "AMOS_NEO4J_USER": server.user,
        "AMOS_NEO4J_PASSWORD": server.password,
        "AMOS_TENANT": tenant,
        "AMOS_WORKSPACE": workspace,
        "SECOND": second_server.password,
    }
    words = ["replay", "--to", second_server.uri, "--user", second_server.user, "--password-env", "SECOND"]
    words += ["--archive", str(tmp_path / "copied"), "--json"]
    command = [sys.executable, "-m", "amos_graph", *words]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=120)
    answer: dict[str, Any] = json.loads(done.stdout)

    here = graph_digest(told.context.graph, told.shard).digest
    (shard,) = answer["shards"]
    assert (answer["equal"], shard["outcome"], shard["events"] > 0) == (True, "written", True)
    assert shard["source_digest"] == shard["target_digest"] == here
    assert graph_digest(there.graph, told.shard).digest == here
    assert any(path.is_file() for path in (tmp_path / "copied").rglob("*"))


#: Ways to change a graph that its digest must tell, and those that it must not.
CHANGES = {
    "a property": "MATCH (n:Atom {shard: $shard, id: 'b4'}) SET n.salience = 0.123",
    "its type": "MATCH (n:Atom {shard: $shard, id: 'b4'}) SET n.version = toFloat(n.version)",
    "another property": "MATCH (n:Entity {shard: $shard}) SET n.note = 'x'",
    "a label": "MATCH (n:Atom {shard: $shard, id: 'b4'}) SET n:Goal",
    "a link": "MATCH (:Atom {shard: $shard, id: 'b4'})-[r:EVIDENCED_BY]->() DELETE r",
    "a role": "MATCH (:Atom {shard: $shard, id: 'b4'})-[r:REFERS_TO]->() SET r.role = 'other'",
    "a weight": "MATCH (:Atom {shard: $shard})-[r:SUPERSEDES]->() SET r.weight = r.weight + 0.5",
    "a native relationship": "MATCH (:Atom {shard: $shard})-[r:SUPERSEDES]->() DELETE r",
    "a merge": "MATCH (:Entity {shard: $shard})-[r:MERGED_INTO]->() DELETE r",
    "a source": "MATCH (:Artifact {shard: $shard})-[r:TOLD_FROM]->() SET r.version = r.version + 1",
    "a node": "MATCH (n:Evidence {shard: $shard, evidence_id: 'evd_key'}) DETACH DELETE n",
    "an access class": "MATCH (n:AccessClass {shard: $shard}) WITH n LIMIT 1 DELETE n",
    "a stream": "MATCH (n:InteractionStream {shard: $shard}) SET n.version = n.version + 1",
}
NOT_MEANT = {
    "captions": "MATCH (n {shard: $shard}) SET n.title = 'another caption'",
    "the lock": "MATCH (n:Journal {shard: $shard}) SET n.lock_token = 'x'",
    "telemetry": "CREATE (:Usage {shard: $shard, ref: 'b4', exposures: 3})",
}


@pytest.mark.reliability("T11")
def test_the_digest_tells_every_change_of_the_graph_and_no_other(told: Told, there: Context) -> None:
    """Each kind of node, label, property, link and relationship counts; captions, locks, telemetry do not."""
    source, target = stores(told, there)
    replay(source, target, [told.shard])
    sound = graph_digest(there.graph, told.shard).digest
    for what, statement in NOT_MEANT.items():
        run(there.graph, statement, shard=told.shard)
        assert graph_digest(there.graph, told.shard).digest == sound, what
    seen = {sound}
    for what, statement in CHANGES.items():
        run(there.graph, statement, shard=told.shard)
        found = graph_digest(there.graph, told.shard).digest
        assert found not in seen, what
        seen.add(found)


class Restless(Graph):
    """A graph whose shard somebody writes to while a page of it is read, as often as is left."""

    context: Context
    left = 0

    def read(self, flow: str, work: Any, timeout_s: float | None = None) -> Any:
        if flow == "digest" and self.left:
            self.left -= 1
            commit(self.context, {"events": [source_event(f"evd_restless_{self.left}")]})
        return super().read(flow, work, timeout_s)


def test_a_digest_is_of_one_version_or_refused(told: Told, graph: Graph) -> None:
    """A shard that is written to while it is read is read again, and not for ever."""
    restless = Restless(graph.driver, observer=graph.observer)
    restless.context = told.context
    restless.left = 100
    with pytest.raises(RestlessError, match="is written to while it is read"):
        graph_digest(restless, told.shard)
    assert restless.left <= 100 - TRIES
    restless.left = 1
    assert graph_digest(restless, told.shard) == graph_digest(graph, told.shard)


def test_a_shard_without_a_journal_has_no_digest(context: Context) -> None:
    """It is not_found, as for a checkpoint."""
    with pytest.raises(AmosError) as refused:
        graph_digest(context.graph, context.scope.shard)
    assert refused.value.code == "not_found"


@pytest.mark.reliability("T11")
def test_a_replay_is_compared_with_what_it_found(told: Told, there: Context) -> None:
    """A target that was tampered with is different, and a shard of its own is not touched."""
    source, target = stores(told, there)
    replay(source, target, [told.shard])
    run(there.graph, CHANGES["a property"], shard=told.shard)
    (found,) = replay(source, target, [told.shard])
    assert (found.rebuilt.outcome, found.equal) == ("present", False)
    wipe(there.graph, told.shard)
    (mended,) = replay(source, target, [told.shard])
    assert mended.equal is True
