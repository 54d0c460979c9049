"""What the command line prints: whole on a pipe, readable on a narrow terminal, harmless on both."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from amos_graph.cli import output

ID = "atom_" + "0123456789" * 4
TEXT = "Mira is away until Thursday, and Lena answers for the release in the meantime."
COLUMNS = ["id", "type", "payload"]


def _printed(
    monkeypatch: pytest.MonkeyPatch, width: int, *, terminal: bool, rows: list[list[object]], title: str = ""
) -> list[str]:
    page = io.StringIO()
    console = Console(
        file=page,
        width=width,
        force_terminal=terminal,
        color_system=None,
        soft_wrap=True,
        highlight=False,
        legacy_windows=False,
    )
    monkeypatch.setattr(output, "out", console)
    output.print_table(COLUMNS, rows, title=title or None)
    return page.getvalue().splitlines()


@pytest.mark.parametrize("width", [20, 80, 200])
def test_on_a_pipe_a_row_is_one_line_with_whole_ids(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Whatever width is assumed, ids and texts can be cut out and searched for."""
    lines = _printed(monkeypatch, width, terminal=False, rows=[[ID, "semantic", TEXT], [ID, "belief", None]])

    assert len([line for line in lines if ID in line]) == 2
    assert len([line for line in lines if ID in line and TEXT in line]) == 1


@pytest.mark.parametrize("width", [80, 100, 200])
def test_on_a_terminal_texts_are_wrapped_and_ids_stay_whole(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """No line is wider than the terminal, and no word is broken."""
    lines = _printed(monkeypatch, width, terminal=True, rows=[[ID, "semantic", TEXT]], title="one")

    assert max(map(len, lines)) <= width
    assert any(ID in line for line in lines)
    page = " ".join(lines)
    assert all(word in page for word in TEXT.split())


def test_where_the_words_do_not_fit_side_by_side_a_row_is_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name and a value a line; even an id that is wider than the terminal is all there."""
    rows: list[list[object]] = [[ID, "semantic", "https://example.org/" + "x" * 60], [ID, "belief", None]]
    lines = _printed(monkeypatch, 60, terminal=True, rows=rows, title="two")

    assert max(len(line.rstrip()) for line in lines) <= 60
    assert [line.rstrip() for line in lines if line.startswith("id")] == [f"id       {ID}"] * 2
    assert [line.split() for line in lines if line.startswith("type")] == [
        ["type", "semantic"],
        ["type", "belief"],
    ]
    assert len([line for line in lines if line.startswith("payload")]) == 1
    tiny = _printed(monkeypatch, 30, terminal=True, rows=[[ID, "belief", "x"]])
    assert ID in "".join(line.removeprefix("id").strip() for line in tiny)


@pytest.mark.case("C53")
def test_what_a_terminal_would_obey_is_shown_and_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control characters and markup of a memory are text."""
    for terminal in (True, False):
        page = "\n".join(
            _printed(
                monkeypatch, 200, terminal=terminal, rows=[["\x1b[2J\x07", "[bold]b[/]", "a\tb\x9b1m\r"]]
            )
        )
        assert r"\x1b[2J\x07" in page
        assert "[bold]b[/]" in page
        assert r"\x9b1m\x0d" in page
        assert not {"\x1b", "\x07", "\x9b", "\r", "\t"} & set(page)
