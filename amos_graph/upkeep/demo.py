"""The demo: load the authored story once, ask about it, and show why each answer is what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from rich.console import Console, RenderableType
from rich.text import Text

from amos_graph.domain.canonical import digest
from amos_graph.upkeep.sending import Client, Json, Send, through
from amos_graph.upkeep.story import CHAPTERS
from amos_graph.upkeep.story_records import (
    ASK_SUPPLIER,
    COVERED,
    DEPLOY_NEW,
    DEPLOY_OLD,
    FAILED_DEPLOY,
    GOAL,
    IMPORT,
    NOT_COVERED,
    WARN_BY_CALL,
    WARN_BY_MAIL,
)
from amos_graph.upkeep.tables import WIDTH, history_view, packet_view, verify_view

Ask = Callable[[Json], dict[str, Any]]

#: Items of one packet; more would not fit a screen.
ITEMS: Final = 5


class Answered(Protocol):
    """An answer of the service, as far as the demo looks at it."""

    @property
    def payload(self) -> dict[str, Any]: ...


class Teller(Client, Protocol):
    """The methods of `amos_graph.client.Amos` that the demo needs."""

    def recall(self, *cues: str, **options: Any) -> Answered: ...
    def get(self, atom_id: str, **options: Any) -> Answered: ...
    def verify(self) -> Answered: ...


@dataclass(frozen=True, slots=True)
class Question:
    """What the demo asks, and the atoms without which the answer would be wrong."""

    text: str
    expects: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: Atoms that must not be among the items: what was corrected is history.
    absent: tuple[str, ...] = ()
    conflict: bool = False


QUESTIONS: Final[tuple[Question, ...]] = (
    Question("How does Lena want to hear about an outage?", expects=(WARN_BY_CALL,), absent=(WARN_BY_MAIL,)),
    Question(
        "How do we deploy Ferrytime, and what went wrong last time?",
        expects=(DEPLOY_NEW, FAILED_DEPLOY),
        absent=(DEPLOY_OLD,),
    ),
    Question("Are there tide readings at North Harbour?", expects=(COVERED, NOT_COVERED), conflict=True),
    Question(
        "What did Bruno and Otto promise?",
        expects=(IMPORT, ASK_SUPPLIER),
        options={"requested_memory_types": ["commitment"]},
    ),
    Question(
        "What stands between us and the public beta?",
        # The beliefs share no word with the question: only the edges lead to them.
        expects=(GOAL, NOT_COVERED, COVERED),
        options={"max_items": 6, "requested_memory_types": ["goal", "commitment", "belief"]},
        conflict=True,
    ),
)


def run(client: Teller, console: Console) -> int:
    """The demo through the service; 0 if every answer is as it must be and verification finds nothing."""

    def recall(request: Json) -> dict[str, Any]:
        options = dict(request)
        return client.recall(*options.pop("cues"), **options).payload

    def get(request: Json) -> dict[str, Any]:
        return client.get(**request).payload

    return tell(through(client), recall, get, lambda: client.verify().payload, console)


def tell(send: Send, recall: Ask, get: Ask, verify: Callable[[], dict[str, Any]], console: Console) -> int:
    """The demo with any way to write and read: write the story, ask, look back, verify."""
    console.width = min(console.width, WIDTH)
    console.print()
    console.rule("The story")
    versions = load_story(send, lambda line: _show(console, Text(f"  {line}")))
    missed = [wrong for question in QUESTIONS for wrong in _ask(recall, question, console)]
    console.print()
    console.rule("One memory, before and after it was corrected")
    missed += _look_back(get, versions, console)
    report = verify()
    console.print()
    _show(console, verify_view(report))
    for wrong in missed:
        console.print(Text(f"Not as it must be: {wrong}", style="bold red"))
    return 0 if report["ok"] and not missed else 1


def _show(console: Console, view: RenderableType) -> None:
    # The command's console wraps nothing by itself, which would tear tables apart.
    console.print(view, soft_wrap=False)


def load_story(send: Send, note: Callable[[str], None] | None = None) -> Mapping[str, int]:
    """Write each chapter once; the graph version after each, by its name."""
    versions: dict[str, int] = {}
    for chapter in CHAPTERS:
        payload = chapter.payload()
        receipt = send("commit", payload, f"story-{digest(payload)[:40]}")
        versions[chapter.name] = receipt["graph_version"]
        done = "was there" if receipt.get("replayed") else f"{len(receipt['created'])} records"
        if note:
            note(f"{chapter.title} ({done})")
    return versions


def _ask(recall: Ask, question: Question, console: Console) -> list[str]:
    """Ask, show the packet, and say what is missing from it or should not be in it."""
    console.print()
    console.rule(Text(question.text))
    packet = recall({"cues": [question.text], "max_items": ITEMS, **question.options})
    _show(console, packet_view(packet))
    found = {item["atom_ref"] for item in packet["items"]}
    wrong = [f"{ref} is missing from “{question.text}”" for ref in question.expects if ref not in found]
    wrong += [f"{ref} is in “{question.text}”" for ref in question.absent if ref in found]
    if question.conflict and not packet["conflicts"]:
        wrong.append(f"“{question.text}” names no conflict")
    return wrong


def _look_back(get: Ask, versions: Mapping[str, int], console: Console) -> list[str]:
    """The preference as it was known before the correction, and as it is known since."""
    before, after = versions["revised-procedure"], versions["corrected-preference"]
    old = {"atom_id": WARN_BY_MAIL, "include_superseded": True}
    new = {"atom_id": WARN_BY_CALL}
    states = [
        (f"e-mail, at version {before}", get({**old, "as_of_version": before})),
        (f"e-mail, at version {after}", get({**old, "as_of_version": after})),
        (f"phone, at version {before}", get({**new, "as_of_version": before})),
        (f"phone, at version {after}", get({**new, "as_of_version": after})),
    ]
    _show(console, history_view("What was known of Lena's wish, and when", states))
    first, then, absent, correction = (answer for _, answer in states)
    wrong: list[str] = []
    if not first["found"] or first["item"]["provenance"]["superseded_by"]:
        wrong.append("the preference was not in force before its correction")
    if not then["found"] or then["item"]["provenance"]["superseded_by"] != [WARN_BY_CALL]:
        wrong.append("the corrected preference does not name what took its place")
    if absent["found"] or not correction["found"]:
        wrong.append("the correction is known at the wrong time")
    return wrong
