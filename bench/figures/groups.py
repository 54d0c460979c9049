"""Many writers on one shard: commands per second in process and through the service."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final

import httpx

from amos_graph import Amos
from amos_graph.api.store import open_graph
from amos_graph.commands.clients import register_client
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES
from amos_graph.errors import AmosError
from amos_graph.graph.procedures import Procedure
from amos_graph.graph.transactions import Graph
from bench.figures import Figure, Measured, Run
from bench.figures.commit import shard_with_pool
from bench.measuring import Arm, Times, alternating, plain_row, rate_ratio_row, rate_row
from bench.rivals import clear, write
from bench.samples import Json, Samples
from bench.stores import Store, send

WRITERS: Final = 32
#: Commands that each writer sends in one repetition.
EACH: Final = 5
_START_S: Final = 60.0
Commands = list[list[Json]]


def one_atom(samples: Samples, name: str, proof: str) -> Json:
    """A command of one atom, on evidence that is there."""
    return {"atoms": [samples.atom(name, proof)]}


def _commands(samples: Samples, name: str, proof: str, each: int) -> Commands:
    """For each writer its commands: one atom each, on evidence that is there."""
    return [
        [one_atom(samples, f"{name}-{writer}-{number}", proof) for number in range(each)]
        for writer in range(WRITERS)
    ]


def _together(pool: ThreadPoolExecutor, work: Commands, senders: Sequence[Callable[[Json], object]]) -> None:
    """Every writer begins at once and sends its next command when its last one is answered."""
    ready = threading.Barrier(WRITERS)

    def write_all(writer: int) -> None:
        ready.wait()
        for payload in work[writer]:
            senders[writer](payload)

    for done in [pool.submit(write_all, writer) for writer in range(WRITERS)]:
        done.result()


class _Locks:
    """Counts how often a shard was locked, which is once for each group."""

    def __init__(self) -> None:
        self.taken = 0

    def __call__(self, procedure: Procedure[Any], _rows: Any, _counters: Any) -> None:
        # Only the leader of a group runs statements, and there is one shard.
        self.taken += procedure.name == "journal/lock_shard"


def _raw(graph: Graph, work: list[list[Json]]) -> None:
    for rows in work:
        write(graph, "unwind_nodes", rows=rows)


def _rows(samples: Samples, name: str, each: int) -> list[list[Json]]:
    """As many transactions of 32 records as each writer has commands."""
    return [[_flat(samples.atom(f"{name}-{k}-{i}", "evd_x")) for i in range(WRITERS)] for k in range(each)]


def _flat(atom: Json) -> Json:
    return {
        "id": atom["id"],
        "type": atom["type"],
        "evidence_refs": atom["evidence_refs"],
        "confidence_score": atom["confidence"]["score"],
        **atom["payload"],
    }


def _measure(run: Run) -> Measured:
    samples = Samples(2)
    context, _ = shard_with_pool(run.store, samples, run.count(500, 20))
    proof, each = "evd_pool0", run.count(EACH, 1)
    locks = _Locks()
    observed = open_graph(context.settings)
    observed.observer = locks
    own = replace(context, graph=observed)
    graph = run.store.graph
    with (
        ThreadPoolExecutor(WRITERS) as pool,
        service(run.store, context) as (url, token),
        _clients(url, token) as clients,
    ):
        # Each writer waits for its answer, so their number bounds what is under way.
        arms = alternating(
            {
                "in process": Arm(
                    lambda index: _commands(samples, f"group{index}", proof, each),
                    lambda work: _together(pool, work, [partial(send, own)] * WRITERS),
                ),
                "raw UNWIND": Arm(
                    lambda index: _rows(samples, f"raw{index}", each), lambda work: _raw(graph, work)
                ),
                "over HTTP": Arm(
                    lambda index: _commands(samples, f"http{index}", proof, each),
                    lambda work: _together(pool, work, [_poster(client) for client in clients]),
                ),
            },
            n=run.count(30, 1),
            warmup=run.count(10, 1),
            tick=run.tick("groups"),
        )
    observed.close()
    clear(graph)
    return _result(arms, locks, WRITERS * each, repetitions=run.count(40, 2))


def _result(arms: dict[str, Times], locks: _Locks, many: int, *, repetitions: int) -> Measured:
    ours, raw, http = arms["in process"], arms["raw UNWIND"], arms["over HTTP"]
    grouped = many * repetitions / max(1, locks.taken)
    return Measured(
        rows=(
            rate_ratio_row("groups.commands_over_raw_records", ours, many, raw, many),
            rate_ratio_row("groups.http_commands_over_raw_records", http, many, raw, many),
            rate_row("groups.commands_per_s", ours, many, "commands/s"),
            rate_row("groups.http_commands_per_s", http, many, "commands/s"),
            rate_row("groups.raw_records_per_s", raw, many, "records/s"),
            plain_row("groups.commands_per_transaction", grouped, "commands", locks.taken),
        ),
        arms=arms,
        bars={name: many * times.n / times.total for name, times in arms.items()},
        unit="a second",
        notes=(
            f"a repetition is {many} commands of one atom each, in equal parts by {WRITERS} writers,",
            f"and for the rival {many // WRITERS} transactions of {WRITERS} records",
        ),
    )


def _poster(client: Amos) -> Callable[[Json], object]:
    return lambda payload: client.commit(**payload, idempotency_key=secrets.token_hex(16))


@contextmanager
def _clients(url: str, token: str) -> Generator[list[Amos]]:
    clients = [Amos(url, token) for _ in range(WRITERS)]
    try:
        yield clients
    finally:
        for client in clients:
            client.close()


@contextmanager
def service(store: Store, context: Context) -> Generator[tuple[str, str]]:
    """The service in a process of its own, as it is deployed, and a token for the shard."""
    record = {"id": "cli_bench", "service_id": "svc:bench", "capabilities": list(CAPABILITIES)}
    token = register_client(context, record).token
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = store.settings
    environment = {
        **os.environ,
        "AMOS_HOME": str(settings.home),
        "AMOS_ARCHIVE": str(settings.archive_folder),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "amos_graph.api.serve", "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _await_ready(url, process)
        yield url, token
    finally:
        process.terminate()
        process.wait(30)


def _await_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/ready", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AmosError("unavailable", "the service did not become ready")


FIGURE: Final = Figure(
    name="groups",
    title=f"{WRITERS} writers on one shard, against raw UNWIND of {WRITERS} records in one transaction",
    needs="fresh",
    rows=(
        "groups.commands_over_raw_records",
        "groups.http_commands_over_raw_records",
        "groups.commands_per_s",
        "groups.http_commands_per_s",
        "groups.raw_records_per_s",
        "groups.commands_per_transaction",
    ),
    measure=_measure,
)
