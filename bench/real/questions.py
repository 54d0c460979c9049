"""Questions about the history in plain words, answered by packets and held against the files."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.queries.recall import recall
from bench.real.checks import FIRST_OF_CHAIN, require
from bench.real.history import document_ref, entity_ref, numbers
from bench.real.oracle import Oracle

#: Places of a packet among which an answer must be.
ITEMS: Final = 10
#: Documents and years that are asked for a status.
_STATUSES_OF: Final = (8, 241, 345, 428, 484, 3000)
_YEARS: Final = (2001, 2005, 2009, 2014, 2023)


def _asked(context: Context, question: str, **options: Any) -> list[dict[str, Any]]:
    return recall(context, {"cues": [question], "max_items": ITEMS, **options})["items"]


def _named(items: list[dict[str, Any]], pep: int) -> set[int]:
    """The documents that a packet names beside one: itself, or in a memory about either of the two."""
    found: set[int] = set()
    for item in items:
        about = int(item["atom_ref"].split("/")[1])
        told = item["payload"].get("object", {}).get("value", "")
        if about == pep:
            found |= set(numbers(told))
        elif item["atom_ref"] == document_ref(about) or pep in numbers(told):
            found.add(about)
    return found


def check_what_replaced(context: Context, oracle: Oracle) -> str:
    """The question what replaced PEP 241 brings the next one, and so on along the chain."""
    chain = oracle.succession(FIRST_OF_CHAIN) if FIRST_OF_CHAIN in oracle.documents else []
    for pep, successor in pairwise(chain):
        question = f"What replaced PEP {pep}?"
        found = _named(_asked(context, question), pep)
        require(successor in found, f"{question} brings {sorted(found)}, not {successor}")
    return f"{max(0, len(chain) - 1)} questions"


def check_what_was_needed(context: Context, oracle: Oracle) -> str:
    """The question what a document needed brings each document that its header says it requires."""
    asked = {pep: row["requires"] for pep, row in oracle.documents.items() if row["requires"]}
    for pep, needed in asked.items():
        question = f"What did PEP {pep} need?"
        found = _named(_asked(context, question), pep)
        there = {other for other in needed if other in oracle.documents}
        require(there <= found, f"{question} brings {sorted(found)}, not {sorted(there - found)}")
    return f"{len(asked)} questions"


def check_status_in_a_year(context: Context, oracle: Oracle) -> str:
    """The question for its status in a year brings what held then, and no other status of the document."""
    count = 0
    for year in _YEARS:
        instant = f"{year}-07-01T00:00:00Z"
        held = oracle.status_at(instant)
        for pep in (pep for pep in _STATUSES_OF if pep in held):
            question = f"What was the status of PEP {pep} in {year}?"
            items = _asked(context, question, valid_at=instant, requested_memory_types=["belief"])
            said = [
                item["payload"]["object"]["value"]
                for item in items
                if item["payload"]["subject"] == entity_ref(pep)
                and item["payload"]["relation"] == "rel:status"
            ]
            require(said == [held[pep]], f"{question} brings {said}, not {held[pep]!r}")
            count += 1
    return f"{count} questions"
