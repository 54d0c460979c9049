"""What must come out, worked out from the files alone, by other means than the loader's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class Oracle:
    """The history in plain lists."""

    def __init__(self, changes: Path, documents: Path, limit: int | None = None) -> None:
        rows: list[dict[str, Any]] = [json.loads(line) for line in changes.read_text("utf-8").splitlines()]
        self.rows = rows[:limit]
        self._by_pep: dict[int, list[dict[str, Any]]] = {}
        for row in self.rows:
            self._by_pep.setdefault(row["pep"], []).append(row)
        lines = documents.read_text("utf-8").splitlines()
        self.documents: dict[int, dict[str, Any]] = {
            row["pep"]: row for row in map(json.loads, lines) if limit is None or row["pep"] in self._by_pep
        }

    def statuses(self, pep: int) -> list[tuple[datetime, str]]:
        """Every status that was written, each with the latest time met so far in that document."""
        found: list[tuple[datetime, str]] = []
        latest = datetime.min.replace(tzinfo=UTC)
        for row in self._by_pep[pep]:
            latest = max(latest, datetime.fromisoformat(row["at"]))
            if row["field"] == "status":
                found.append((latest, row["new"]))
        return found

    def peps(self) -> list[int]:
        return sorted({row["pep"] for row in self.rows if row["field"] == "status"})

    def status_at(self, instant: str) -> dict[int, str]:
        """The status of every document that had one then."""
        moment = datetime.fromisoformat(instant)
        found: dict[int, str] = {}
        for pep in self.peps():
            held = [value for since, value in self.statuses(pep) if since <= moment]
            if held:
                found[pep] = held[-1]
        return found

    def courses(self) -> dict[int, list[str]]:
        """The statuses of each document in order, without repeats in a row."""
        return {pep: collapsed([value for _, value in self.statuses(pep)]) for pep in self.peps()}

    def succession(self, first: int) -> list[int]:
        """The documents that took each other's place, from `first` on."""
        chain = [first]
        while after := [pep for pep in self._successors(chain[-1]) if pep not in chain]:
            chain.append(after[0])
        return chain

    def _successors(self, pep: int) -> list[int]:
        named: list[int] = self.documents[pep]["superseded_by"] if pep in self.documents else []
        return [other for other in named if other in self.documents]


def collapsed(values: Sequence[str]) -> list[str]:
    """The values without repeats in a row."""
    return [value for index, value in enumerate(values) if index == 0 or value != values[index - 1]]


def went_back(course: Sequence[str]) -> bool:
    """True if a value comes again after another one."""
    return len(set(course)) < len(course)
