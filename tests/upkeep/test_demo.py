"""The demo's story: it loads once, answers as it must, and its tables stay readable whatever they show."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from amos_graph.commands.execution import Context
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.queries.recall import recall
from amos_graph.queries.verify import verify
from amos_graph.upkeep.demo import QUESTIONS, tell
from amos_graph.upkeep.sending import Json, in_process
from amos_graph.upkeep.story import CHAPTERS
from amos_graph.upkeep.story_records import WARN_BY_CALL
from amos_graph.upkeep.tables import WIDTH, packet_view, verify_view


def told(context: Context) -> tuple[int, str]:
    """The exit code of a demo in this process, and what it printed."""
    page = io.StringIO()
    code = tell(
        in_process(context),
        lambda request: recall(context, request),
        lambda request: get_atom(context, request),
        lambda: verify(context.graph, context.scope.shard).record(),
        Console(file=page, width=140, soft_wrap=True),
    )
    return code, page.getvalue()


def test_the_story_answers_its_questions_and_verifies(context: Context) -> None:
    """Each question finds what it must and not what was corrected; the page fits 100 columns."""
    code, page = told(context)

    assert code == 0, page
    for question in QUESTIONS:
        assert question.text in page
    assert "These cannot both hold" in page
    assert "goal_relevance" in page
    assert "superseded by" in page
    assert "no fault" in page
    assert max(len(line.rstrip()) for line in page.splitlines()) <= WIDTH


@pytest.mark.case("C01")
def test_a_story_told_twice_is_written_once(context: Context) -> None:
    """The second demo replays every chapter, adds nothing, and gives the same answers."""
    told(context)
    before = list_atoms(context, {"limit": 200})
    code, page = told(context)

    assert code == 0
    assert page.count("(was there)") == len(CHAPTERS)
    assert list_atoms(context, {"limit": 200}) == before


def test_the_story_holds_every_kind_that_the_demo_shows(context: Context) -> None:
    """Agents, goals, promises, a correction, a revised procedure, a conflict, evidence of many kinds."""
    told(context)
    items = list_atoms(context, {"limit": 200})["items"]
    kinds = {source["source_type"] for chapter in CHAPTERS for source in chapter.events}

    assert {item["type"] for item in items} == {
        "interaction_event",
        "goal",
        "commitment",
        "preference",
        "belief",
        "procedure",
        "action_outcome",
        "episode",
    }
    assert len(kinds) >= 7
    assert sum(item["state_key"] == "superseded" for item in items) == 2


@pytest.mark.parametrize("broken", ["recall", "verify"])
def test_a_demo_that_goes_wrong_says_so(context: Context, broken: str) -> None:
    """A missing answer or a fault found makes the exit code 1, and the page names it."""
    page = io.StringIO()
    fault = {"kind": "link", "message": "a link is cut", "ref": "evt_1"}
    found: dict[str, Any] = {
        "ok": broken != "verify",
        "faults": [fault],
        "records": {},
        "events": 0,
        "shard": "s",
    }

    def ask(request: Json) -> dict[str, Any]:
        packet = recall(context, request)
        return {**packet, "items": [], "conflicts": []} if broken == "recall" else packet

    code = tell(
        in_process(context), ask, lambda r: get_atom(context, r), lambda: found, Console(file=page, width=100)
    )

    assert code == 1
    assert ("Not as it must be" if broken == "recall" else "a link is cut") in page.getvalue()


Shown = Callable[[Any], str]


@pytest.fixture
def shown() -> Shown:
    """A view as text of 100 columns."""

    def show(view: Any) -> str:
        page = io.StringIO()
        Console(file=page, width=WIDTH).print(view)
        return page.getvalue()

    return show


@pytest.mark.case("C53", "C68")
def test_stored_text_cannot_touch_the_terminal(context: Context, shown: Shown) -> None:
    """Escape sequences, markup and marks that turn the line are shown as plain text or not at all."""
    evil = "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold] [/] \u202egnihton\u202c\nline"
    atom = {
        "type": "semantic",
        "payload": {"statement": evil},
        "evidence_refs": ["evd_evil"],
        "confidence": {"level": "high"},
    }
    source: dict[str, Any] = {
        "evidence_id": "evd_evil",
        "source_type": "note",
        "source_ref": evil,
        "payload": {},
    }
    in_process(context)("commit", {"atoms": [atom], "events": [source]}, "evil")
    page = shown(packet_view(recall(context, {"cues": ["red title"]})))

    assert "[bold]x[/bold]" in page
    assert not {"\x1b", "\x07", "\u202e"} & set(page)


def test_at_80_columns_no_column_and_no_letter_is_lost(context: Context) -> None:
    """Every line fits, every heading is there, and long ids are folded, not cut."""
    page = io.StringIO()
    code = tell(
        in_process(context),
        lambda request: recall(context, request),
        lambda request: get_atom(context, request),
        lambda: verify(context.graph, context.scope.shard).record(),
        Console(file=page, width=80, soft_wrap=True),
    )
    text = page.getvalue()

    assert code == 0, text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    history = text[text.index("What was known of Lena") :]
    heading = next(line for line in history.splitlines() if line.lstrip().startswith("when"))
    assert heading.split() == ["when", "what", "was", "held", "standing", "evidence"]
    # Column by column, the folded pieces make the whole again.
    start = heading.index("standing")
    end = heading.index("evidence")
    standing = "".join(line[start:end].strip() for line in history.splitlines())
    assert WARN_BY_CALL in standing


def test_an_empty_packet_and_a_clean_verification_are_one_line(context: Context, shown: Shown) -> None:
    """Nothing found, and nothing wrong, are said in a sentence."""
    assert "Nothing is remembered" in shown(packet_view(recall(context, {"cues": ["nothing of the kind"]})))
    assert "no fault" in shown(verify_view(verify(context.graph, context.scope.shard).record()))
