"""Rows of results, the targets, and how the two compare."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

HERE: Final = Path(__file__).resolve().parent
RESULTS: Final = HERE / "results"
TARGETS: Final = HERE / "targets.json"

Op = Literal["<=", ">="]
Verdict = Literal["met", "missed", "not measured"]


@dataclass(frozen=True, slots=True)
class Spread:
    """How far a value is spread, and by what: quartiles of single times, the least and greatest block, or the
    95 % interval of a paired bootstrap."""

    of: Literal["quartiles", "blocks", "runs", "bootstrap"]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """One figure as it was measured."""

    figure: str
    value: float
    unit: str
    #: None where there is one measurement, or none that could differ.
    spread: Spread | None
    n: int


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure has to reach."""

    figure: str
    op: Op
    value: float

    def met_by(self, value: float) -> bool:
        return value <= self.value if self.op == "<=" else value >= self.value


@dataclass(frozen=True, slots=True)
class Compared:
    """A target beside what was measured."""

    target: Target
    row: Row | None

    @property
    def verdict(self) -> Verdict:
        if self.row is None:
            return "not measured"
        return "met" if self.target.met_by(self.row.value) else "missed"


def read_targets(path: Path = TARGETS) -> list[Target]:
    """The targets, in the order of their file."""
    return [Target(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def write_rows(name: str, rows: Sequence[Row], folder: Path = RESULTS) -> Path:
    """Write the rows of one measurement; an earlier file of the same name goes."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    lines = ",\n".join("  " + json.dumps(asdict(row)) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return path


def read_rows(folder: Path = RESULTS) -> dict[str, list[Row]]:
    """The rows of every results file, by the file's name."""
    return {path.stem: _rows(path) for path in sorted(folder.glob("*.json"))}


def _rows(path: Path) -> list[Row]:
    entries: list[dict[str, object]] = json.loads(path.read_text(encoding="utf-8"))
    return [_row(entry) for entry in entries]


def _row(entry: Mapping[str, object]) -> Row:
    spread = entry["spread"]
    parsed = Spread(**spread) if isinstance(spread, dict) else None  # pyright: ignore[reportUnknownArgumentType]
    return Row(**{**entry, "spread": parsed})  # pyright: ignore[reportArgumentType]


def compare(targets: Iterable[Target], rows: Iterable[Row]) -> list[Compared]:
    """Every target beside its figure."""
    found = {row.figure: row for row in rows}
    return [Compared(target, found.get(target.figure)) for target in targets]
