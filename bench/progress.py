"""Progress of long work on standard error, for every bench."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

err: Final = Console(stderr=True)


@contextmanager
def shown() -> Generator[Callable[[str, int, int], None]]:
    """A bar for each part of the work, by its name, with how much of it is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=not err.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def told(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done, total=total)

        yield told
