"""`make real`: the PEP history in a tenant of its own, checked against the files."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from amos_graph.api.store import await_store, local_neo4j, open_graph, operator
from amos_graph.errors import AmosError
from amos_graph.graph.local.home import folder_bytes
from amos_graph.graph.migrations import migrate
from amos_graph.graph.transactions import Graph
from amos_graph.settings import Settings
from bench.progress import err, shown
from bench.real.checks import CheckError
from bench.real.loading import CHANGES, Stage, run

#: Nothing to load: wrong use, as with any command.
NO_DATA: Final = 2
ROOT: Final = Path(__file__).resolve().parents[2]

out: Final = Console()


def main(arguments: Sequence[str] | None = None) -> int:
    """Load, check, print; 0 if everything is true, 1 if not, 2 without data."""
    asked = _parser().parse_args(arguments)
    if not (asked.data / CHANGES).is_file():
        err.print(
            f"There is no PEP history at {asked.data}: set AMOS_DATA to the folder that holds {CHANGES}.",
            soft_wrap=True,
        )
        return NO_DATA
    settings = Settings().model_copy(update={"tenant": f"real_{secrets.token_hex(6)}", "workspace": "peps"})
    try:
        with _graph(settings) as graph, shown() as told:
            stages = run(operator(graph, settings), asked.data, asked.slice, told)
    except CheckError as error:
        err.print(Text(f"Not true: {error}"))
        return 1
    except AmosError as error:
        err.print(Text(f"make real: {error.message}"))
        return 1
    _show(stages, settings)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.real", description=__doc__)
    parser.add_argument("--slice", type=int, metavar="N", help="load the first N changes only")
    default = Path(os.environ.get("AMOS_DATA") or ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="the folder of the data (AMOS_DATA)")
    return parser


@contextmanager
def _graph(settings: Settings) -> Generator[Graph]:
    """The Neo4j that is given, else the managed one, which is left as it was found."""
    local = None if settings.neo4j_uri else local_neo4j(settings)
    started = local is not None and local.running() is None
    if local is not None:
        local.start(lambda step: err.print(Text(step.message)) if step.done == step.total else None)
    graph = open_graph(settings)
    try:
        await_store(graph, wait_s=30)
        migrate(graph)
        yield graph
    finally:
        graph.close()
        if local is not None and started:
            local.stop()


def _show(stages: Sequence[Stage], settings: Settings) -> None:
    table = Table(title=f"The PEP history in {settings.tenant}/{settings.workspace}", title_justify="left")
    for name in ("part", "result"):
        table.add_column(name, overflow="fold")
    for name in ("count", "seconds", "per second"):
        table.add_column(name, justify="right", no_wrap=True)
    for stage in stages:
        count, rate = (f"{stage.count:,}", f"{stage.rate:,.0f}") if stage.count else ("", "")
        table.add_row(stage.name, stage.what, count, f"{stage.seconds:.1f}", rate)
    out.print(table)
    total = sum(stage.seconds for stage in stages)
    size = "" if settings.neo4j_uri else f"; the store's folder holds {_megabytes(settings):,.0f} MB"
    out.print(Text(f"Everything is true. {total:.1f} s{size}."))


def _megabytes(settings: Settings) -> float:
    return folder_bytes(local_neo4j(settings).folder.root) / 1e6


if __name__ == "__main__":
    sys.exit(main())
