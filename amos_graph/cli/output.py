"""What every command prints with, and how a refusal becomes an exit code."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer
from pydantic import ValidationError
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.segment import Segments
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from amos_graph.errors import AmosError
from amos_graph.graph.local import Step

#: Exit codes; 0 is done, and 2 is typer's own for wrong usage. docs/api.md lists them.
FAILED: Final = 1
WRONG_USAGE: Final = 2
NOT_RUNNING: Final = 3
FAULTS_FOUND: Final = 4
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
#: What a column of a table takes beside its text: a line and two spaces.
_FRAME: Final = 3
#: Without a terminal, one line for this many artifacts.
_LINE_EVERY: Final = 50

out: Final = Console(soft_wrap=True, highlight=False)
err: Final = Console(stderr=True, soft_wrap=True, highlight=False)

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output.")]


class NotRunningError(AmosError):
    """The service, or its Neo4j, is not there to be asked."""

    def __init__(self, message: str) -> None:
        super().__init__("unavailable", message)


@contextmanager
def failures(as_json: bool = False) -> Generator[None]:
    """Turn a refusal into one sentence on standard error and an exit code."""
    try:
        yield
    except AmosError as error:
        if as_json:
            print_json({"error": error.code, "message": error.message, "errors": error.entries()})
        err.print(f"amos: {error.message}", markup=False)
        for fault in error.faults:
            if f"{fault.path}: {fault.message}" != error.message:
                err.print(f"  {fault.path}: {fault.message}", markup=False)
        raise typer.Exit(NOT_RUNNING if isinstance(error, NotRunningError) else FAILED) from None


class Sentences(TyperGroup):
    """The group that every command runs in: settings that cannot be and refusing disks are one sentence."""

    # typer keeps the type of a context to itself.
    def invoke(self, ctx: Any) -> Any:
        # Read before the command takes them.
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except ValidationError as error:
            if error.title != "Settings":
                raise
            # The value is not repeated: it may be a password.
            wrong = [
                f"AMOS_{str(fault['loc'][0]).upper()}: {fault['msg'].removeprefix('Value error, ')}"
                for fault in error.errors()
            ]
            _say(as_json, "schema_invalid", "; ".join(wrong))
            raise typer.Exit(WRONG_USAGE) from None
        except BrokenPipeError:
            # Whoever read has left; click ends quietly.
            raise
        except OSError as error:
            _say(as_json, "unavailable", f"{error.filename or 'the system'}: {error.strerror or error}")
            raise typer.Exit(FAILED) from None


def _say(as_json: bool, code: str, message: str) -> None:
    if as_json:
        print_json({"error": code, "message": message, "errors": []})
    err.print(f"amos: {message}", markup=False)


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on one line."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def print_facts(facts: Iterable[tuple[str, Any]]) -> None:
    """Names and values, one a line and never cut; what is None is left out."""
    known = [(name, harmless(str(value))) for name, value in facts if value is not None]
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        out.print(Text(f"{name:<{width}}  {value}"))


def print_table(columns: Iterable[str], rows: Iterable[Iterable[Any]], title: str | None = None) -> None:
    """A table whose cells are data, whatever markup they hold; no word, and so no id, is ever cut.

    Without a terminal it is as wide as it needs to be, one line for a line of a cell. On a terminal its
    texts are wrapped, and where even the words do not fit side by side, each row becomes a block of lines.
    """
    names = list(columns)
    cells = [["" if value is None else harmless(str(value)) for value in row] for row in rows]
    wide = [max(_longest_line(text) for text in column) for column in _columns(names, cells)]
    widths = _fitting(names, cells, wide, out.width) if out.is_terminal else wide
    if widths is None:
        _print_blocks(names, cells, title)
        return
    table = Table(title=Text(title) if title else None, title_justify="left")
    for name, width in zip(names, widths, strict=True):
        table.add_column(name, width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    # Laid out apart from the console, which holds everything to the width that it assumes of a pipe.
    room = out.options.update(width=max(out.width, sum(wide) + _FRAME * len(wide) + 1))
    out.print(Segments(out.render(table, room)), end="")


def harmless(text: str) -> str:
    """A text without what a terminal would obey; a memory may hold it."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.expandtabs(2))


def _fitting(names: list[str], cells: list[list[str]], wide: list[int], room: int) -> list[int] | None:
    """The widths at which a table fits without breaking a word, the widest columns wrapped; None if none."""
    room -= _FRAME * len(wide) + 1
    least = [max(_longest_word(text) for text in column) for column in _columns(names, cells)]
    if sum(least) > room:
        return None
    widths = list(wide)
    while sum(widths) > room:
        widest = max((i for i in range(len(widths)) if widths[i] > least[i]), key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def _columns(names: list[str], cells: list[list[str]]) -> list[list[str]]:
    return [[name, *(row[index] for row in cells)] for index, name in enumerate(names)]


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.splitlines()), default=0)


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _print_blocks(names: list[str], cells: list[list[str]], title: str | None) -> None:
    """Each row as lines of name and value, long texts wrapped below themselves."""
    if title:
        out.print(Text(title, style="italic"))
    label = max(map(cell_len, names), default=0)
    for row in cells:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=label, style="dim")
        grid.add_column(overflow="fold")
        for name, text in zip(names, row, strict=True):
            if text:
                grid.add_row(name, Text(text))
        out.print(grid, soft_wrap=False)
        out.print()


@contextmanager
def counted(label: str) -> Generator[Any]:
    """A progress bar on standard error: call what is yielded with (name, done, total)."""
    if not err.is_terminal:
        err.print(f"{label} …", markup=False)
        yield _nothing
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(label, total=None)

        def tell(_: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total or None)

        yield tell


@contextmanager
def steps() -> Generator[Callable[[Step], None]]:
    """What a start of Neo4j tells, on standard error: a bar on a terminal, a line now and then elsewhere."""
    if not err.is_terminal:
        yield _step_lines()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(step: Step) -> None:
            if step.phase == "port":
                bar.console.print(f"note: {step.message}", markup=False)
                return
            if step.message not in tasks:
                tasks[step.message] = bar.add_task(step.message, total=step.total or None)
            bar.update(tasks[step.message], completed=step.done)

        yield tell


def _step_lines() -> Callable[[Step], None]:
    last: dict[str, int] = {}

    def tell(step: Step) -> None:
        if step.total == 0:
            err.print(step.message, markup=False)
        elif step.done in (0, step.total) or step.done - last.get(step.message, 0) >= _LINE_EVERY:
            last[step.message] = step.done
            err.print(f"{step.message}: {step.done} of {step.total} files", markup=False)

    return tell


def _nothing(_name: str, _done: int, _total: int) -> None:
    """Without a terminal there is nobody to animate a bar for."""
