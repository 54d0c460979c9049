"""First come, first served: the order in which one process lets writers into a shard (design §4).

Whoever finds a shard idle leads: it takes everybody who waits by then, itself first, does their work
as one group, hands each their outcome, and names whoever waits at the front the next leader. So a
group forms exactly when a shard is busy, and a lone writer waits for nobody.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from amos_graph.errors import AmosError

WorkT = TypeVar("WorkT")
ResultT = TypeVar("ResultT")
#: Does a group and returns an outcome for each member, in order.
Run = Callable[[Sequence[WorkT]], Sequence[ResultT | Exception]]


@dataclass(slots=True)
class _Ticket(Generic[WorkT, ResultT]):
    work: WorkT
    weight: int
    #: Set when there is an outcome, or when the holder is to lead.
    called: threading.Event = field(default_factory=threading.Event)
    outcome: ResultT | Exception | None = None


class Admission(Generic[WorkT, ResultT]):
    """One queue per shard."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        #: Shard → who waits; a shard that is idle has no queue.
        self._waiting: dict[str, deque[_Ticket[WorkT, ResultT]]] = {}

    def submit(
        self,
        shard: str,
        work: WorkT,
        run: Run[WorkT, ResultT],
        *,
        weight: int,
        group_max: int,
        weight_max: int,
    ) -> ResultT:
        """Wait for this work's turn and return its outcome. Raises what `run` put in its place.

        A group has at most `group_max` members, and more than one only while their weights add up to
        at most `weight_max`.
        """
        ticket: _Ticket[WorkT, ResultT] = _Ticket(work, weight)
        with self._mutex:
            waiting = self._waiting.get(shard)
            if waiting is None:
                self._waiting[shard] = deque([ticket])
            else:
                waiting.append(ticket)
        if waiting is not None:
            ticket.called.wait()
        if ticket.outcome is None:
            self._lead(shard, run, group_max, weight_max)
        if isinstance(ticket.outcome, Exception):
            raise ticket.outcome
        if ticket.outcome is None:
            raise AmosError("internal", "a group ended without an outcome for one of its commands")
        return ticket.outcome

    def waiting(self, shard: str) -> int:
        """How many wait for a shard, without the group that is being done."""
        with self._mutex:
            return len(self._waiting.get(shard, ()))

    def _lead(self, shard: str, run: Run[WorkT, ResultT], group_max: int, weight_max: int) -> None:
        """Do the work of those who wait, as many as a group may have; the leader is at their front."""
        with self._mutex:
            waiting = self._waiting[shard]
            group = [waiting.popleft()]
            weight = group[0].weight
            while waiting and len(group) < group_max and weight + waiting[0].weight <= weight_max:
                weight += waiting[0].weight
                group.append(waiting.popleft())
        # What the members hear when the leader itself is stopped, by Ctrl-C for example.
        outcomes: Sequence[ResultT | Exception] = [AmosError("unavailable", "the service is stopping")] * len(
            group
        )
        try:
            outcomes = run([ticket.work for ticket in group])
        finally:
            for ticket, outcome in zip(group, outcomes, strict=True):
                ticket.outcome = outcome
            with self._mutex:
                following = waiting[0] if waiting else None
                if following is None:
                    del self._waiting[shard]
            if following is not None:
                following.called.set()
            for ticket in group[1:]:
                ticket.called.set()
