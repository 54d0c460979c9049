"""Writing behind: in order, in groups, within a bound, and nothing lost but what is counted as lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from amos_graph.graph.outbox import LINGER_S, Outbox


class Store:
    """What was sent, group by group; it can be made to hang and to fail."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.open = threading.Event()
        self.open.set()
        self.fails = False

    def send(self, rows: Sequence[int]) -> None:
        assert self.open.wait(20)
        if self.fails:
            raise ConnectionError("gone")
        self.groups.append(list(rows))


def _send(store: Store, rows: Sequence[int]) -> None:
    store.send(rows)


def _other(store: Store, rows: Sequence[int]) -> None:
    store.send([-row for row in rows])


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def outbox(store: Store) -> Iterator[Outbox[Store, int]]:
    made: Outbox[Store, int] = Outbox(store, waiting_max=5, group_max=3)
    yield made
    store.open.set()
    made.close()


def test_what_gathers_is_sent_in_order_and_in_groups(outbox: Outbox[Store, int], store: Store) -> None:
    """A group is of one kind and has a bound; the order stays."""
    for row in (1, 2, 3, 4):
        assert outbox.put(_send, row)
    assert outbox.put(_other, 5)
    assert outbox.flush()

    assert [row for group in store.groups for row in group] == [1, 2, 3, 4, -5]
    assert max(map(len, store.groups)) <= 3
    assert outbox.lost == 0


def test_a_row_that_is_alone_does_not_wait_for_long(outbox: Outbox[Store, int], store: Store) -> None:
    """Nobody has to ask for it."""
    outbox.put(_send, 1)
    deadline = time.monotonic() + 20 * LINGER_S
    while not store.groups and time.monotonic() < deadline:
        time.sleep(0.005)

    assert store.groups == [[1]]


def test_a_store_that_hangs_keeps_nobody_waiting(outbox: Outbox[Store, int], store: Store) -> None:
    """Beyond the bound rows are given up at once and counted; a flush ends in time and says so."""
    store.open.clear()
    begun = time.monotonic()
    taken = [outbox.put(_send, row) for row in range(20)]
    assert not outbox.flush(0.05)
    assert time.monotonic() - begun < 5
    assert 5 <= sum(taken) <= 8
    assert outbox.lost == 20 - sum(taken)
    store.open.set()

    assert outbox.flush()
    assert [row for group in store.groups for row in group] == [n for n, kept in enumerate(taken) if kept]


def test_rows_that_the_store_refuses_are_counted_and_those_behind_them_go_on(
    outbox: Outbox[Store, int], store: Store
) -> None:
    """A failure ends with its group."""
    store.fails = True
    outbox.put(_send, 1)
    assert outbox.flush()
    store.fails = False
    outbox.put(_send, 2)
    assert outbox.flush()

    assert (store.groups, outbox.lost) == ([[2]], 1)


def test_a_close_sends_what_is_left_and_takes_nothing_more(outbox: Outbox[Store, int], store: Store) -> None:
    """Everything that was put before is there afterwards."""
    for row in (1, 2, 3, 4):
        outbox.put(_send, row)
    outbox.close()
    assert not outbox.put(_send, 5)

    assert [row for group in store.groups for row in group] == [1, 2, 3, 4]
    assert outbox.lost == 1
    outbox.close()
