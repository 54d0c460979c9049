"""`amos audit`: the reports of `cypher/report/`, as a table, as JSON, or as CSV."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, cast

import typer
from rich.text import Text

from amos_graph.cli.administration import opened
from amos_graph.cli.output import JsonOption, err, failures, out, print_json, print_table
from amos_graph.errors import invalid
from amos_graph.graph.procedures import Header
from amos_graph.queries.report import (
    Report,
    browser_params,
    column_types,
    report_header,
    report_names,
    run_report,
)

#: A column that is narrower than its longest line, and than this, is no longer read with ease.
_READABLE: Final = 20
#: A terminal obeys these; a memory may hold them.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
#: What makes a spreadsheet take a text for a formula, as its first character (full-width forms too).
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class Format(StrEnum):
    """How the rows of a report are printed."""

    table = "table"
    json = "json"
    csv = "csv"


def audit(
    name: Annotated[str | None, typer.Argument(help="The report; without it, all are listed.")] = None,
    params: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="A parameter as name=value; may repeat.")
    ] = None,
    given_format: Annotated[
        Format | None, typer.Option("--format", help="How the rows are printed; table unless given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run one of the reports that analysts use, in `cypher/report/`."""
    if as_json and given_format not in {None, Format.json}:
        raise typer.BadParameter(f"--json and --format {given_format} are two formats")
    form = Format.json if as_json else given_format or Format.table
    if name is None:
        _list_reports(form)
        return
    with failures(form is Format.json):
        values = _given(report_header(name), params or [])
    with opened(form is Format.json) as (graph, settings):
        shard = f"{settings.tenant}/{settings.workspace}"
        report = run_report(graph, name, {"shard": shard, **values})
    if form is Format.json:
        print_json(
            {
                "report": name,
                "title": report.title,
                "params": dict(report.params),
                "cut": report.cut,
                "rows": [_parsed(report, row) for row in report.rows],
            }
        )
    elif form is Format.csv:
        _print_csv(report.columns, (row.values() for row in report.rows))
    else:
        print_rows(report)
    if report.cut and form is not Format.json:
        err.print(f"the first {len(report.rows)} rows; -p limit=… shows more", markup=False)


def _list_reports(form: Format) -> None:
    headers = {name: report_header(name) for name in report_names()}
    if form is Format.json:
        listed = {
            name: {
                "title": header.notes["title"],
                "purpose": header.notes["purpose"],
                "params": header.params,
                "columns": column_types(header),
                "sample": header.sample,
                "browser": browser_params(header),
            }
            for name, header in headers.items()
        }
        print_json({"reports": listed})
        return
    rows = [
        [
            name,
            header.notes["title"],
            ", ".join(f"{param} {kind}" for param, kind in header.params.items() if param != "shard"),
        ]
        for name, header in headers.items()
    ]
    columns = ["report", "what it shows", "parameters"]
    if form is Format.csv:
        _print_csv(columns, rows)
    else:
        print_table(columns, rows)


def _given(report: Header, params: list[str]) -> dict[str, Any]:
    """`name=value` pairs; a number is read as JSON, text is taken as it is."""
    values: dict[str, Any] = {}
    for pair in params:
        name, equals, text = pair.partition("=")
        if not equals or name not in report.params:
            known = ", ".join(report.params) or "none"
            raise invalid("--param", f"{pair!r} is not name=value of a parameter; there are: {known}")
        try:
            values[name] = text if report.params[name].startswith("STRING") else json.loads(text)
        except ValueError as error:
            raise invalid("--param", f"{pair!r}: the value is not JSON") from error
    return values


def _parsed(report: Report, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose JSON columns are JSON, and no text that holds it."""
    return {
        column: _json(value) if report.columns[column] == "JSON" else value for column, value in row.items()
    }


def _json(text: str | None) -> Any:
    """JSON text as what it says; what is none, such as an encrypted body, stays a text."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


# --- CSV -------------------------------------------------------------------------------------


def _print_csv(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """RFC 4180, the header row first; each row is written as soon as it is made."""
    writer = csv.writer(sys.stdout)
    writer.writerow(columns)
    for row in rows:
        writer.writerow(map(_field, row))


def _field(value: Any) -> Any:
    """One field: text that a spreadsheet would run is led by an apostrophe; a list is JSON text."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if isinstance(value, (list, dict, bool)):
        return json.dumps(value, ensure_ascii=False)
    return value


# --- tables ----------------------------------------------------------------------------------


def print_rows(report: Report) -> None:
    """A table if the terminal is wide enough for a readable one, else one block for each row."""
    rows = [
        [_lines(value, kind) for value, kind in zip(row.values(), report.columns.values(), strict=True)]
        for row in report.rows
    ]
    # What no row has takes no room.
    used = [index for index in range(len(report.columns)) if any(row[index] for row in rows)]
    columns = [list(report.columns)[index] for index in used]
    cells = [[row[index] for index in used] for row in rows]
    if not rows:
        out.print(f"{report.title}: nothing found", markup=False)
    elif _width(columns, cells) <= out.width:
        print_table(columns, (map("\n".join, row) for row in cells), title=report.title)
    else:
        _print_blocks(report, rows)


def _lines(value: Any, kind: str) -> list[str]:
    """A value as the lines of a cell."""
    if value is None:
        return []
    if kind == "JSON":
        texts = list(_paths(_json(value)))
    else:
        texts = [str(entry) for entry in (cast("list[Any]", value) if isinstance(value, list) else [value])]
    lines = [line for text in texts for line in text.splitlines() or [""]]
    return [_CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", line) for line in lines]


def _paths(value: Any, at: str = "") -> Iterator[str]:
    """Each scalar of a JSON value on a line, after its path; a list of scalars is one line."""
    if isinstance(value, dict) and value:
        for name, member in cast("dict[str, Any]", value).items():
            yield from _paths(member, f"{at}.{name}" if at else name)
        return
    entries = cast("list[Any]", value) if isinstance(value, list) else []
    if any(isinstance(entry, (dict, list)) for entry in entries):
        for index, entry in enumerate(entries):
            yield from _paths(entry, f"{at}[{index}]")
        return
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    yield f"{at}: {text}" if at else text


def _width(columns: Iterable[str], rows: list[list[list[str]]]) -> int:
    """How wide a terminal must be for a table in which no column is hard to read."""
    widths = [
        max(len(column), *(min(len(line), _READABLE) for row in rows for line in [*row[index], ""]))
        for index, column in enumerate(columns)
    ]
    return sum(widths) + 3 * len(widths) + 1


def _print_blocks(report: Report, rows: list[list[list[str]]]) -> None:
    """A block a row. What a record says as the row above said it is left out, so that changes stand out."""
    out.print(Text(report.title, style="bold"))
    above: dict[str, list[str]] = {}
    margin = max(map(len, report.columns)) + 2
    for number, row in enumerate(rows, 1):
        out.print(Text(f"── {number} ──", style="dim"))
        for (column, kind), lines in zip(report.columns.items(), row, strict=True):
            shown = lines
            if kind == "JSON":
                shown = _changes(above.get(column, []), lines)
                above[column] = lines
            for index, line in enumerate(shown):
                out.print(Text(f"{column if index == 0 else '':<{margin}}{line}"))


def _changes(before: list[str], lines: list[str]) -> list[str]:
    """The lines that were not there before, those that went, and how many are the same."""
    if not set(before) & set(lines):
        return lines
    new = [line for line in lines if line not in before]
    gone = [f"(before) {line}" for line in before if line not in lines]
    same = len(lines) - len(new)
    return [*new, *gone, f"({same} lines as above)"]
