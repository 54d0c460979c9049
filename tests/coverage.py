"""What the suite ran and proved: statements with their outcomes, and reliability and case ids.

Two laws are judged when a run ends: no statement that is declared a read changes anything; and the whole
suite runs every statement and sees every outcome that one declares. Workers (pytest-xdist) hand what they
saw to the process that started them, which judges all of it together.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import neo4j
import pytest

from amos_graph.graph.procedures import Procedure, all_names, read_header

TESTS: Final = Path(__file__).resolve().parent
#: Statement → outcomes that its rows showed (the empty string when it declares none).
EXECUTED: defaultdict[str, set[str]] = defaultdict(set)
#: Statements declared `@mode read` that changed something.
WROTE_IN_READ: set[str] = set()
#: What could not be judged because what it is judged by is not here; the end of a run says so.
NOT_JUDGED: set[str] = set()
_PROVES: Final = "proves"


def record_procedure(
    procedure: Procedure[Any], rows: list[dict[str, Any]], counters: neo4j.SummaryCounters
) -> None:
    """Note one run of a statement."""
    seen = EXECUTED[procedure.name]
    seen.add("")
    seen.update(str(row["outcome"]) for row in rows if "outcome" in row)
    if procedure.header.mode == "read" and counters.contains_updates:
        WROTE_IN_READ.add(procedure.name)


def broken(executed: dict[str, set[str]], wrote_in_read: set[str], *, whole: bool) -> list[str]:
    """What is against the laws, a sentence each; of a part of the suite only what a part can tell."""
    found = [f"{name} is declared a read and changed something" for name in sorted(wrote_in_read)]
    for name in all_names():
        seen, declared = executed.get(name), set(read_header(name).outcomes)
        if seen is None:
            if whole:
                found.append(f"{name} was not run")
            continue
        if declared:
            found += [f"{name} gave {outcome}, undeclared" for outcome in sorted(seen - {""} - declared)]
        if whole:
            found += [f"{name} never gave {outcome}" for outcome in sorted(declared - seen)]
    return found


class _Coverage:
    """Collects what the tests ran and proved, judges it at the end, and prints it."""

    def __init__(self) -> None:
        self.proved: defaultdict[str, list[str]] = defaultdict(list)
        self.whole = False
        self.broken: list[str] = []

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        collected = {item.path for item in items}
        expected = {path for path in TESTS.rglob("test_*.py") if "browser" not in path.parts}
        self.whole = expected <= collected and not config.option.keyword

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        marks = [*item.iter_markers("reliability"), *item.iter_markers("case")]
        item.user_properties += [(_PROVES, identifier) for mark in marks for identifier in mark.args]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            for name, identifier in report.user_properties:
                if name == _PROVES:
                    self.proved[str(identifier)].append(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker saw."""
        told: dict[str, Any] = getattr(node, "workeroutput", {})
        for name, outcomes in told.get("executed", {}).items():
            EXECUTED[name].update(outcomes)
        WROTE_IN_READ.update(told.get("wrote_in_read", ()))
        NOT_JUDGED.update(told.get("not_judged", ()))
        self.whole = self.whole or told.get("whole", False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            executed = {name: sorted(outcomes) for name, outcomes in EXECUTED.items()}
            output |= {
                "executed": executed,
                "wrote_in_read": sorted(WROTE_IN_READ),
                "not_judged": sorted(NOT_JUDGED),
                "whole": self.whole,
            }
            return
        if not self.whole:
            NOT_JUDGED.add("that every statement was run and gave every outcome: only a part was run")
        if session.config.option.collectonly:
            return
        self.broken = broken(EXECUTED, WROTE_IN_READ, whole=self.whole)
        if self.broken and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.proved:
            terminalreporter.section("proved")
        for identifier in sorted(self.proved, key=lambda name: (name[0] != "T", name)):
            tests = sorted(self.proved[identifier])
            terminalreporter.write_line(
                f"{identifier}  {tests[0]}" + (f" and {len(tests) - 1} more" if tests[1:] else "")
            )
        if self.broken:
            terminalreporter.section("against the laws of statements")
            for sentence in self.broken:
                terminalreporter.write_line(sentence, red=True)
        for sentence in sorted(NOT_JUDGED):
            terminalreporter.write_line(f"not judged: {sentence}")


def install(config: pytest.Config) -> None:
    """Judge and print what was covered when the run ends."""
    config.pluginmanager.register(_Coverage(), "coverage-of-statements")
