"""A service in a process of its own, which can be told to die between any two statements.

It reads jobs as lines of JSON and answers each with a line. With `dies_after` the job is run by a
forked child that ends without a word, as a killed process does, once that many statements were run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import neo4j

from amos_graph.commands.archive import archive, restore
from amos_graph.commands.capture import capture
from amos_graph.commands.clients import register_client, revoke_client
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.dictionary import prepare
from amos_graph.commands.execution import Context
from amos_graph.commands.outcomes import record_outcome
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.procedures import Procedure
from amos_graph.graph.transactions import Graph, Observer, ResultT, Tx, connect
from amos_graph.settings import Settings
from tests.conftest import ROOT
from tests.server import Server

Json = dict[str, Any]
#: How a child that was told to die ends; nothing else ends so.
DIED: Final = 77
_WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Store:
    """Which store a service serves, and for whom."""

    server: Server
    home: Path
    tenant: str

    def graph(self, observer: Observer | None = None) -> Graph:
        server = self.server
        return Graph(connect(server.uri, server.user, server.password), observer=observer)

    def context(self, graph: Graph, call: Mapping[str, Any]) -> Context:
        """The context of a call: `service`, `key` and `expected` as it says."""
        scope = Scope(tenant_id=self.tenant, workspace_id="w")
        service = call.get("service", "svc:test")
        return Context(
            graph=graph,
            settings=Settings.model_validate({"home": self.home}),
            archive=Archive(self.home / "archive"),
            identity=Identity("cli_test", service, "test", scope, frozenset(CAPABILITIES)),
            scope=scope,
            idempotency_key=call.get("key"),
            expected_versions=dict(call.get("expected", {})),
        )


def carry_out(context: Context, call: Mapping[str, Any]) -> Json:
    """Run one command; the receipt and whether it was replayed, or the code of the refusal."""
    request: Json = call["request"]
    try:
        if call["operation"] == "register":
            return {"receipt": register_client(context, request).receipt.record, "replayed": False}
        if call["operation"] == "revoke":
            receipt = revoke_client(context, request["client_id"])
        else:
            receipt = _COMMANDS[call["operation"]](context, request)
    except AmosError as error:
        return {"code": error.code, "message": error.message}
    return {"receipt": receipt.record, "replayed": receipt.replayed}


_COMMANDS: Final = {
    "capture": capture,
    "commit": commit,
    "propose": propose,
    "archive": archive,
    "restore": restore,
    "outcome": record_outcome,
}


class Service:
    """The parent's end: start it, give it jobs, kill it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._process: subprocess.Popen[str] | None = None

    def run(self, **job: Any) -> Json:
        """The answer to a job; `{"died": true}` when the child was told to die and did."""
        if self._process is None:
            self._process = self._started()
        process = self._process
        job |= {"home": str(self.store.home), "tenant": self.store.tenant}
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, "the service ended"
        return json.loads(line)

    def kill(self) -> None:
        """SIGKILL; the next job starts another one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        server = self.store.server
        return subprocess.Popen(
            [sys.executable, "-m", __name__, server.uri, server.user],
            cwd=ROOT,
            # No command line shows the password.
            env={**os.environ, "AMOS_TEST_SERVICE_PASSWORD": server.password},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


@contextmanager
def running(store: Store) -> Generator[Service]:
    """A service that is killed at the end."""
    service = Service(store)
    try:
        yield service
    finally:
        service.kill()


# --- the process itself --------------------------------------------------------------------------


class _Counting:
    """Counts statements, and dies after the one that it is told."""

    def __init__(self, dies_after: int) -> None:
        self.dies_after = dies_after
        self.names: list[str] = []
        #: Its statements do not count, and its first one lasts until the others queue.
        self.opener: threading.Thread | None = None
        self.opening = False
        self.queued: Callable[[], bool] = lambda: True

    def __call__(
        self, procedure: Procedure[Any], _rows: list[dict[str, Any]], _counters: neo4j.SummaryCounters
    ) -> None:
        if threading.current_thread() is self.opener:
            self.opening = True
            _wait_for(self.queued)
            return
        self.names.append(procedure.name)
        if len(self.names) == self.dies_after:
            os._exit(DIED)


class _Mortal(Graph):
    """A Graph whose process dies before or after one of its write transactions."""

    transactions = 0
    dies_before = 0
    dies_behind = 0

    def write(self, flow: str, work: Callable[[Tx], ResultT], timeout_s: float | None = None) -> ResultT:
        self.transactions += 1
        if self.transactions == self.dies_before:
            os._exit(DIED)
        done = super().write(flow, work, timeout_s)
        if self.transactions == self.dies_behind:
            os._exit(DIED)
        return done


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WAIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("nobody queued")
        time.sleep(0.002)


def _mortal(store: Store, job: Mapping[str, Any], counting: _Counting) -> _Mortal:
    server = store.server
    graph = _Mortal(connect(server.uri, server.user, server.password), observer=counting)
    graph.dies_before, graph.dies_behind = job.get("dies_before", 0), job.get("dies_behind", 0)
    return graph


def _answer(store: Store, job: Mapping[str, Any]) -> Json:
    """Run a job in this process: a migration, one call, or a group behind an opener."""
    counting = _Counting(job.get("dies_after", 0))
    graph = _mortal(store, job, counting)
    if job.get("dies_in_archive"):
        # The payload is written and not yet on the disk under its name.
        os.fsync = _dies
    try:
        if job.get("prepare"):
            applied = prepare(graph, Settings.model_validate({"home": store.home}))
            return {"applied": applied, "transactions": graph.transactions}
        outcomes = _together(store, graph, counting, job["calls"])
    finally:
        graph.close()
    if job.get("dies_unheard"):
        os._exit(DIED)
    return {"outcomes": outcomes, "statements": counting.names}


def _dies(_file: object) -> None:
    os._exit(DIED)


def _together(store: Store, graph: Graph, counting: _Counting, calls: Sequence[Json]) -> list[Json]:
    """The first call holds the shard until all others queue behind it, so that they make one group."""
    if len(calls) == 1:
        return [carry_out(store.context(graph, calls[0]), calls[0])]
    outcomes: list[Json] = [{} for _ in calls]

    def run(index: int) -> None:
        outcomes[index] = carry_out(store.context(graph, calls[index]), calls[index])

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    shard = f"{store.tenant}/w"
    counting.queued = lambda: graph.writers.waiting(shard) == len(calls) - 1
    counting.opener = threads[0]
    for index, thread in enumerate(threads):
        thread.start()
        # One after the other, so that the order in the group is the order of the calls.
        _wait_for(lambda at=index: counting.opening and graph.writers.waiting(shard) >= at)
    for thread in threads:
        thread.join(_WAIT_S)
    return outcomes


def _forked(store: Store, job: Mapping[str, Any]) -> Json:
    """The answer of a child; nothing is open here that it could inherit."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            json.dump(_answer(store, job), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"died": True} if code == DIED else json.loads(text)


def _main() -> None:
    uri, user = sys.argv[1:]
    server = Server(uri, user, os.environ["AMOS_TEST_SERVICE_PASSWORD"])
    graph: Graph | None = None
    for line in sys.stdin:
        job = json.loads(line)
        store = Store(server, Path(job["home"]), job["tenant"])
        if job.get("call"):
            graph = graph or store.graph()
            answer = carry_out(store.context(graph, job["call"]), job["call"])
        else:
            answer = _forked(store, job)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
