"""The documents as the tests read them: examples, code, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

DOCUMENTS = (
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
_FENCE = re.compile(r"^(<!-- run -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Fence:
    """A block of code."""

    language: str
    text: str
    runnable: bool


def fences(document: Path) -> list[Fence]:
    """The blocks of code of a document."""
    text = document.read_text(encoding="utf-8")
    return [Fence(match[2], match[3], bool(match[1])) for match in _FENCE.finditer(text)]


def prose(document: Path) -> str:
    """A document without its blocks of code."""
    return _FENCE.sub("", document.read_text(encoding="utf-8"))


def spans(document: Path) -> list[str]:
    """The pieces of code within sentences."""
    return _SPAN.findall(prose(document))


def links(document: Path) -> list[str]:
    """The targets of links and images."""
    return _LINK.findall(prose(document))


def code(document: Path) -> Iterator[str]:
    """Each piece of code: spans, and the lines of blocks."""
    yield from spans(document)
    for fence in fences(document):
        yield from fence.text.splitlines()


def name_of(document: Path) -> str:
    """A document's path in the repository."""
    return document.relative_to(ROOT).as_posix()
