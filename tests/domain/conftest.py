"""Says at the end of a run what was not judged, because what it is judged by is not here."""

from __future__ import annotations

from typing import Any, Final

import pytest

NOT_JUDGED: Final = pytest.StashKey[set[str]]()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for sentence in sorted(config.stash.get(NOT_JUDGED, set[str]())):
        terminalreporter.write_line(f"not judged: {sentence}")
