"""Reports: the statements of `cypher/report/`, run by name for whoever holds the database's login.

A report is a file and nothing else: its header gives title, purpose, parameters and columns. So they
are bound here together by going through the folder, and their rows are plain maps; every other
statement is bound once, by the module that uses it, to a type of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.graph.procedures import Header, Procedure, ProcedureError, all_names, read_header
from amos_graph.graph.transactions import Graph

Row = dict[str, Any]
_FOLDER: Final = "report/"
#: The most rows that one report gives; each takes a `limit` up to this.
ROWS_MAX: Final = 10_000
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {"STRING": (str,), "INTEGER": (int,), "FLOAT": (int, float)}
#: What a column may hold; JSON is text that holds a record, which each format shows in its own way.
_COLUMNS: Final = frozenset({"STRING", "INTEGER", "FLOAT", "BOOLEAN", "LIST<STRING>", "JSON"})
_ROWS: Final = re.compile(r"^// @rows many\s+(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Report:
    """What a report found, with what it is for and the parameters that it was run with."""

    name: str
    title: str
    purpose: str
    params: Mapping[str, Any]
    #: Column → what it holds, such as `LIST<STRING>`, without the mark that it may be null.
    columns: Mapping[str, str]
    rows: list[Row]

    @property
    def cut(self) -> bool:
        """True when there may be more rows than the limit let through."""
        return len(self.rows) == self.params["limit"]


def _bound(name: str) -> Procedure[Row]:
    header = read_header(name)
    if header.rows != "many" or header.mode != "read":
        raise ProcedureError(f"{name}: a report reads many rows")
    if not {"title", "purpose"} <= set(header.notes) or not {"shard", "limit"} <= set(header.params):
        raise ProcedureError(f"{name}: a report has @title, @purpose, and the parameters shard and limit")
    unknown = {kind.rstrip("?") for kind in header.params.values()} - set(_TYPES)
    if unknown:
        raise ProcedureError(f"{name}: a report's parameters are text or numbers, not {sorted(unknown)}")
    if header.sample.keys() != header.params.keys():
        raise ProcedureError(f"{name}: a report's @sample has a value for each parameter")
    odd = set(column_types(header).values()) - _COLUMNS
    if odd:
        raise ProcedureError(f"{name}: a report has no columns of {sorted(odd)}")
    return Procedure(header, dict[str, Any])


def column_types(header: Header) -> dict[str, str]:
    """Column → what it holds, as the header's @rows says."""
    found = _ROWS.search(header.text)
    named = (column.split() for column in found[1].split(", ")) if found else ()
    return {name: kind.rstrip("?") for name, kind in named}


def browser_params(header: Header) -> str:
    """The sample as a line that Neo4j Browser takes as it is."""
    return f":params {json.dumps(header.sample, ensure_ascii=False)}"


#: Every report, by the name of its file.
REPORTS: Final[Mapping[str, Procedure[Row]]] = MappingProxyType(
    {name.removeprefix(_FOLDER): _bound(name) for name in all_names() if name.startswith(_FOLDER)}
)


def report_names() -> list[str]:
    """The names of all reports."""
    return list(REPORTS)


def report_header(name: str) -> Header:
    """What a report says about itself. Raises `not_found`."""
    if name not in REPORTS:
        raise AmosError("not_found", f"there is no report {name}; there are {', '.join(REPORTS)}")
    return REPORTS[name].header


def run_report(graph: Graph, name: str, params: Mapping[str, Any]) -> Report:
    """Run a report with the given parameters.

    A parameter whose type ends in `?` may be left out, and so may `limit`, which then has the value of
    the report's sample. Whoever may run this sees the whole shard, whatever the access policies say.

    Raises `not_found` for an unknown report and `schema_invalid` for a wrong parameter.
    """
    header = report_header(name)
    values = _values(header, params)
    rows = graph.read("report", lambda tx: tx.many(REPORTS[name], **values))
    return Report(name, header.notes["title"], header.notes["purpose"], values, column_types(header), rows)


def _values(header: Header, given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each parameter. Raises `schema_invalid` with everything that is wrong."""
    known = ", ".join(header.params)
    faults = [
        Fault(name, f"no parameter of this report; there are {known}")
        for name in given
        if name not in header.params
    ]
    values = {"limit": header.sample["limit"], **given}
    for name, kind in header.params.items():
        value = values.setdefault(name, None)
        if value is None and kind.endswith("?"):
            continue
        # True is an int to Python and none to Neo4j.
        if isinstance(value, bool) or not isinstance(value, _TYPES[kind.rstrip("?")]):
            wanted = f"must be given, as {kind}" if name not in given else f"is not {kind}"
            faults.append(Fault(name, wanted))
    if faults:
        message = f"{faults[0].path}: {faults[0].message}"
        raise AmosError("schema_invalid", message, faults)
    if not 1 <= values["limit"] <= ROWS_MAX:
        raise invalid("limit", f"from 1 to {ROWS_MAX}")
    return values
