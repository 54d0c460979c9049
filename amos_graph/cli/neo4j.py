"""`amos neo4j …`: the managed local Neo4j from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Table

from amos_graph.cli.shell import converse, run_once
from amos_graph.errors import AmosError
from amos_graph.graph.local import LocalNeo4j, Running, Step
from amos_graph.graph.local.progress import Progress as Tell

FAILED: Final = 1
NOT_RUNNING: Final = 3
#: Without a terminal, a line is printed each time that this many artifacts more have arrived.
_LINE_EVERY: Final = 50

app = typer.Typer(
    name="neo4j",
    help="The managed local Neo4j. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not running.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
_out = Console(soft_wrap=True, highlight=False)
_err = Console(stderr=True, soft_wrap=True, highlight=False)

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="The home folder; else $AMOS_HOME, else ~/.amos-graph.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output.")]


@app.command(epilog="Example: amos neo4j start --json")
def start(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Fetch (the first time) and start Neo4j, wait until it answers, print the login."""
    with _failures(as_json), _told() as tell:
        running = LocalNeo4j(home).start(tell)
    if as_json:
        _print_json(asdict(running))
        return
    _print_login(running)


@app.command(epilog="Example: amos neo4j stop")
def stop(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Stop Neo4j cleanly and wait for it."""
    with _failures(as_json):
        outcome = LocalNeo4j(home).stop()
    if as_json:
        _print_json({"outcome": outcome})
    else:
        words = {
            "stopped": "Neo4j is stopped.",
            "killed": "Neo4j did not stop in time and was killed; the next start recovers its store.",
            "not running": "Neo4j was not running.",
        }
        _out.print(words[outcome])
    if outcome == "not running":
        raise typer.Exit(NOT_RUNNING)


@app.command(epilog="Example: amos neo4j status --json")
def status(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show whether Neo4j runs and answers, where, and what it takes on disk."""
    with _failures(as_json):
        server = LocalNeo4j(home)
        found = server.status()
        sizes = server.disk_use()
    if as_json:
        _print_json({**asdict(found), "disk_bytes": sizes})
    else:
        table = Table(show_header=False, box=None)
        for name, value in asdict(found).items():
            if value:
                table.add_row(name.replace("_", " "), str(value))
        for name, size in sizes.items():
            table.add_row(f"disk: {name.replace('_', ' ')}", f"{size / 2**20:,.0f} MB")
        _out.print(table)
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
    with _failures(as_json):
        server = LocalNeo4j(home)
        if not server.folder.exists:
            message = f"there is no Neo4j in {server.folder.root} yet: amos neo4j start"
            if as_json:
                _print_json({"error": "not running", "message": message})
            _err.print(f"amos: {message}", markup=False)
            raise typer.Exit(NOT_RUNNING)
        found = server.logs(lines)
    if as_json:
        _print_json({"lines": found})
        return
    for line in found:
        _out.print(line, markup=False)


@app.command(
    epilog="Example: amos neo4j shell 'MATCH (a:Atom) RETURN a.type AS type, count(*) AS atoms LIMIT 20'"
)
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
    with _failures(as_json):
        running = LocalNeo4j(home).running()
        if running is None:
            if as_json:
                _print_json({"error": "not running"})
            _err.print("Neo4j is not running: amos neo4j start")
            raise typer.Exit(NOT_RUNNING)
        if statement is not None:
            rows = run_once(running, statement, write=write)
            if as_json:
                _print_json({"rows": rows})
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
    """Stop Neo4j and delete this home's data for good."""
    server = LocalNeo4j(home)
    if not yes and not as_json and sys.stdin.isatty():
        yes = typer.confirm(f"Delete all data in {server.folder.root}?")
    with _failures(as_json):
        removed = [str(path) for path in server.uninstall(confirm=yes, installation=installation)]
    if as_json:
        _print_json({"removed": removed})
        return
    for path in removed or ["nothing, there was no Neo4j here"]:
        _out.print(f"removed: {path}", markup=False)


def print_rows(rows: list[dict[str, Any]]) -> None:
    """Print rows as a table under their column names."""
    if not rows:
        _out.print("no rows")
        return
    table = Table()
    for name in rows[0]:
        table.add_column(name)
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    _out.print(table)


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.replace("[", r"\[")


def _print_login(running: Running) -> None:
    table = Table(show_header=False, box=None)
    table.add_row("Bolt", running.uri)
    table.add_row("Browser", running.browser_url)
    table.add_row("user", running.user)
    table.add_row("password", running.password)
    _out.print(table)


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


@contextmanager
def _failures(as_json: bool) -> Generator[None]:
    """Turn a refusal into one sentence and exit code 1."""
    try:
        yield
    except AmosError as error:
        if as_json:
            _print_json({"error": error.code, "message": error.message})
        _err.print(f"amos: {error.message}", markup=False)
        raise typer.Exit(FAILED) from None


@contextmanager
def _told() -> Generator[Tell]:
    """Show progress: a bar on a terminal, a line now and then elsewhere; always on standard error."""
    if not _err.is_terminal:
        yield _lines()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=_err, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(step: Step) -> None:
            if step.phase == "port":
                bar.console.print(f"note: {step.message}", markup=False)
                return
            if step.message not in tasks:
                tasks[step.message] = bar.add_task(step.message, total=step.total or None)
            bar.update(tasks[step.message], completed=step.done)

        yield tell


def _lines() -> Tell:
    last: dict[str, int] = {}

    def tell(step: Step) -> None:
        if step.total == 0:
            _err.print(step.message, markup=False)
        elif step.done in (0, step.total) or step.done - last.get(step.message, 0) >= _LINE_EVERY:
            last[step.message] = step.done
            _err.print(f"{step.message}: {step.done} of {step.total} files", markup=False)

    return tell


if __name__ == "__main__":
    app()
