"""The bench: its targets name what it measures, its arithmetic is right, what it writes is well formed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amos_graph.graph.transactions import Graph
from bench import table
from bench.__main__ import main
from bench.catalogue import FIGURES
from bench.measuring import Arm, Times, alternating, rate_ratio_row, ratio_row, time_row
from bench.plots import bars, shapes
from bench.quality.__main__ import quality_figures
from bench.results import Row, Spread, Target, compare, read_rows, read_targets, write_rows
from bench.rivals import write
from bench.samples import Samples, batches
from tests.server import Server

#: The table of the issue that asked for the figures; a target that is changed is no target.
ASKED = [
    Target("commit.p50_over_bare_create", "<=", 3),
    Target("groups.commands_over_raw_records", ">=", 0.3),
    Target("batch.atoms_over_raw_unwind", ">=", 0.15),
    Target("recall.p95_over_full_text", "<=", 5),
    Target("recall.p50_large_over_small", "<=", 1.5),
    Target("recall.p95_hub_over_plain", "<=", 1.5),
    Target("recall.cache_hit_over_round_trip", "<=", 2),
    Target("tail.recall_p95_full_over_none", "<=", 1.3),
    Target("tail.longest", "<=", 500),
    Target("quality.wordllama.fused_spread.recall_at_5.reported", ">=", 0.68),
    Target("quality.wordllama.fused_spread.recall_at_10.reported", ">=", 0.78),
    Target("quality.wordllama.fused_spread.all_evidence_at_10.reported", ">=", 0.52),
    Target("quality.hashed.fused_spread.recall_at_5.reported", ">=", 0.58),
    Target("quality.hashed.fused_spread.recall_at_10.reported", ">=", 0.7),
]


def test_the_targets_are_those_that_were_asked_for() -> None:
    """Nobody moves a target to where the arrow is."""
    assert read_targets() == ASKED


def test_every_target_names_a_figure_that_is_measured() -> None:
    """No target is out of reach because nothing makes its figure."""
    made = [row for figure in FIGURES.values() for row in figure.rows]

    assert len(made) == len(set(made))
    assert {target.figure for target in read_targets()} <= {*made, *quality_figures()}
    assert all(row.startswith(f"{figure.name}.") for figure in FIGURES.values() for row in figure.rows)


def test_a_comparison_tells_what_is_met_missed_and_not_measured() -> None:
    """A target is met at its own value, missed beyond it, and never met by silence."""
    targets = [Target("a", "<=", 3), Target("b", ">=", 0.3), Target("c", "<=", 1), Target("d", ">=", 1)]
    rows = [
        Row("a", 3.0, "ratio", None, 1),
        Row("b", 0.29, "ratio", None, 1),
        Row("d", 2.0, "ratio", None, 1),
    ]

    verdicts = [entry.verdict for entry in compare(targets, rows)]

    assert verdicts == ["met", "missed", "not measured", "met"]


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    """A results file holds figure, value, unit, spread and n of each row, and nothing else."""
    rows = [Row("x.a", 1.5, "ratio", Spread("blocks", 1.0, 2.0), 300), Row("x.b", 2, "bytes", None, 1)]

    path = write_rows("x", rows, tmp_path)

    assert [set(entry) for entry in json.loads(path.read_text())] == [
        {"figure", "value", "unit", "spread", "n"}
    ] * 2
    assert read_rows(tmp_path) == {"x": rows}


def test_arms_take_turns_and_preparation_is_not_timed() -> None:
    """Every repetition lets each arm run once, each time another one first; the warm-up does not count."""
    ran: list[str] = []
    clock = {name: Arm(lambda index, name=name: f"{name}{index}", ran.append) for name in "ab"}

    measured = alternating(clock, n=2, warmup=1)

    assert ran == ["a0", "b0", "b1", "a1", "a2", "b2"]
    assert {name: times.n for name, times in measured.items()} == {"a": 2, "b": 2}


def test_percentiles_and_ratios_are_those_of_the_times() -> None:
    """A percentile lies between its neighbours; a ratio is of percentiles, and its spread of the blocks."""
    ours, rival = Times(tuple(float(i) for i in range(2, 22))), Times((1.0,) * 20)

    assert ours.percentile(50) == 11.5
    assert ours.percentile(100) == 21
    assert time_row("t", ours, 50) == Row("t", 11_500, "ms", Spread("quartiles", 6_750, 16_250), 20)
    assert ratio_row("r", ours, rival, 50) == Row("r", 11.5, "ratio", Spread("blocks", 2.5, 20.5), 20)
    # Twenty pieces in each second against one: the rate, not the time, is what is compared.
    assert rate_ratio_row("q", rival, 20, Times((1.0,) * 20), 1).value == 20


def test_blocks_leave_no_repetition_out() -> None:
    """Whatever does not divide evenly falls to the last block."""
    times = Times(tuple(float(i) for i in range(23)))

    assert [second for block in times.blocks() for second in block.seconds] == list(times.seconds)


def test_plots_show_each_arm() -> None:
    """The longest bar belongs to the greatest value; shapes share one scale."""
    drawn = bars({"one": 1.0, "two": 2.0}, "ms")

    assert drawn[1].count("█") == 2 * drawn[0].count("█")
    assert len(shapes({"one": Times((1.0, 1.1, 1.2)), "two": Times((2.0, 2.1, 9.0))})) == 3
    assert shapes({"one": Times((1.0,))}) == []


def test_samples_are_the_same_in_every_run() -> None:
    """A store that is kept holds the same graph as one that is loaded anew."""
    one, other = list(batches(1, "x", 30, 2, 10)), list(batches(1, "x", 30, 2, 10))

    assert one == other
    assert [len(batch["edges"]) for batch in one] == [20, 20, 20]
    assert all(edge["source_ref"] != edge["target_ref"] for batch in one for edge in batch["edges"])
    assert Samples(1).cue() == Samples(1).cue() != Samples(2).cue()


def test_the_document_shows_the_committed_results() -> None:
    """docs/figures.md is what `make bench` makes of bench/results."""
    text = table.DOCUMENT.read_text(encoding="utf-8")
    rows = read_rows()
    compared = compare(read_targets(), [row for found in rows.values() for row in found])

    assert table.with_table(text, table.markdown(rows, compared)) == text


@pytest.mark.parametrize("name", ["commit", "batch"])
def test_a_small_run_writes_well_formed_rows(
    name: str, server: Server, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick figure measures on a server that is given, writes its rows where it is told, and tidies up."""
    monkeypatch.setenv("AMOS_NEO4J_URI", server.uri)
    monkeypatch.setenv("AMOS_NEO4J_USER", server.user)
    monkeypatch.setenv("AMOS_NEO4J_PASSWORD", server.password)
    monkeypatch.setenv("AMOS_HOME", str(tmp_path / "home"))

    assert main(["--small", "--only", name, "--into", str(tmp_path / "results")]) == 0

    rows = read_rows(tmp_path / "results")[name]
    assert sorted(row.figure for row in rows) == sorted(FIGURES[name].rows)
    assert all(row.value > 0 and row.n > 0 and row.unit for row in rows)
    assert all(row.spread is None or row.spread.low <= row.spread.high for row in rows)
    assert write(graph, "delete_raw", limit=1_000) == [{"deleted": 0}]
