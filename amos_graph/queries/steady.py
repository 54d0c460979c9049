"""Reads of exactly one graph version while writers run: read, and read again when what was read moved.

Neo4j shows a commit piece by piece while it is applied, so the newest command is in doubt until the
shard's lock, which it keeps to its end, has been held after it. Source: design §5, "One packet, one
version"; T12.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from amos_graph.domain.times import now, parse_time
from amos_graph.errors import AmosError
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, Tx
from amos_graph.queries.versions import hold_shard

ReadT = TypeVar("ReadT")
Change = dict[str, Any]

#: Reads of a moving graph before the last one holds the shard's lock.
READS_MAX: Final = 3
#: Writes during one read that are compared with it; more of them count as touching it.
CHANGES_MAX: Final = 500
#: A command accepted longer ago than this is in the graph as a whole.
APPLIED_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Head:
    """Where a shard's journal stands, and what was written since the version asked about."""

    graph_version: int
    head_hash: str
    index_mark: str | None
    accepted_at: str | None
    head: str | None
    changes: list[Change]

    @property
    def undoubted(self) -> int:
        """The newest version that is certainly applied as a whole: only the last command can be under way."""
        if self.accepted_at is None or self.head is None:
            return self.graph_version
        age_s = (parse_time(now()) - parse_time(self.accepted_at)).total_seconds()
        return self.graph_version if age_s > APPLIED_S else json.loads(self.head)["command"]["first"] - 1


_CHANGES = procedure("recall/read_changes", Head)


def read_head(tx: Tx, shard: str) -> Head | None:
    """Where the shard's journal stands; None where nobody wrote yet."""
    return tx.maybe(_CHANGES, shard=shard, since=None, limit=0)


def steady(
    graph: Graph,
    shard: str,
    flow: str,
    read: Callable[[Tx, int], ReadT | None],
    touches: Callable[[ReadT, list[Change]], bool],
) -> tuple[ReadT, Head | None]:
    """What `read` finds at one version, and where the journal stood; None for a read under the lock.

    `read` is given the version and may run several times; it returns None when something that it had
    found was gone. `touches` says whether writes since can have changed what was read.
    """
    applied = 0

    def attempt(tx: Tx) -> tuple[ReadT, Head | None] | None:
        before = read_head(tx, shard)
        since = max(applied, before.undoubted) if before else 0
        found = read(tx, before.graph_version if before else 0)
        after = tx.maybe(_CHANGES, shard=shard, since=since, limit=CHANGES_MAX)
        if found is None or (after is not None and not _complete(after, since)):
            return None
        if after is not None and may_touch(touches, found, after.changes):
            return None
        return found, before

    for _ in range(READS_MAX):
        settled = graph.read(flow, attempt)
        if settled is not None:
            return settled
        applied = graph.write(f"{flow}_barrier", lambda tx: hold_shard(tx, shard))
    held = graph.write(f"{flow}_held", lambda tx: read(tx, hold_shard(tx, shard)))
    if held is None:
        raise AmosError("internal", "a record that was found could not be read under the shard's lock")
    return held, None


def may_touch(touches: Callable[[ReadT, list[Change]], bool], found: ReadT, changes: list[Change]) -> bool:
    """True unless all writes since were compared with what was read, and none can have changed it."""
    return len(changes) >= CHANGES_MAX or touches(found, changes)


def _complete(after: Head, since: int) -> bool:
    """True if every event since has shown what it wrote."""
    shown = {change["graph_version"] for change in after.changes}
    return len(after.changes) >= CHANGES_MAX or shown.issuperset(range(since + 1, after.graph_version + 1))
