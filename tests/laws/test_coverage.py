"""The judgement of what a run covered: it finds what is missing, and what nothing declares."""

from __future__ import annotations

from amos_graph.graph.procedures import all_names, read_header
from tests.coverage import broken


def complete() -> dict[str, set[str]]:
    """A run that saw everything."""
    return {name: {"", *read_header(name).outcomes} for name in all_names()}


def test_a_complete_run_breaks_no_law() -> None:
    """Every statement with every outcome is all that is asked."""
    assert broken(complete(), set(), whole=True) == []


def test_what_is_missing_is_told_of_a_whole_run_only() -> None:
    """A statement that was not run, and an outcome that was not seen."""
    executed = complete()
    name = next(name for name in all_names() if read_header(name).outcomes)
    [first, *_] = read_header(name).outcomes
    executed[name].discard(first)
    gone = next(other for other in all_names() if other != name)
    del executed[gone]

    assert sorted(broken(executed, set(), whole=True)) == sorted(
        [f"{gone} was not run", f"{name} never gave {first}"]
    )
    assert broken(executed, set(), whole=False) == []


def test_what_is_wrong_is_told_of_any_run() -> None:
    """An outcome that nothing declares, and a read that changed something."""
    name = next(name for name in all_names() if read_header(name).outcomes)

    assert broken({name: {"", "made_up"}}, {"x/y"}, whole=False) == [
        "x/y is declared a read and changed something",
        f"{name} gave made_up, undeclared",
    ]
