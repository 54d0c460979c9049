"""One transaction for a group of commands: equal, receipt by receipt, to running them one by one.

lock the shard → look the keys up → read what all mention → decide each in turn → append → project →
store the receipts. Source: design §4, "Group commit".
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from amos_graph.commands import projecting
from amos_graph.commands.plan import Attempt, Moment, Plan, Receipt
from amos_graph.commands.state import prefetch, together
from amos_graph.commands.view import View, by_kind
from amos_graph.domain.canonical import canonical_text
from amos_graph.domain.events import GENESIS, Sealed, event_row, seal
from amos_graph.domain.projection import Node
from amos_graph.errors import AmosError, Fault
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.conflict import check_parents

Outcome = Receipt | Exception


@dataclass(frozen=True, slots=True)
class Locked:
    graph_version: int
    head_hash: str
    accepted_at: str | None
    receipts: list[dict[str, Any]]
    records: list[dict[str, Any]]
    same_content: list[dict[str, Any]]
    streams: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Appended:
    graph_version: int


_LOCK = procedure("journal/lock_shard", Locked)
_APPEND = procedure("journal/append_events", Appended)
_RECEIPTS = procedure("journal/store_receipts")


class NothingAcceptedError(Exception):
    """No command of the group changes anything: its transaction is rolled back, lock and all."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        super().__init__()
        self.outcomes = outcomes


def run_group(tx: Tx, shard: str, attempts: Sequence[Attempt]) -> list[Outcome]:
    """Decide and write a group; the outcome of each command, in order.

    A command that is refused leaves no trace and stands in nobody's way. Raises NothingAcceptedError
    when none is accepted, and whatever Neo4j raises: then the group as a whole did not happen.
    """
    return _Group(tx, shard, attempts).run(attempts)


@dataclass(frozen=True, slots=True)
class _Bound:
    """What an idempotency key is bound to."""

    payload_digest: str
    result: str


class _Group:
    def __init__(self, tx: Tx, shard: str, attempts: Sequence[Attempt]) -> None:
        mentioned = together(attempt.command.mentions for attempt in attempts)
        locked = tx.one(
            _LOCK,
            shard=shard,
            scope_keys=[key for attempt in attempts for key in _keys(attempt)],
            lock_token=secrets.token_hex(8),
            genesis=GENESIS,
            refs=by_kind(mentioned.refs),
            digests=list(mentioned.digests),
            states=list(mentioned.digest_states),
            stream_ids=list(mentioned.streams),
        )
        self.tx = tx
        self.shard = shard
        self.view = View(tx, shard, self.enter)
        self.view.know(
            refs=mentioned.refs,
            records=locked.records,
            digests=mentioned.digests,
            states=mentioned.digest_states,
            same_content=locked.same_content,
            stream_ids=mentioned.streams,
            streams=locked.streams,
        )
        self.mentioned = mentioned
        #: The head as the commands decided so far leave it, and as it stands in Neo4j.
        self.version = self.entered = locked.graph_version
        self.head_hash: str = locked.head_hash
        self.accepted_at: str = locked.accepted_at or ""
        self.bound = {
            row["scope_key"]: _Bound(row["payload_digest"], row["result"]) for row in locked.receipts
        }
        self.receipts: list[dict[str, Any]] = []
        self.sealed: list[Sealed] = []
        self.nodes: list[Node] = []
        self.standing: list[tuple[str, str]] = []
        self.streams: list[Mapping[str, Any]] = []
        self.outcomes: list[Mapping[str, Any]] = []
        #: True once nothing more is decided, so that what is entered takes the receipts along.
        self.last = False

    def run(self, attempts: Sequence[Attempt]) -> list[Outcome]:
        if len(attempts) > 1:
            edges_max = min(attempt.context.settings.detached_edges_max for attempt in attempts)
            prefetch(self.view, self.mentioned, edges_max)
        outcomes = [self._outcome(attempt) for attempt in attempts]
        if not self.receipts:
            raise NothingAcceptedError(outcomes)
        self.last = True
        self.enter()
        return outcomes

    def _outcome(self, attempt: Attempt) -> Outcome:
        try:
            return self._accept(attempt)
        except Exception as error:
            if self.view.broken:
                raise
            return error

    def _accept(self, attempt: Attempt) -> Receipt:
        stamp, bound = attempt.stamp, self.bound.get(attempt.scope_key)
        same = self.bound.get(attempt.same_key) if attempt.same_key else None
        if bound is not None:
            # Looked up before any version is compared: a repeat is never a version conflict (T02).
            if bound is not same and bound.payload_digest != stamp.payload_digest:
                message = "this idempotency key was used with another payload"
                raise AmosError("idempotency_conflict", message, [Fault("idempotency_key", message)])
            return Receipt(json.loads(bound.result), replayed=True)
        if stamp.causal_parent_ids:
            check_parents(stamp.causal_parent_ids, self.view.events(stamp.causal_parent_ids))
        # Wall clocks step back; what the journal says about time does not (T27).
        instant = max(stamp.accepted_at, self.accepted_at)
        moment = Moment(instant, attempt.context.identity.service_id)
        plan = _known_already(same) if same else attempt.decide(self.view, moment)
        stamp = replace(stamp, accepted_at=instant)
        sealed = seal(self.shard, plan.drafts, stamp, self.version, self.head_hash)
        nodes = projecting.nodes_of(self.shard, sealed)
        version = self.version + len(sealed)
        result = canonical_text(_record(plan, sealed, version))
        # Nothing below can fail, so a command is taken whole or not at all.
        self.view.touch(sealed, nodes, plan.standing, plan.streams)
        self.sealed += sealed
        self.nodes += nodes
        self.standing += plan.standing
        self.streams += plan.streams
        self.outcomes += plan.outcomes
        self.version = version
        if sealed:
            self.head_hash, self.accepted_at = sealed[-1].event["checksum"], instant
        for key in _keys(attempt):
            if key in self.bound:
                continue
            self.bound[key] = _Bound(stamp.payload_digest, result)
            self.receipts.append(
                {
                    "scope_key": key,
                    "payload_digest": stamp.payload_digest,
                    "result": result,
                    "graph_version": version,
                    "operation": attempt.command.operation,
                    "recorded_at": instant,
                    "title": f"{attempt.command.operation} {version}",
                }
            )
        # Through JSON, so that the first answer and a replayed one are the same bytes.
        return Receipt(json.loads(result), replayed=False)

    def enter(self) -> None:
        """Write what is pending: events and bodies, then the graph that they stand for."""
        receipts = self.receipts if self.last else ()
        if self.sealed:
            append(self.tx, self.shard, self.entered, self.sealed, self.nodes, receipts=receipts)
            projecting.project_nodes(self.tx, self.shard, self.nodes)
            self.entered = self.version
        elif receipts:
            self.tx.send(_RECEIPTS, shard=self.shard, rows=list(receipts))
        projecting.refresh(self.tx, self.shard, self.standing, self.streams, self.outcomes)
        self.sealed, self.nodes, self.standing, self.streams, self.outcomes = [], [], [], [], []


def append(
    tx: Tx,
    shard: str,
    after: int,
    sealed: Sequence[Sealed],
    nodes: Sequence[Node],
    *,
    receipts: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Append sealed events to a chain whose head is at `after`; the caller holds the shard's lock.

    `nodes` are what the events' records stand for, whose access classes are entered with them.
    """
    newest = sealed[-1].event
    tx.send(
        _APPEND,
        shard=shard,
        after=after,
        events=[{"properties": event_row(s.event, s.texts), "versions": s.versions} for s in sealed],
        journal={
            "graph_version": newest["graph_version"],
            "head_hash": newest["checksum"],
            "accepted_at": newest["accepted_at"],
        },
        body_bytes=sum(len(row["body"].encode()) for s in sealed for row in s.versions),
        classes=projecting.access_classes(nodes),
        receipts=[dict(row) for row in receipts],
    )


def _record(plan: Plan, sealed: Sequence[Sealed], version: int) -> dict[str, Any]:
    return {
        "graph_version": version,
        "event_ids": [s.event["event_id"] for s in sealed],
        "created": list(plan.created),
        "updated": list(plan.updated),
        "linked": list(plan.linked),
        "reused": list(plan.reused),
        "refused": [dict(entry) for entry in plan.refused],
        "warnings": list(plan.warnings),
        "projection_status": "projected",
        **plan.result,
    }


#: The fields that every receipt has.
_OF_ALL: Final = frozenset(_record(Plan(), (), 0))


def _known_already(bound: _Bound) -> Plan:
    """The plan of a command that was carried out under another key: nothing, and the first one's result."""
    record = json.loads(bound.result)
    return Plan(
        reused=(*record["created"], *record["reused"]),
        result={name: value for name, value in record.items() if name not in _OF_ALL},
    )


def _keys(attempt: Attempt) -> tuple[str, ...]:
    """The keys that an attempt's result is bound to, each once."""
    keys = (attempt.scope_key, attempt.same_key)
    return tuple(dict.fromkeys(key for key in keys if key is not None))
