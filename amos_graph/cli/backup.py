"""`amos export`, `restore`, `replay`, `checkpoint`: with the database's own login."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import ValidationError

from amos_graph.api.store import await_store
from amos_graph.cli.administration import opened
from amos_graph.cli.output import (
    FAULTS_FOUND,
    JsonOption,
    NotRunningError,
    counted,
    failures,
    out,
    print_facts,
    print_json,
    print_table,
)
from amos_graph.cli.verification import KeyOption, checkpoint_text, warn_unsigned, write_text
from amos_graph.domain.checkpoint import compare as compare_checkpoints
from amos_graph.domain.checkpoint import key_id, public_pem, signer_of
from amos_graph.errors import AmosError, invalid
from amos_graph.graph.archive import archive_at, open_archive
from amos_graph.graph.transactions import Graph, connect
from amos_graph.queries.verify import checkpoint_of
from amos_graph.settings import Settings
from amos_graph.upkeep.checkpoints import known_keys, read_checkpoint, signing_key, take
from amos_graph.upkeep.export import all_shards, export
from amos_graph.upkeep.replay import Replayed, Store, replay
from amos_graph.upkeep.restore import check_file, restore

EveryOption = Annotated[
    bool, typer.Option("--all", help="Every shard of the store, not only this tenant and workspace.")
]


def _shards(graph: Graph, settings: Settings, every: bool) -> list[str]:
    return all_shards(graph) if every else [f"{settings.tenant}/{settings.workspace}"]


def export_journal(
    file: Annotated[Path, typer.Argument(dir_okay=False, help="Where to; one that is there is replaced.")],
    every: EveryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the journal, bodies and archived payloads to a file: the backup of a store that runs on."""
    with opened(as_json) as (graph, settings), counted(f"exporting to {file.name}") as tell:
        done = export(
            graph,
            open_archive(settings),
            _shards(graph, settings, every),
            file,
            line_bytes_max=settings.journal_line_bytes_max,
            progress=tell,
        )
    if as_json:
        print_json({"file": str(file), "shards": [shard.record() for shard in done]})
        return
    _show_shards([shard.record() for shard in done])


def _show_shards(shards: Sequence[dict[str, Any]]) -> None:
    names = ("shard", "events", "versions", "receipts", "archived", "head_hash")
    print_table(names, ([shard[name] for name in names] for shard in shards))


def restore_journal(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="What `amos export` wrote.")],
    check: Annotated[bool, typer.Option("--check", help="Only check the file; no store is needed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring this store to what an exported file holds; checked whole first, and harmless when run again."""
    if check:
        with failures(as_json), counted(f"checking {file.name}") as tell:
            checked = check_file(file, line_bytes_max=Settings().journal_line_bytes_max, progress=tell)
        if as_json:
            print_json(checked.record())
            return
        _show_shards([shard.end.record() for shard in checked.shards])
        out.print(f"{checked.lines} lines, each as it was written", markup=False)
        return
    with opened(as_json) as (graph, settings), counted(f"restoring {file.name}") as tell:
        done = restore(
            graph,
            open_archive(settings),
            file,
            line_bytes_max=settings.journal_line_bytes_max,
            progress=tell,
        )
    if as_json:
        print_json({"shards": [shard.record() for shard in done]})
        return
    names = ("shard", "outcome", "events", "before", "graph_version", "head_hash")
    print_table(names, ([shard.record()[name] for name in names] for shard in done))
    out.print("verify it: amos up, then amos verify --checkpoint with a checkpoint that was kept elsewhere")


def replay_journal(
    *,
    to: Annotated[str, typer.Option("--to", help="The second server: bolt://…")],
    user: Annotated[str, typer.Option("--user", help="Its user.")] = "neo4j",
    password_env: Annotated[
        str, typer.Option("--password-env", help="The environment variable that holds its password.")
    ] = "AMOS_REPLAY_PASSWORD",  # noqa: S107 - the name of a variable and no password
    database: Annotated[str, typer.Option("--database", help="Its database.")] = "neo4j",
    archive: Annotated[
        str | None,
        typer.Option(
            "--archive", help="Copy archived payloads to this folder or URL too; without it, both share them."
        ),
    ] = None,
    every: EveryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Build this store anew on a second server from its journal, and compare the graphs of both."""
    with opened(as_json) as (graph, settings):
        here = open_archive(settings)
        with _second(to, user, password_env, database, settings) as target, counted("replaying") as tell:
            done = replay(
                Store(graph, here),
                Store(target, archive_at(archive) if archive else here),
                _shards(graph, settings, every),
                tell,
            )
    equal = all(shard.equal is not False for shard in done)
    if as_json:
        print_json({"equal": equal, "shards": [shard.record() for shard in done]})
    else:
        _show_replayed(done)
    if not equal:
        raise typer.Exit(FAULTS_FOUND)


def _show_replayed(done: Sequence[Replayed]) -> None:
    said = {True: "equal", False: "DIFFERENT", None: "not compared"}
    print_table(
        ["shard", "outcome", "events", "graphs", "digest here", "digest there"],
        (
            [
                shard.rebuilt.shard,
                shard.rebuilt.outcome,
                shard.rebuilt.events,
                said[shard.equal],
                shard.source.digest if shard.source else None,
                shard.target.digest if shard.target else None,
            ]
            for shard in done
        ),
    )


@contextmanager
def _second(uri: str, user: str, password_env: str, database: str, settings: Settings) -> Generator[Graph]:
    """The second server, which must answer."""
    password = os.environ.get(password_env)
    if not password:
        raise invalid("--password-env", f"the environment variable {password_env} is not set")
    try:
        Settings(neo4j_uri=uri)
    except ValidationError as error:
        raise typer.BadParameter("an address looks like bolt://localhost:7688", param_hint="--to") from error
    driver = connect(uri, user, password, retry_s=settings.retry_s)
    graph = Graph(driver, database, settings.transaction_timeout_s)
    try:
        try:
            await_store(graph, 0.0)
        except AmosError as error:
            raise NotRunningError(f"the second server: {error.message}") from error
        yield graph
    finally:
        graph.close()


checkpoint_app: Final = typer.Typer(
    name="checkpoint",
    help="Sign the head of the shard, to be kept on another machine.",
    epilog="Example: amos checkpoint --out head.json",
    invoke_without_command=True,
)


@checkpoint_app.callback()
def checkpoint(
    context: typer.Context,
    file: Annotated[Path | None, typer.Option("--out", help="Where to; else standard output.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Sign the present head of the shard: store, version, hash, time. Keep it on another machine."""
    if context.invoked_subcommand is not None:
        return
    with opened(as_json) as (graph, settings):
        taken = take(checkpoint_of(graph, f"{settings.tenant}/{settings.workspace}"), settings.home)
        if file is not None:
            write_text(file, checkpoint_text(taken))
    if as_json:
        print_json(taken.record())
    elif file is None:
        out.print(checkpoint_text(taken), end="", markup=False)
    else:
        print_facts([("shard", taken.shard), ("version", taken.graph_version), ("key", taken.key_id)])


@checkpoint_app.command(epilog="Example: amos checkpoint key --out amos.pub")
def key(
    file: Annotated[Path | None, typer.Option("--out", help="Where to; else standard output.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the public key that checkpoints of this home verify with; give it to whoever keeps them."""
    with failures(as_json):
        public = signing_key(Settings().home).public_key()
        if file is not None:
            write_text(file, public_pem(public))
    if as_json:
        print_json({"key_id": key_id(public), "public_key": public_pem(public)})
    elif file is None:
        out.print(public_pem(public), end="", markup=False)
    else:
        print_facts([("key", key_id(public)), ("file", file)])


@checkpoint_app.command(epilog="Example: amos checkpoint compare monday.json tuesday.json")
def compare(
    one: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A checkpoint.")],
    other: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Another one.")],
    public_keys: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two checkpoints without a store; two heads of one length prove a fork (exit code 4)."""
    with failures(as_json):
        pinned = known_keys(public_keys or [], Settings().home)
        kept = [read_checkpoint(file) for file in (one, other)]
        for file, found in zip((one, other), kept, strict=True):
            warn_unsigned(file, signer_of(found, pinned))
    found = compare_checkpoints(*kept)
    if as_json:
        print_json(found.record())
    else:
        out.print(f"{found.outcome}: {found.message}", markup=False)
    if found.outcome == "conflict":
        raise typer.Exit(FAULTS_FOUND)
