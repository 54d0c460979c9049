"""Writing behind: what may reach the store a moment later, so that nobody waits for it.

A bounded queue in the process, and one thread that sends what has gathered in groups. What is lost when
the process dies is at most what gathered within `LINGER_S` and the group that was under way.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

OwnerT = TypeVar("OwnerT")
RowT = TypeVar("RowT")

_log: Final = logging.getLogger(__name__)
#: How long the first row waits for others before both are sent.
LINGER_S: Final = 0.1
#: How long a stop waits for what is on its way.
CLOSE_S: Final = 10.0


class Outbox(Generic[OwnerT, RowT]):
    """Rows on their way to the store, in the order in which they were put."""

    def __init__(self, owner: OwnerT, *, waiting_max: int = 2_000, group_max: int = 200) -> None:
        self._owner = owner
        self._waiting_max, self._group_max = waiting_max, group_max
        self._waiting: deque[tuple[Callable[[OwnerT, Sequence[RowT]], None], RowT]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        #: How many rows were put, and of how many of them the fate is known.
        self._put = self._done = 0
        self._hurried = self._closed = False
        #: What senders count from group to group; only the outbox's own thread touches it.
        self.tally: Counter[str] = Counter()
        #: Rows that never reached the store: the queue was full, or the store refused them.
        self.lost = 0

    def put(self, send: Callable[[OwnerT, Sequence[RowT]], None], row: RowT) -> bool:
        """Leave a row for `send`, a function that gets the owner and the rows of a group of its own.

        False if there is no room.
        """
        with self._changed:
            if self._closed or len(self._waiting) >= self._waiting_max:
                self._lose(1)
                return False
            self._waiting.append((send, row))
            self._put += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return True

    def flush(self, within_s: float = CLOSE_S) -> bool:
        """Wait until everything that was put by now was sent; False if that takes too long."""
        deadline = time.monotonic() + within_s
        with self._changed:
            wanted = self._put
            while self._done < wanted:
                self._hurried = True
                self._changed.notify_all()
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return self._done >= wanted
        return True

    def close(self) -> None:
        """Send what is left, as far as the store takes it in time, and take nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.flush()

    def _run(self) -> None:
        while True:
            group = self._gathered()
            if not group:
                return
            send = group[0][0]
            try:
                send(self._owner, [row for _, row in group])
            except Exception:
                # Nobody waits for an answer, so the log is the only place to say it.
                _log.warning("%d rows did not reach the store", len(group), exc_info=True)
                self._lose(len(group))
            with self._changed:
                self._done += len(group)
                self._changed.notify_all()

    def _lose(self, count: int) -> None:
        self.lost += count
        # At 1, 2, 4, 8 … so that a store that is away for long does not fill the log.
        if self.lost.bit_length() > (self.lost - count).bit_length():
            _log.warning("%d rows were given up since the start", self.lost)

    def _gathered(self) -> list[tuple[Callable[[OwnerT, Sequence[RowT]], None], RowT]]:
        """The next group, once there is something to send; empty when the outbox is closed and empty."""
        with self._changed:
            while not self._waiting:
                if self._closed:
                    return []
                self._hurried = False
                self._changed.wait()
            deadline = time.monotonic() + LINGER_S
            while not (self._hurried or self._closed) and len(self._waiting) < self._group_max:
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            send = self._waiting[0][0]
            group: list[tuple[Callable[[OwnerT, Sequence[RowT]], None], RowT]] = []
            while self._waiting and len(group) < self._group_max and self._waiting[0][0] == send:
                group.append(self._waiting.popleft())
            return group
