"""A lock between processes that the kernel releases when its holder dies."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from amos_graph.errors import AmosError


@contextmanager
def file_lock(path: Path, timeout_s: float, waiting: Callable[[], None] = lambda: None) -> Generator[None]:
    """Hold the lock on `path`; `waiting` is called once when another process has it.

    Raises `unavailable` when the other process keeps it for longer than `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    told = False
    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    told = True
                    waiting()
                if time.monotonic() > deadline:
                    raise AmosError(
                        "unavailable",
                        f"another process has held {path} for {timeout_s:.0f} s; try again later",
                    ) from None
                time.sleep(0.1)
        yield
