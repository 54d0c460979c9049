"""`amos neo4j …`: the managed local Neo4j from the command line."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from amos_graph.cli.output import (
    FAILED,
    NOT_RUNNING,
    JsonOption,
    NotRunningError,
    failures,
    out,
    print_facts,
    print_json,
    print_table,
    steps,
)
from amos_graph.cli.service import ServiceHome
from amos_graph.cli.shell import converse, run_once
from amos_graph.graph.local import LocalNeo4j, Running
from amos_graph.settings import Settings

app = typer.Typer(
    name="neo4j",
    help="The managed local Neo4j. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not running.",
    epilog="Example: amos neo4j status",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="The home folder; else $AMOS_HOME, else ~/.amos-graph.")
]


@app.command(epilog="Example: amos neo4j start --json")
def start(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Fetch (the first time) and start Neo4j, wait until it answers, print the login."""
    with failures(as_json), steps() as tell:
        running = LocalNeo4j(home).start(tell)
    if as_json:
        print_json(asdict(running))
        return
    _print_login(running)


@app.command(epilog="Example: amos neo4j stop")
def stop(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Stop Neo4j cleanly and wait for it."""
    with failures(as_json):
        outcome = LocalNeo4j(home).stop()
    if as_json:
        print_json({"outcome": outcome})
    else:
        words = {
            "stopped": "Neo4j is stopped.",
            "killed": "Neo4j did not stop in time and was killed; the next start recovers its store.",
            "not running": "Neo4j was not running.",
        }
        out.print(words[outcome])
    if outcome == "not running":
        raise typer.Exit(NOT_RUNNING)


@app.command(epilog="Example: amos neo4j status --json")
def status(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show whether Neo4j runs and answers, where, and what it takes on disk."""
    with failures(as_json):
        server = LocalNeo4j(home)
        found = server.status()
        sizes = server.disk_use()
    if as_json:
        print_json({**asdict(found), "disk_bytes": sizes})
    else:
        print_facts((name.replace("_", " "), value or None) for name, value in asdict(found).items())
        print_facts(
            (f"disk: {name.replace('_', ' ')}", f"{size / 2**20:,.0f} MB") for name, size in sizes.items()
        )
    if found.state == "silent":
        raise typer.Exit(FAILED)
    if found.state != "running":
        raise typer.Exit(NOT_RUNNING)


@app.command(epilog="Example: amos neo4j logs --lines 200")
def logs(
    home: HomeOption = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=10_000, help="How many lines.")] = 50,
    as_json: JsonOption = False,
) -> None:
    """Print the end of what Neo4j wrote to its console."""
    with failures(as_json):
        server = LocalNeo4j(home)
        if not server.folder.exists:
            raise NotRunningError(f"there is no Neo4j in {server.folder.root} yet: amos neo4j start")
        found = server.logs(lines)
    if as_json:
        print_json({"lines": found})
        return
    for line in found:
        out.print(line, markup=False)


@app.command(epilog="Example: amos neo4j shell < question.cypher")
def shell(
    statement: Annotated[
        str | None, typer.Argument(help="One Cypher statement; without it, a prompt opens.")
    ] = None,
    home: HomeOption = None,
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Allow changes. They bypass the journal, and `amos verify` will show them."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask the database in Cypher; read-only unless told otherwise."""
    with failures(as_json):
        running = LocalNeo4j(home).running()
        if running is None:
            raise NotRunningError("Neo4j is not running: amos neo4j start")
        if statement is not None:
            rows = run_once(running, statement, write=write)
            if as_json:
                print_json({"rows": rows})
            else:
                print_rows(rows)
            return
    converse(running, print_rows, write=write)


@app.command(epilog="Example: amos neo4j uninstall --yes --installation")
def uninstall(
    home: HomeOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    installation: Annotated[
        bool, typer.Option("--installation", help="Also delete the fetched files, which all homes share.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Stop the service and Neo4j of this home and delete its data for good."""
    server = LocalNeo4j(home)
    if not yes and not as_json and sys.stdin.isatty():
        yes = typer.confirm(f"Delete all data in {server.folder.root}?")
    with failures(as_json):
        if yes:
            # A service would go on and answer that its store is away.
            ServiceHome(Settings().model_copy(update={"home": server.home})).stop()
        removed = [str(path) for path in server.uninstall(confirm=yes, installation=installation)]
    if as_json:
        print_json({"removed": removed})
        return
    for path in removed or ["nothing, there was no Neo4j here"]:
        out.print(f"removed: {path}", markup=False)


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print rows as a table under their column names."""
    if not rows:
        out.print("no rows")
        return
    print_table(rows[0], (map(_cell, row.values()) for row in rows))


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _print_login(running: Running) -> None:
    print_facts(
        [
            ("Bolt", running.uri),
            ("Browser", running.browser_url),
            ("user", running.user),
            ("password", running.password),
        ]
    )


if __name__ == "__main__":
    app()
