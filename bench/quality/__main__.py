"""`make quality`: how well recall answers questions whose evidence is known, beside what it is made of."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from amos_graph.commands.execution import Context
from amos_graph.encoding import EncoderName, open_encoder
from amos_graph.errors import AmosError
from amos_graph.settings import Settings
from amos_graph.upkeep.indexing import Indexer
from bench.document import document
from bench.progress import err, shown
from bench.quality import runs
from bench.quality.passages import BATCH, PASSAGES, Question, commands, read_passages, read_questions
from bench.quality.scoring import Difference, Rankings, difference, halves, measures, values
from bench.quality.sweep import VARIED, Trial, best, swept
from bench.quality.ways import FUSED, SPREAD, WAYS, components, rankings
from bench.results import RESULTS, Row, Spread, write_rows
from bench.stores import Store, end_with_sigterm, opened, send

#: Nothing to load: wrong use, as with any command.
NO_DATA: Final = 2
ROOT: Final = Path(__file__).resolve().parents[2]
#: The tenant of the passages; a store that is given may hold them from an earlier run.
PASSAGES_TENANT: Final = "quality"
ENCODERS: Final[tuple[EncoderName, ...]] = ("hashed", "wordllama")

out: Final = Console()


def main(arguments: Sequence[str] | None = None) -> int:
    """Load, ask, print; 0 when everything was measured, 1 on a fault, 2 without data."""
    asked = _parser().parse_args(arguments)
    end_with_sigterm()
    if not (asked.data / PASSAGES).is_file():
        err.print(
            f"There are no questions at {asked.data}: set AMOS_DATA to the folder that holds {PASSAGES}.",
            soft_wrap=True,
        )
        return NO_DATA
    try:
        names: Sequence[EncoderName] = asked.encoder or ENCODERS
        if asked.what == "sweep":
            _show_sweep({name: list(_sweep(name, asked.data)) for name in names})
            return 0
        rows = [row for name in names for row in _measure(name, asked.data)]
    except AmosError as error:
        err.print(Text(f"make quality: {error.message}"))
        return 1
    if not asked.encoder:
        write_rows("quality", rows, RESULTS)
        document()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    default = Path(os.environ.get("AMOS_DATA") or ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=default, help="the folder of the data (AMOS_DATA)")
    parser.add_argument("--encoder", action="append", choices=ENCODERS, help="one encoder, or several")
    parser.add_argument("what", nargs="?", choices=["sweep"], help="choose weights on the tuning half")
    return parser


def _measure(name: EncoderName, data: Path) -> list[Row]:
    questions, agents = read_questions(data), runs.read_runs(data)
    with _loaded(name, data) as (store, told):
        found = rankings(store.context(PASSAGES_TENANT), read_passages(data), questions, told)
        apart = store.context()
        runs.load(apart, agents)
        _index(store, apart, name)
        ranks = runs.reciprocal_ranks(apart, agents)
    _show(name, found, questions)
    _show_runs(name, ranks)
    return [*_rows(name, found, questions), *_run_rows(name, ranks)]


def _sweep(name: EncoderName, data: Path) -> Iterator[Trial]:
    questions = read_questions(data)
    tuned = [questions[row] for row in halves(len(questions))["tune"]]
    with _loaded(name, data) as (store, _):
        found = [components(store.context(PASSAGES_TENANT), asked) for asked in tuned]
    return swept(found, tuned)


@contextmanager
def _loaded(name: EncoderName, data: Path) -> Generator[tuple[Store, Callable[[str, int, int], None]]]:
    """A store that holds the passages, indexed by an encoder; and how progress is told."""
    passages = read_passages(data)
    settings = Settings().model_copy(update={"encoder": name, "packet_cache_bytes_max": 0})
    with opened(settings, None, small=False) as store, shown() as told:
        context = store.context(PASSAGES_TENANT)
        for done, command in enumerate(commands(passages), 1):
            send(context, command)
            told("passages", min(done * BATCH, len(passages)), len(passages))
        _index(store, context, name)
        yield store, told


def _index(store: Store, context: Context, name: EncoderName) -> None:
    Indexer(store.graph, open_encoder(name)).catch_up(context.scope.shard, count=True)


def quality_figures() -> set[str]:
    """The names of the figures that are measured on the questions."""
    return {
        _figure(name, way, measure, half)
        for name in ENCODERS
        for way in WAYS
        for measure in measures()
        for half in halves(0)
    }


def _figure(name: str, way: str, measure: str, half: str) -> str:
    return f"quality.{name}.{_slug(way)}.{_slug(measure)}.{half}"


def _rows(name: str, found: Rankings, questions: Sequence[Question]) -> Iterator[Row]:
    for half, places in halves(len(questions)).items():
        asked = [questions[at] for at in places]
        for way, every in found.items():
            ranked = [every[at] for at in places]
            for measure in measures():
                each = values(ranked, asked, measure)
                figure = _figure(name, way, measure, half)
                yield Row(figure, sum(each) / len(each), "share", None, len(each))
        for measure in measures():
            gain = _gain(found, questions, places, measure)
            spread = Spread("bootstrap", gain.low, gain.high)
            yield Row(f"quality.{name}.gain.{_slug(measure)}.{half}", gain.mean, "share", spread, len(asked))


def _run_rows(name: str, ranks: Mapping[str, Sequence[float]]) -> Iterator[Row]:
    for way, each in ranks.items():
        yield Row(f"quality.{name}.runs.{_slug(way)}.mrr", sum(each) / len(each), "share", None, len(each))


def _slug(name: str) -> str:
    return "_".join(name.lower().replace("+", " ").replace("@", "_at_").split())


def _show(name: str, found: Rankings, questions: Sequence[Question]) -> None:
    for half, places in halves(len(questions)).items():
        asked = [questions[at] for at in places]
        table = Table(title=f"{name}: {half}, {len(asked)} questions", title_justify="left")
        table.add_column("way", no_wrap=True)
        for measure in measures():
            table.add_column(measure, justify="right", no_wrap=True)
        for way, every in found.items():
            each = [values([every[at] for at in places], asked, measure) for measure in measures()]
            table.add_row(way, *(f"{sum(found_) / len(found_):.3f}" for found_ in each))
        gains = [_gain(found, questions, places, measure) for measure in measures()]
        table.add_row("what the spread adds", *(f"{gain.mean:+.3f}" for gain in gains))
        table.add_row("  from", *(f"{gain.low:+.3f}" for gain in gains))
        table.add_row("  to (95 %)", *(f"{gain.high:+.3f}" for gain in gains))
        out.print(table)


def _show_runs(name: str, ranks: Mapping[str, Sequence[float]]) -> None:
    table = Table(
        title=f"{name}: episodes of the same kind of task, mean reciprocal rank", title_justify="left"
    )
    for way in ranks:
        table.add_column(way, justify="right")
    table.add_row(*(f"{sum(each) / len(each):.3f}" for each in ranks.values()))
    out.print(table)


def _gain(found: Rankings, questions: Sequence[Question], places: Sequence[int], measure: str) -> Difference:
    """What the spread adds to the fusion, question by question."""
    asked = [questions[at] for at in places]
    one, other = (values([found[way][at] for at in places], asked, measure) for way in (SPREAD, FUSED))
    return difference(one, other)


def _show_sweep(trials: Mapping[str, Sequence[Trial]]) -> None:
    table = Table(title="Weights on the tuning half, best first", title_justify="left")
    for column in (*VARIED, *(f"{name} {measure}" for name in trials for measure in measures())):
        table.add_column(column, justify="right")
    for each in best(trials):
        weights = next(iter(each.values())).weights
        table.add_row(
            *(f"{weight:.3f}" for weight in weights),
            *(f"{value:.3f}" for trial in each.values() for value in trial.measured.values()),
        )
    out.print(table)


if __name__ == "__main__":
    sys.exit(main())
