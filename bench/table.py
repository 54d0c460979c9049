"""Figures as tables: on a terminal, and in docs/figures.md, where the table is made from the results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.table import Table

from bench.results import Compared, Row, Target

DOCUMENT: Final = Path(__file__).resolve().parent.parent / "docs" / "figures.md"
_BEGIN: Final = "<!-- figures -->"
_END: Final = "<!-- /figures -->"
#: Figures of `make quality`: many, so the document shows them by way and measure.
_QUALITY: Final = "quality."
_SIGN: Final = {"<=": "≤", ">=": "≥"}


def result_table(title: str, rows: Iterable[Row]) -> Table:
    """The rows of one kind of figure."""
    table = Table(title=title, title_justify="left")
    table.add_column("figure", no_wrap=True)
    for name in ("value", "unit", "spread", "n"):
        table.add_column(name, justify="left" if name == "unit" else "right", overflow="fold")
    for row in rows:
        table.add_row(row.figure, number(row.value), row.unit, spread(row), f"{row.n:,}")
    return table


def comparison_table(compared: Iterable[Compared]) -> Table:
    """Targets and verdicts."""
    table = Table(title="Targets", title_justify="left")
    table.add_column("figure", no_wrap=True)
    for name in ("target", "value", "spread"):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("", no_wrap=True)
    colours = {"met": "green", "missed": "red", "not measured": "yellow"}
    for entry in compared:
        value, spread_ = (number(entry.row.value), spread(entry.row)) if entry.row else ("", "")
        verdict = f"[{colours[entry.verdict]}]{entry.verdict}[/]"
        table.add_row(entry.target.figure, target(entry.target), value, spread_, verdict)
    return table


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.4g}"


def target(entry: Target) -> str:
    return f"{_SIGN[entry.op]} {number(entry.value)}"


def spread(row: Row) -> str:
    return f"{number(row.spread.low)} – {number(row.spread.high)} ({row.spread.of})" if row.spread else ""


def markdown(results: Mapping[str, Sequence[Row]], compared: Iterable[Compared]) -> str:
    """The table of the document: every row, with its target and its verdict where it has one."""
    judged = {entry.target.figure: entry for entry in compared}
    lines = ["| figure | value | spread | n | target |", "| --- | ---: | --- | ---: | --- |"]
    for rows in results.values():
        for row in rows:
            found = judged.get(row.figure)
            if found is None and row.figure.startswith(_QUALITY):
                continue
            goal = f"{target(found.target)}: {found.verdict}" if found else ""
            value = f"{number(row.value)} {row.unit}"
            lines.append(f"| `{row.figure}` | {value} | {spread(row)} | {row.n:,} | {goal} |")
    if len(lines) == 2:
        return "No results are committed yet."
    quality = [row for rows in results.values() for row in rows if row.figure.startswith(_QUALITY)]
    return "\n".join([*lines, *(["", *_quality(quality)] if quality else [])])


def _quality(rows: Iterable[Row]) -> list[str]:
    """Ways by measures, on the questions that are reported, with what the spread adds and runs of agents."""
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        _, encoder, way, measure, *half = row.figure.split(".")
        if half == ["reported"] or way == "runs":
            cells.setdefault((encoder, way if half == ["reported"] else f"runs: {measure}"), []).append(row)
    names = [row.figure.split(".")[3] for row in next(iter(cells.values()), list[Row]())]
    lines = [f"| encoder | way | {' | '.join(names)} |", f"| --- | --- |{' ---: |' * len(names)}"]
    for (encoder, way), found in cells.items():
        values = " | ".join(f"{number(row.value)}{_interval(row)}" for row in found)
        filled = "" if len(found) == len(names) else " |" * (len(names) - len(found))
        what = "what the spread adds (95 %)" if way == "gain" else way.replace("_", " ")
        lines.append(f"| {encoder} | {what} | {values} |{filled}")
    return lines


def _interval(row: Row) -> str:
    return f" ({number(row.spread.low)} – {number(row.spread.high)})" if row.spread else ""


def with_table(text: str, made: str) -> str:
    """The document with this table in its place."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{made}\n{_END}{after}"
