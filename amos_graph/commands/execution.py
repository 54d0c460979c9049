"""The one way to write: one command, one transaction (design §4).

lock the shard → look the key up → read → decide → append events → project → store the receipt
"""

from __future__ import annotations

import json
import secrets
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from amos_graph.commands import projecting
from amos_graph.domain.canonical import canonical_text, digest
from amos_graph.domain.events import GENESIS, Draft, Stamp, event_node, seal
from amos_graph.domain.scope import Identity, Scope
from amos_graph.domain.times import now, parse_time
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import RETRY_LATER, Graph, InDoubtError, Tx
from amos_graph.policy.conflict import check_parents
from amos_graph.settings import Settings

#: How long a command whose commit was cut is settled before the caller is told to try again.
SETTLE_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Locked:
    graph_version: int
    head_hash: str
    accepted_at: str | None
    payload_digest: str | None
    result: str | None


@dataclass(frozen=True, slots=True)
class Appended:
    graph_version: int


@dataclass(frozen=True, slots=True)
class FoundEvent:
    event_id: str


_LOCK = procedure("journal/lock_shard", Locked)
_APPEND = procedure("journal/append_events", Appended)
_RECEIPT = procedure("journal/store_receipt")
_EVENTS = procedure("journal/find_events", FoundEvent)


@dataclass(frozen=True, slots=True)
class Context:
    """Who asks, within which scope, with which envelope, of which store."""

    graph: Graph
    settings: Settings
    archive: Archive
    identity: Identity
    #: The token's scope, narrowed by the request's.
    scope: Scope
    idempotency_key: str | None = None
    expected_versions: Mapping[str, int] = field(default_factory=dict[str, int])
    causal_parent_ids: tuple[str, ...] = ()
    occurred_at: str | None = None

    def writable(self, scope: Scope, at: str) -> None:
        """Raise `scope_denied` when a record would leave the request's shard or the token's scope."""
        if scope.shard != self.scope.shard:
            raise AmosError("scope_denied", f"{at}: lies outside this request's tenant and workspace")
        self.identity.within(scope.record())


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done, apart from how it is decided."""

    operation: str
    capability: str
    #: The whole request as JSON; what "the same payload" means for an idempotency key.
    payload: Any
    #: Ids that the caller itself named; part of the key's scope.
    target_refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a command will do: pure data, decided before anything is written."""

    drafts: tuple[Draft, ...] = ()
    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    reused: tuple[str, ...] = ()
    refused: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    #: Interaction streams that move: rows of cypher/project/stream.
    streams: tuple[Mapping[str, Any], ...] = ()
    #: Atoms whose supersession changes, with the state key that they have otherwise.
    standing: tuple[tuple[str, str], ...] = ()
    #: What the command returns beside the receipt's own fields.
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Receipt:
    """The accepted result, equal to what a read finds; replayed word for word for the same key."""

    record: dict[str, Any]
    replayed: bool

    @property
    def graph_version(self) -> int:
        return self.record["graph_version"]


@dataclass(frozen=True, slots=True)
class Moment:
    """What a decision may know of its place: the clock and the writer."""

    now: str
    writer: str


Decide = Callable[[Tx, Moment], Plan]


def execute(context: Context, command: Command, decide: Decide) -> Receipt:
    """Run a command once, whatever happens to the connection.

    Raises `authorization_denied`, `idempotency_conflict`, what `decide` raises, and `unavailable`
    when the outcome could not be settled in time.
    """
    context.identity.demand(command.capability)
    attempt = _Attempt(context, command, decide, _stamp(context, command), _scope_key(context, command))
    deadline = time.monotonic() + SETTLE_S
    in_doubt = False
    while True:
        try:
            return context.graph.write(command.operation, lambda tx: _run(tx, attempt))
        except InDoubtError:
            in_doubt = True
        except AmosError as error:
            if error.code != "unavailable" or not in_doubt:
                raise
        # The commit may have happened. The lock queues the next try behind one that is still in
        # flight, and then the receipt tells; a plain read could say "absent" too early.
        if time.monotonic() > deadline:
            raise AmosError("unavailable", RETRY_LATER)
        time.sleep(0.2)


def _stamp(context: Context, command: Command) -> Stamp:
    instant = now()
    identity, scope = context.identity, context.scope
    return Stamp(
        actor=identity.service_id,
        accepted_at=instant,
        occurred_at=context.occurred_at or instant,
        seed=secrets.token_bytes(32),
        command_id=uuid.uuid4(),
        idempotency_key=context.idempotency_key,
        payload_digest="sha256:" + digest(_meant(context, command)),
        causal_parent_ids=context.causal_parent_ids,
        expected_versions=context.expected_versions,
        authorization_context={
            "tenant_id": scope.tenant_id,
            "workspace_id": scope.workspace_id,
            "client_id": identity.client_id,
            "capability": command.capability,
            "decision": "allow",
        },
    )


def _meant(context: Context, command: Command) -> dict[str, Any]:
    """Everything that "the same request" means: a scope or a version that differs is another request."""
    return {
        "payload": command.payload,
        "scope": context.scope.record(),
        "expected_versions": dict(context.expected_versions),
        "causal_parent_ids": list(context.causal_parent_ids),
    }


def _scope_key(context: Context, command: Command) -> str:
    """The spec's tuple and the key; a command without a key gets one that nobody else knows."""
    return digest(
        [
            context.scope.tenant_id,
            context.scope.workspace_id,
            context.identity.service_id,
            command.operation,
            sorted(command.target_refs),
            context.idempotency_key or f"once:{uuid.uuid4().hex}",
        ]
    )


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Everything that is made before the transaction, so that running it twice writes the same."""

    context: Context
    command: Command
    decide: Decide
    stamp: Stamp
    scope_key: str


def _run(tx: Tx, attempt: _Attempt) -> Receipt:
    context, stamp, scope_key = attempt.context, attempt.stamp, attempt.scope_key
    shard = context.scope.shard
    locked = tx.one(_LOCK, shard=shard, scope_key=scope_key, lock_token=secrets.token_hex(8), genesis=GENESIS)
    if locked.result is not None:
        # Looked up before any version is compared: a repeat is never a version conflict (T02).
        if locked.payload_digest != stamp.payload_digest:
            raise AmosError("idempotency_conflict", "this idempotency key was used with another payload")
        return Receipt(json.loads(locked.result), replayed=True)
    if context.causal_parent_ids:
        found = tx.many(_EVENTS, shard=shard, event_ids=list(context.causal_parent_ids))
        check_parents(context.causal_parent_ids, {row.event_id for row in found})
    # Wall clocks step back; what the journal says about time does not (T27).
    instant = max(stamp.accepted_at, locked.accepted_at or "")
    plan = attempt.decide(tx, Moment(instant, context.identity.service_id))
    record = _append(tx, shard, locked, plan, replace(stamp, accepted_at=instant))
    tx.none(
        _RECEIPT,
        shard=shard,
        scope_key=scope_key,
        payload_digest=stamp.payload_digest,
        result=canonical_text(record),
        graph_version=record["graph_version"],
        operation=attempt.command.operation,
        recorded_at=parse_time(instant),
    )
    # Through JSON, so that the first answer and a replayed one are the same bytes.
    return Receipt(json.loads(canonical_text(record)), replayed=False)


def _append(tx: Tx, shard: str, locked: Locked, plan: Plan, stamp: Stamp) -> dict[str, Any]:
    sealed = seal(shard, plan.drafts, stamp, locked.graph_version, locked.head_hash)
    version = locked.graph_version
    if sealed:
        newest = sealed[-1].event
        appended = tx.one(
            _APPEND,
            shard=shard,
            after=locked.graph_version,
            events=[{"properties": event_node(s.event), "versions": _native(s.versions)} for s in sealed],
            journal={
                "graph_version": newest["graph_version"],
                "head_hash": newest["checksum"],
                "accepted_at": stamp.accepted_at,
            },
            body_bytes=sum(len(row["body"].encode()) for s in sealed for row in s.versions),
        )
        version = appended.graph_version
        projecting.project_all(tx, shard, sealed)
    projecting.refresh(tx, shard, plan.standing, plan.streams)
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


def _native(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "recorded_at": parse_time(row["recorded_at"])} for row in rows]
