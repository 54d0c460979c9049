"""Write what the documents take from the code: `python docs/generate.py [--check]`.

That is docs/statements.md as a whole and every table that docs/tables.py knows. `--check` writes
nothing and exits with 1 when something is out of date.
"""  # noqa: INP001 - a script, run by path

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import tables

from amos_graph.graph.procedures import all_names, read_header

DOCS: Final = Path(__file__).resolve().parent
_AREAS: Final = {
    "journal": "The chain of events: lock, append, read, verify.",
    "project": "From a version of a record to the graph.",
    "recall": "Finding and reading for callers.",
    "provenance": "Where a record comes from.",
    "govern": "Who may call.",
    "telemetry": "What became of packets; outside every version and digest.",
    "upkeep": "The store itself.",
    "report": "For analysts; the same files run in Neo4j Browser.",
}
_ROWS: Final = {"none": "nothing", "maybe": "one row or none", "one": "one row", "many": "rows"}


def statements() -> str:
    """The page of all statements, from their headers."""
    lines = [
        "# Statements",
        "",
        (
            "Every statement that amos sends to Neo4j is a file of `cypher/`. This page is written from "
            "their headers by `docs/generate.py`. A statement's name is its path without the extension: in "
            "Python, in tests and in Neo4j's `query.log`."
        ),
    ]
    names = all_names()
    for area in dict.fromkeys(name.split("/")[0] for name in names):
        lines += ["", f"## {area}", "", _AREAS[area]]
        for name in names:
            if name.split("/")[0] == area:
                lines += ["", *_statement(name)]
    return "\n".join(lines) + "\n"


def _statement(name: str) -> Iterator[str]:
    header = read_header(name)
    columns = ", ".join(f"`{field}`" for field in header.fields)
    yield f"### {name}"
    yield ""
    yield header.title
    yield ""
    yield f"- {header.mode}; gives {_ROWS[header.rows]}" + (f": {columns}" if columns else "")
    if header.params:
        yield "- takes " + ", ".join(f"`{param}` {kind}" for param, kind in header.params.items())
    if header.outcomes:
        yield "- outcome: " + ", ".join(f"`{outcome}`" for outcome in header.outcomes)


def wanted() -> dict[Path, str]:
    """Each document that is written in whole or in part, as the code is now."""
    found = {path: tables.rendered(path.read_text(encoding="utf-8")) for path in sorted(DOCS.rglob("*.md"))}
    return {**found, DOCS / "statements.md": statements()}


def main(arguments: list[str]) -> int:
    """Write, or compare; 1 when a comparison finds something out of date."""
    stale = {
        path: text
        for path, text in wanted().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    if "--check" in arguments:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(DOCS.parent)} is out of date: run python docs/generate.py\n")
        return 1 if stale else 0
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
