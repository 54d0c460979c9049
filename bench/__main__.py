"""`make bench`: figures measured side by side, written to bench/results and held against their targets."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from amos_graph.errors import AmosError
from amos_graph.settings import Settings
from bench import profiling, stores, table
from bench.catalogue import FIGURES
from bench.document import all_compared, document
from bench.figures import Figure, Measured, Needs, Run
from bench.plots import bars, shapes
from bench.progress import err, shown
from bench.results import HERE, RESULTS, write_rows

out: Final = Console()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, compare or profile; 1 when something could not be measured or a compared target is missed."""
    asked = _parser().parse_args(arguments)
    stores.end_with_sigterm()
    try:
        if asked.what == "compare":
            return _compare()
        if asked.what == "profile":
            return _profile(asked.kind, small=asked.small)
        into = asked.into or (None if asked.small else RESULTS)
        return _run(asked.only or list(FIGURES), asked.keep, into, small=asked.small)
    except AmosError as error:
        err.print(Text(f"make bench: {error.message}"))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    only, kept = "one kind of figure, or several", "where the large graphs stay for the next run"
    small = "a smoke run in few repetitions; nothing is written unless --into says where"
    into = "where results are written; bench/results and docs/figures.md unless given"
    parser.add_argument("--only", action="append", choices=list(FIGURES), help=only)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help=kept)
    parser.add_argument("--small", action="store_true", help=small)
    parser.add_argument("--into", type=Path, metavar="FOLDER", help=into)
    whats = parser.add_subparsers(dest="what", metavar="{compare,profile}")
    whats.add_parser("compare", help="hold the results against bench/targets.json")
    profiles = whats.add_parser("profile", help="show where the time of a command goes")
    profiles.add_argument("kind", choices=list(profiling.KINDS))
    return parser


def _run(names: Sequence[str], keep: Path | None, into: Path | None, *, small: bool) -> int:
    settings = Settings()
    needs: tuple[Needs, ...] = ("fresh", "loaded")
    for need in needs:
        figures = [FIGURES[name] for name in FIGURES if name in names and FIGURES[name].needs == need]
        if not figures:
            continue
        with (
            stores.opened(settings, keep if need == "loaded" else None, small=small) as store,
            shown() as told,
        ):
            for figure in figures:
                measured = figure.measure(Run(store, small, told))
                _check(figure, measured, managed=store.local is not None)
                _show(figure, measured)
                if into is not None:
                    write_rows(figure.name, measured.rows, into)
    if into == RESULTS:
        _note_where(settings)
        document()
        _compare()
    return 0


def _check(figure: Figure, measured: Measured, *, managed: bool) -> None:
    """A kind of figure makes the rows that it says it makes."""
    made = [row.figure for row in measured.rows]
    if not set(made) <= set(figure.rows) or (managed and sorted(made) != sorted(figure.rows)):
        raise AmosError("internal", f"{figure.name} made {made}, and says {figure.rows}")


def _show(figure: Figure, measured: Measured) -> None:
    out.print(table.result_table(figure.title, measured.rows))
    for line in (*bars(measured.bars, measured.unit), "", *(shapes(measured.arms) if measured.arms else ())):
        out.print(Text(line), soft_wrap=True)
    for note in measured.notes:
        out.print(Text(f"  {note}"))
    out.print()


def _compare() -> int:
    compared = all_compared()
    out.print(table.comparison_table(compared))
    return 0 if all(entry.verdict == "met" for entry in compared) else 1


def _note_where(settings: Settings) -> None:
    """On what kind of machine the results were made; figures that are no ratio mean nothing without it."""
    where = {
        "processors": os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "neo4j": "given" if settings.neo4j_uri else "managed",
        "heap_mb": stores.OPTIONS.heap_mb,
        "page_cache_mb": stores.OPTIONS.page_cache_mb,
        # Of the last 15 minutes; more than there are processors means that others worked there too.
        "load": round(os.getloadavg()[2], 1),
    }
    (HERE / "machine.json").write_text(json.dumps(where, indent=2) + "\n", encoding="utf-8")


def _profile(kind: str, *, small: bool) -> int:
    with stores.opened(Settings(), None, small=small) as store, shown() as told:
        profiling.profile(Run(store, small, told), kind, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
