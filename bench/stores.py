"""The Neo4j that is measured: one that is given, else a managed one in a home of its own."""

from __future__ import annotations

import secrets
import signal
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from amos_graph.api.store import await_store, open_graph, operator
from amos_graph.commands.commit import commit
from amos_graph.commands.dictionary import prepare
from amos_graph.commands.execution import Context
from amos_graph.commands.plan import Receipt
from amos_graph.errors import AmosError
from amos_graph.graph.local import LocalNeo4j, LocalOptions
from amos_graph.graph.transactions import Graph
from amos_graph.settings import Settings

#: More memory than a laptop's default, so that no figure is one of paging; the same for both sides.
OPTIONS: Final = LocalOptions(heap_mb=2_048, page_cache_mb=2_048)
SMALL_OPTIONS: Final = LocalOptions(java_flags=("-XX:TieredStopAtLevel=1",))
WORKSPACE: Final = "bench"


def end_with_sigterm() -> None:
    """Have a run that is told to end take its server with it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(143))


@dataclass(slots=True)
class Store:
    """A prepared store; `graph` is another one after a restart."""

    settings: Settings
    graph: Graph
    #: The managed server, or None for a given one, which nobody restarts.
    local: LocalNeo4j | None

    def context(self, tenant: str | None = None) -> Context:
        """An operator in a tenant, by default one that nobody has used."""
        name = tenant or f"bench_{secrets.token_hex(6)}"
        settings = self.settings.model_copy(update={"tenant": name, "workspace": WORKSPACE})
        return operator(self.graph, settings)

    def stop(self) -> None:
        """Stop the managed server cleanly, so that everything is in its files."""
        if self.local is None:
            raise AmosError("unavailable", "a server that was given is not stopped")
        self.graph.close()
        self.local.stop()

    def start(self) -> None:
        """Start it again, with a new connection."""
        if self.local is None:
            raise AmosError("unavailable", "a server that was given is not started")
        self.local.start()
        self.graph = open_graph(self.settings)
        await_store(self.graph, wait_s=60)

    def data_bytes(self) -> int:
        """Bytes on disk of the managed store without its transaction logs; exact after a stop."""
        if self.local is None:
            raise AmosError("unavailable", "the files of a server that was given are out of reach")
        return self.local.folder.sizes()["data"]


@contextmanager
def opened(given: Settings, keep: Path | None, *, small: bool) -> Generator[Store]:
    """The server of AMOS_NEO4J_URI, one in the folder that is kept, or one that goes with its folder."""
    if given.neo4j_uri:
        with tempfile.TemporaryDirectory(prefix="amos-bench-") as folder:
            settings = given.model_copy(update={"archive": Path(folder)})
            graph = open_graph(settings)
            try:
                await_store(graph, wait_s=30)
                prepare(graph, settings)
                yield Store(settings, graph, None)
            finally:
                graph.close()
    elif keep is not None:
        with _managed(given, keep, small=small) as store:
            yield store
    else:
        with (
            tempfile.TemporaryDirectory(prefix="amos-bench-") as folder,
            _managed(given, Path(folder), small=small) as store,
        ):
            yield store


@contextmanager
def _managed(given: Settings, home: Path, *, small: bool) -> Generator[Store]:
    settings = given.model_copy(update={"home": home, "archive": home / "archive"})
    local = LocalNeo4j(home, options=SMALL_OPTIONS if small else OPTIONS)
    store: Store | None = None
    try:
        local.start()
        graph = open_graph(settings)
        store = Store(settings, graph, local)
        prepare(graph, settings)
        yield store
    finally:
        if store is not None:
            store.graph.close()
        local.stop()


def send(context: Context, payload: Mapping[str, Any]) -> Receipt:
    """Commit under a key of its own, as a client does."""
    return commit(replace(context, idempotency_key=secrets.token_hex(16)), payload)
