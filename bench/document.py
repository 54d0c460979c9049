"""docs/figures.md as the results make it."""

from __future__ import annotations

from bench import table
from bench.results import Compared, compare, read_rows, read_targets


def all_compared() -> list[Compared]:
    """Every target beside what is committed."""
    return compare(read_targets(), [row for rows in read_rows().values() for row in rows])


def document() -> None:
    """Bring the tables of docs/figures.md to the results."""
    text = table.DOCUMENT.read_text(encoding="utf-8")
    table.DOCUMENT.write_text(
        table.with_table(text, table.markdown(read_rows(), all_compared())), encoding="utf-8"
    )
