"""What the suite ran: every statement, every outcome that it declares, and no write in a read. Runs last."""

from __future__ import annotations

import pytest

from amos_graph.graph.procedures import all_names, read_header
from tests.coverage import EXECUTED, WROTE_IN_READ
from tests.laws.conftest import NOT_JUDGED, WHOLE


def _whole(request: pytest.FixtureRequest, what: str) -> bool:
    config = request.config
    if not config.stash[WHOLE]:
        config.stash[NOT_JUDGED].append(f"{what}, because only a part of the suite was collected")
    return config.stash[WHOLE]


def test_no_statement_declared_read_changed_anything() -> None:
    """Whatever part of the suite ran: a statement of `@mode read` has only zero counters."""
    assert set() == WROTE_IN_READ


def test_every_statement_was_run(request: pytest.FixtureRequest) -> None:
    """The whole suite runs each shipped statement at least once on the real Neo4j."""
    if _whole(request, "that every statement was run"):
        assert set(all_names()) - EXECUTED.keys() == set()


def test_every_declared_outcome_was_seen(request: pytest.FixtureRequest) -> None:
    """The whole suite sees each outcome that a statement declares, and none that it does not."""
    wrong = {
        name: EXECUTED[name] - {""} - set(read_header(name).outcomes)
        for name in all_names()
        if name in EXECUTED and read_header(name).outcomes
    }
    assert {name: outcomes for name, outcomes in wrong.items() if outcomes} == {}
    if _whole(request, "that every declared outcome was seen"):
        unseen = {name: set(read_header(name).outcomes) - EXECUTED[name] for name in all_names()}
        assert {name: outcomes for name, outcomes in unseen.items() if outcomes} == {}
