"""A server that is killed or stopped under writers loses nothing acknowledged and half does nothing (T01)."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.dictionary import prepare
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.local import LocalNeo4j
from amos_graph.graph.local.config import ADMIN_CLASS
from amos_graph.graph.local.installation import ensure_installed
from amos_graph.graph.local.java import find_java
from amos_graph.graph.local.process import identify
from amos_graph.graph.migrations import schema_faults
from amos_graph.graph.transactions import Graph, connect
from amos_graph.queries.get import get_atom
from amos_graph.queries.verify import verify
from amos_graph.settings import Settings
from tests.faults.history import History, check
from tests.faults.journal import checked_journal, newest
from tests.samples import belief, source_event
from tests.server import SMALL

WRITERS = 6
#: Small, so that it fits beside the suite's own server; ports of its own.
SCOPE = Scope(tenant_id="killed", workspace_id="w")


class Writers:
    """Threads that each write new atoms and replace one atom of their own, until they are told to end."""

    def __init__(self, context_of: Callable[[], Context], history: History) -> None:
        self.context_of, self.history = context_of, history
        self.ended = threading.Event()
        self.crashes: list[BaseException] = []
        self.threads = [threading.Thread(target=self._write, args=(name,)) for name in range(WRITERS)]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join(120)
            assert not thread.is_alive(), "a writer hangs"

    def _write(self, name: int) -> None:
        try:
            version, turn = 1, 0
            while not self.ended.is_set():
                turn += 1
                mark = f"{name} {turn}"
                request = {
                    "atoms": [
                        belief(payload={"object": mark}),
                        belief(id=f"own{name}", version=version, payload={"object": f"own {mark}"}),
                    ]
                }
                done = self.history.run(mark, lambda request=request: commit(self.context_of(), request))
                version = version + 1 if done.kind == "ok" else self._version(f"own{name}", version)
        except BaseException as error:
            self.crashes.append(error)
            raise

    def _version(self, ref: str, known: int) -> int:
        """What the own atom stands at, asked until the server answers."""
        while not self.ended.is_set():
            try:
                return get_atom(self.context_of(), {"atom_id": ref})["item"]["version"]
            except AmosError as error:
                if error.code != "unavailable":
                    raise
                time.sleep(0.2)
        return known


@pytest.mark.reliability("T01")
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.soak)])
def test_a_killed_server_loses_nothing_acknowledged(
    tmp_path_factory: pytest.TempPathFactory, kills: int
) -> None:
    """SIGKILL at random moments under six writers, and SIGSTOP for 5 s: the history fits the journal."""
    seed = int(os.environ.get("AMOS_TEST_SEED") or secrets.randbelow(2**32))
    # Shown when the test fails; AMOS_TEST_SEED runs the same moments again.
    print(f"AMOS_TEST_SEED={seed}")
    chance = random.Random(seed)  # noqa: S311 - moments, no secrets
    folder = tmp_path_factory.mktemp("killed")
    server = LocalNeo4j(folder, options=SMALL)
    running = server.start()
    graph = Graph(connect(running.uri, running.user, running.password, retry_s=3.0))
    try:
        prepare(graph, Settings.model_validate({"home": folder}))
        context = _context(graph, folder)
        own = [belief(id=f"own{name}", payload={"object": f"first {name}"}) for name in range(WRITERS)]
        commit(context, {"events": [source_event()], "atoms": own})
        history = History()
        writers = Writers(lambda: context, history)
        writers.start()
        flowing = 0
        try:
            for _ in range(kills):
                time.sleep(chance.uniform(1.0, 4.0))
                before = len(history.of("ok"))
                os.kill(running.pid, signal.SIGKILL)
                # A killed process takes a moment to give its memory back; it is no server to wait for.
                _wait_for(lambda pid=running.pid: identify(pid) is None)
                restarted = server.start()
                assert restarted.uri == running.uri, "the server came back at another port"
                running = restarted
                _wait_for(lambda before=before: len(history.of("ok")) > before + WRITERS)
                flowing += 1
            os.kill(running.pid, signal.SIGSTOP)
            time.sleep(5.0)
            os.kill(running.pid, signal.SIGCONT)
            before = len(history.of("ok"))
            _wait_for(lambda: len(history.of("ok")) > before + WRITERS)
        finally:
            writers.stop()

        assert writers.crashes == []
        assert flowing == kills
        journal = checked_journal(graph, SCOPE.shard)
        beliefs = [body for body in newest(graph, SCOPE.shard).values() if body.get("type") == "belief"]
        texts = [body["payload"]["object"] for body in beliefs if not body["id"].startswith("own")]
        check(history, journal, Counter(texts))
        # A compare-and-swap that was done is a version, so versions count what was done.
        for name in range(WRITERS):
            (atom,) = [body for body in beliefs if body["id"] == f"own{name}"]
            assert atom["version"] == 1 + sum(text.startswith(f"{name} ") for text in texts)
        assert not history.of("fail"), "a writer was told a conflict with its own write"
        report = verify(graph, SCOPE.shard)
        assert report.ok, report.record()
        assert verify(graph, "_system/_system").ok
        assert schema_faults(graph) == []
    finally:
        graph.close()
        server.stop()
    if kills >= 10:
        _check_store(server)


def _check_store(server: LocalNeo4j) -> None:
    """Neo4j's own check of its store files, indexes and counts finds nothing."""
    java, installation = find_java(), ensure_installed(server.cache)
    home = server.folder.root
    command = [str(java.executable), "-cp", installation.class_path, ADMIN_CLASS]
    done = subprocess.run(
        [*command, "database", "check", "neo4j", f"--report-path={home}"],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _context(graph: Graph, folder: Path) -> Context:
    identity = Identity("cli_test", "svc:test", "test", SCOPE, frozenset(CAPABILITIES))
    settings = Settings.model_validate({"home": folder})
    return Context(graph, settings, Archive(folder / "archive"), identity, SCOPE)


def _wait_for(condition: Callable[[], bool], timeout_s: float = 90.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "writes do not flow again"
        time.sleep(0.05)
