"""What the suite ran and proved: statements with their outcomes, and reliability and case ids."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import neo4j
import pytest

from amos_graph.graph.procedures import Procedure

#: Statement → outcomes that its rows showed (the empty string when it declares none).
EXECUTED: defaultdict[str, set[str]] = defaultdict(set)
#: Statements declared `@mode read` that changed something.
WROTE_IN_READ: set[str] = set()


def record_procedure(
    procedure: Procedure[Any], rows: list[dict[str, Any]], counters: neo4j.SummaryCounters
) -> None:
    """Note one run of a statement."""
    seen = EXECUTED[procedure.name]
    seen.add("")
    seen.update(str(row["outcome"]) for row in rows if "outcome" in row)
    if procedure.header.mode == "read" and counters.contains_updates:
        WROTE_IN_READ.add(procedure.name)


class _Ids:
    """Collects the ids that passed tests are marked with, and prints them at the end."""

    def __init__(self) -> None:
        self.proved: defaultdict[str, list[str]] = defaultdict(list)

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when != "call" or call.excinfo is not None:
            return
        for mark in (*item.iter_markers("reliability"), *item.iter_markers("case")):
            for identifier in mark.args:
                self.proved[identifier].append(item.nodeid)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.proved:
            return
        terminalreporter.section("proved")
        for identifier in sorted(self.proved, key=lambda name: (name[0] != "T", name)):
            tests = self.proved[identifier]
            terminalreporter.write_line(
                f"{identifier}  {tests[0]}" + (f" and {len(tests) - 1} more" if tests[1:] else "")
            )


def install(config: pytest.Config) -> None:
    """Print the coverage of ids when the run ends."""
    config.pluginmanager.register(_Ids(), "proved-ids")
