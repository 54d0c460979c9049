"""`amos up`, `down`, `status`: the service and its Neo4j as one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from amos_graph import __version__
from amos_graph.api.store import await_store, local_neo4j, open_graph
from amos_graph.cli.credentials import Credentials, ensure_credentials, file_name
from amos_graph.cli.output import (
    NOT_RUNNING,
    JsonOption,
    counted,
    err,
    failures,
    out,
    print_facts,
    print_json,
    steps,
)
from amos_graph.cli.service import ServiceHome, is_ready
from amos_graph.commands.dictionary import prepare
from amos_graph.encoding import open_encoder
from amos_graph.errors import AmosError
from amos_graph.graph.local import Running
from amos_graph.graph.local.home import folder_bytes
from amos_graph.graph.local.ports import is_open
from amos_graph.graph.migrations import status as migration_status
from amos_graph.graph.transactions import Graph
from amos_graph.queries.health import unsafe_settings
from amos_graph.queries.verify import checkpoint_of
from amos_graph.settings import Settings
from amos_graph.upkeep.indexing import demand_model

#: How long a server that was given may take to answer; it may be starting beside us.
STORE_WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Up:
    """A service that is up: where it is, and who may use it."""

    url: str
    credentials: Credentials
    #: True when the token was made just now; it is shown this once.
    new_token: bool
    neo4j: Running | None
    neo4j_uri: str
    notes: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        neo4j = self.neo4j
        login = (
            {
                "browser_url": neo4j.browser_url,
                "neo4j_user": neo4j.user,
                "neo4j_password": neo4j.password,
            }
            if neo4j
            else {}
        )
        return {
            "url": self.url,
            "docs_url": f"{self.url}/docs",
            "client_id": self.credentials.client_id,
            **({"token": self.credentials.token} if self.new_token else {}),
            "neo4j_uri": self.neo4j_uri,
            **login,
            "notes": list(self.notes),
        }


def up(
    as_json: JsonOption = False,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay, and serve from this process until Ctrl-C.")
    ] = False,
) -> None:
    """Start Neo4j (fetched the first time) and the service, migrate, and print where they are."""
    settings = Settings()
    with failures(as_json):
        if foreground:
            _stay_up(settings, as_json)
            return
        show_up(bring_up(settings), as_json)


def bring_up(settings: Settings) -> Up:
    """Have everything running, whatever ran before. Raises `unavailable` with what to do."""
    home = ServiceHome(settings)
    with home.locked(), _prepared(settings) as (graph, neo4j, notes):
        running = home.running()
        if running is not None and not is_ready(running.url):
            # It may hold on to a Neo4j that is gone; a fresh one is cheap.
            home.stop()
            running = None
        if running is None:
            running = home.start(_port(home, notes))
        return _up(graph, settings, running.url, neo4j, notes)


def _stay_up(settings: Settings, as_json: bool) -> None:
    # Every other command does without the web framework, which takes a second to import.
    from amos_graph.api.serve import serve  # noqa: PLC0415

    home = ServiceHome(settings)
    with home.locked(), _prepared(settings) as (graph, neo4j, notes):
        running = home.running()
        if running is not None:
            raise AmosError("unavailable", f"the service runs already at {running.url}: amos down")
        service = home.record_self(_port(home, notes))
        show_up(_up(graph, settings, service.url, neo4j, notes), as_json)
    if not as_json:
        out.print("Ctrl-C stops the service; `amos down` also stops Neo4j.")
    serve(open_graph(settings), settings, service.host, service.port)


@contextmanager
def _prepared(settings: Settings) -> Generator[tuple[Graph, Running | None, list[str]]]:
    """Neo4j up, its schema current, its configuration judged."""
    neo4j: Running | None = None
    if not settings.neo4j_uri:
        with steps() as tell:
            neo4j = local_neo4j(settings).start(tell)
    graph = open_graph(settings)
    try:
        await_store(graph, STORE_WAIT_S)
        with counted("migrating") as tell_migrated:
            prepare(graph, settings, tell_migrated)
        demand_model(graph, open_encoder(settings.encoder))
        yield graph, neo4j, [*(neo4j.notes if neo4j else ()), *_unsafe(graph)]
    finally:
        graph.close()


def _port(home: ServiceHome, notes: list[str]) -> int:
    """The port for a new service, with a note when it is not the wanted one."""
    port, wanted = home.free_port(), home.settings.api_port
    if wanted not in (0, port):
        why = "is taken" if is_open(wanted) else "was taken once"
        notes.append(f"port {wanted} {why}, so the service listens on {port}, now and later")
    return port


def _unsafe(graph: Graph) -> list[str]:
    try:
        return [f"unsafe: {setting}" for setting in unsafe_settings(graph)]
    except AmosError:
        # A hosted Neo4j may not show its settings.
        return ["this Neo4j does not show its settings, so whether they are safe is not known"]


def _up(graph: Graph, settings: Settings, url: str, neo4j: Running | None, notes: list[str]) -> Up:
    credentials, new = ensure_credentials(graph, settings, url)
    uri = neo4j.uri if neo4j else settings.neo4j_uri or ""
    return Up(url, credentials, new, neo4j, uri, tuple(notes))


def show_up(found: Up, as_json: bool = False) -> None:
    """Print where everything is, and the token if it is new."""
    if as_json:
        print_json(found.record())
        return
    neo4j = found.neo4j
    for note in found.notes:
        err.print(f"note: {note}", markup=False)
    print_facts(
        [
            ("service", found.url),
            ("REST docs", f"{found.url}/docs"),
            ("Neo4j", found.neo4j_uri),
            ("Neo4j Browser", neo4j.browser_url if neo4j else None),
            ("  login", f"{neo4j.user} / {neo4j.password}" if neo4j else None),
            ("token", found.credentials.token if found.new_token else None),
        ]
    )
    if found.new_token:
        kept = f"AMOS_HOME/{file_name(found.credentials.tenant, found.credentials.workspace)}"
        out.print(f"The token is shown this once; the command line keeps it in {kept}.", markup=False)


def down(as_json: JsonOption = False) -> None:
    """Stop the service, then the managed Neo4j; a Neo4j that was given is left alone."""
    settings = Settings()
    with failures(as_json):
        home = ServiceHome(settings)
        with home.locked():
            service = home.stop()
        neo4j = "not ours" if settings.neo4j_uri else local_neo4j(settings).stop()
    if as_json:
        print_json({"service": service, "neo4j": neo4j})
    else:
        print_facts([("service", service), ("Neo4j", neo4j)])
    if service == "not running" and neo4j in ("not running", "not ours"):
        raise typer.Exit(NOT_RUNNING)


def status(as_json: JsonOption = False) -> None:
    """Show what runs and where, versions, the head of the journal, and disk use."""
    settings = Settings()
    with failures(as_json):
        found = _status(settings)
    if as_json:
        print_json(found)
    else:
        print_facts((name.replace("_", " "), value) for name, value in _flat(found))
    if not found["ready"]:
        raise typer.Exit(NOT_RUNNING)


def _status(settings: Settings) -> dict[str, Any]:
    running = ServiceHome(settings).running()
    local = None if settings.neo4j_uri else local_neo4j(settings)
    neo4j = local.status() if local else None
    return {
        "service": running.url if running else "not running",
        "pid": running.pid if running else None,
        "ready": running is not None and is_ready(running.url),
        "version": __version__,
        "neo4j": neo4j.state if neo4j else "given",
        "neo4j_version": neo4j.version if neo4j else None,
        "neo4j_uri": neo4j.uri if neo4j else settings.neo4j_uri,
        "browser": neo4j.browser_url if neo4j else None,
        "shard": f"{settings.tenant}/{settings.workspace}",
        **_store_status(settings),
        "disk_bytes": {
            **(local.disk_use() if local else {}),
            **_archive_use(settings),
        },
    }


def _archive_use(settings: Settings) -> dict[str, int]:
    """What the evidence archive takes of this machine's disk: nothing where it is elsewhere."""
    if settings.archive_url:
        return {}
    return {"evidence_archive": folder_bytes(settings.archive_folder.expanduser())}


def _store_status(settings: Settings) -> dict[str, Any]:
    """Head and schema, as far as Neo4j answers."""
    try:
        graph = open_graph(settings)
    except AmosError:
        return {}
    try:
        await_store(graph, 0.0)
        schema = migration_status(graph)
        found: dict[str, Any] = {
            "migrations_applied": len(schema.applied),
            "migrations_pending": len(schema.pending),
        }
        head = checkpoint_of(graph, f"{settings.tenant}/{settings.workspace}")
        return {**found, "graph_version": head["graph_version"], "head_hash": head["head_hash"]}
    except AmosError as error:
        return {} if error.code == "not_found" else {"store": error.message}
    finally:
        graph.close()


def _flat(found: dict[str, Any]) -> Generator[tuple[str, Any]]:
    for name, value in found.items():
        if name == "disk_bytes":
            for part, size in value.items():
                yield f"disk: {part}", f"{size / 2**20:,.0f} MB"
        elif isinstance(value, bool):
            yield name, "yes" if value else "no"
        elif value not in (None, ""):
            yield name, value
