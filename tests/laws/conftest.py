"""Runs the law of coverage last, and says so when only a part of the suite ran and it was not judged."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.conftest import ROOT

LAST: Final = "test_coverage_of_statements.py"
WHOLE: Final = pytest.StashKey[bool]()
#: What one run of this session left unjudged, for the summary.
NOT_JUDGED: Final = pytest.StashKey[list[str]]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the law of coverage at the end, and note whether the whole suite was collected."""
    items.sort(key=lambda item: item.path.name == LAST)
    collected = {item.path for item in items}
    expected = {path for path in (ROOT / "tests").rglob("test_*.py") if "browser" not in path.parts}
    config.stash[WHOLE] = expected <= collected and not config.option.keyword
    config.stash.setdefault(NOT_JUDGED, [])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for sentence in config.stash.get(NOT_JUDGED, list[str]()):
        terminalreporter.write_line(f"not judged: {sentence}")
