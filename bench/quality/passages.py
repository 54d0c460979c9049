"""Passages and questions of the development data: read, and made into commands that know no question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from amos_graph.domain.canonical import digest
from amos_graph.domain.ids import derived_id
from amos_graph.domain.mentions import name_key

PASSAGES: Final = Path("multihop") / "passages.jsonl"
QUESTIONS: Final = Path("multihop") / "questions.jsonl"
#: Passages of one command.
BATCH: Final = 100
#: The type of the entities that titles name.
_TITLED: Final = "ent:page:"

_BRACKETED: Final = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text under a title."""

    id: str
    title: str
    text: str

    @property
    def ref(self) -> str:
        """The id of its atom."""
        return f"passage/{self.id}"

    @property
    def entity(self) -> str:
        """The entity that its title names; passages of one title share it."""
        slug = name_key(self.title).replace(" ", "_")
        # A name in another script leaves no letters that an id may have.
        return f"{_TITLED}{slug}" if slug.isascii() and slug else f"{_TITLED}{digest(self.title)[:20]}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the atoms that hold its evidence."""

    id: str
    text: str
    supporting: frozenset[str]


def read_passages(folder: Path) -> list[Passage]:
    """Every passage, in the order of the file."""
    return [Passage(row["id"], row["title"], row["text"]) for row in _rows(folder / PASSAGES)]


def read_questions(folder: Path) -> list[Question]:
    """Every question, in the order of the file: even rows are for tuning, odd ones are reported."""
    return [
        Question(row["id"], row["question"], frozenset(f"passage/{ref}" for ref in row["supporting"]))
        for row in _rows(folder / QUESTIONS)
    ]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def commands(passages: Iterable[Passage]) -> Iterator[dict[str, Any]]:
    """Evidence, semantic atoms and entities of the titles, in bounded commands."""
    known: set[str] = set()
    batch: list[Passage] = []
    for passage in passages:
        batch.append(passage)
        if len(batch) == BATCH:
            yield _command(batch, known)
            batch = []
    if batch:
        yield _command(batch, known)


def _command(batch: Sequence[Passage], known: set[str]) -> dict[str, Any]:
    entities: list[dict[str, Any]] = []
    for passage in batch:
        if passage.entity not in known:
            known.add(passage.entity)
            entities.append(_entity(passage))
    return {
        "events": [_evidence(passage) for passage in batch],
        "entities": entities,
        "atoms": [_atom(passage) for passage in batch],
    }


def _entity(passage: Passage) -> dict[str, Any]:
    bare = _BRACKETED.sub("", passage.title)
    aliases = [name for name in dict.fromkeys((bare, bare.partition(",")[0])) if name != passage.title]
    return {"id": passage.entity, "canonical_name": passage.title, "aliases": aliases}


def _evidence(passage: Passage) -> dict[str, Any]:
    return {
        "evidence_id": derived_id("evd_", ["passage", passage.id]),
        "source_type": "document",
        "source_ref": f"passage:{passage.id}",
        "payload": {"title": passage.title, "text": passage.text},
    }


def _atom(passage: Passage) -> dict[str, Any]:
    return {
        "id": passage.ref,
        "type": "semantic",
        "payload": {"topic": passage.entity, "statement": passage.text},
        "evidence_refs": [derived_id("evd_", ["passage", passage.id])],
        "confidence": {"level": "high"},
    }
