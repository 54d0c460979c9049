"""What a long piece of work tells whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Phase = Literal["wait", "fetch", "check", "java", "port", "start"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `done` of `total` artifacts while fetching and checking, 0 of 0 for a plain message."""

    phase: Phase
    message: str
    done: int = 0
    total: int = 0


Progress = Callable[[Step], None]


def silent(_: Step) -> None:
    """Tell nobody."""
