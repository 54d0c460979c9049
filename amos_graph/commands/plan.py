"""What a command is, what it decides, and what it answers: the data between validation and Neo4j."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amos_graph.commands.state import Mentions
from amos_graph.commands.view import View
from amos_graph.domain.canonical import digest
from amos_graph.domain.events import Draft, Stamp
from amos_graph.domain.scope import Identity, Scope
from amos_graph.domain.times import now
from amos_graph.errors import AmosError, Fault
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.policy.changing import Caller
from amos_graph.settings import Settings


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
            outside = "lies outside this request's tenant and workspace"
            raise AmosError("scope_denied", f"{at}: {outside}", [Fault(at, outside)])
        self.identity.within(scope.record(), at)

    def expecting(self, ref: str, version: int | None) -> tuple[dict[str, int], dict[str, str]]:
        """The expected versions of the envelope and of the payload, and where those of the payload stand."""
        if version is None:
            return dict(self.expected_versions), {}
        return {**self.expected_versions, ref: version}, {ref: "expected_version"}

    def caller(self, capability: str, *, approved: bool = False) -> Caller:
        """Who changes records by this capability, as decisions know it."""
        trust_min = self.settings.high_risk_trust_min
        return Caller(self.identity, self.scope, capability, trust_min, approved)


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done, apart from how it is decided."""

    operation: str
    capability: str
    #: The whole request as JSON; what "the same payload" means for an idempotency key.
    payload: Any
    #: Ids that the caller itself named; part of the key's scope.
    target_refs: tuple[str, ...] = ()
    #: What makes two requests one, whatever their keys: the second one changes nothing.
    sameness: str | None = None
    #: What it will look at, so that a group reads it at once; what is missing here is read when asked for.
    mentions: Mentions = field(default_factory=Mentions)


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
    #: Outcomes of packets: rows of cypher/telemetry/record_outcomes.
    outcomes: tuple[Mapping[str, Any], ...] = ()
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


Decide = Callable[[View, Moment], Plan]


@dataclass(frozen=True, slots=True)
class Attempt:
    """Everything that is made before the transaction, so that running it twice writes the same."""

    context: Context
    command: Command
    decide: Decide
    stamp: Stamp
    #: Digest of the idempotency key and its scope.
    scope_key: str
    #: Digest of what makes it the same as another command without regard to keys, if anything does.
    same_key: str | None = None


def attempt(context: Context, command: Command, decide: Decide) -> Attempt:
    """A command with its ids, its time and its salts."""
    same_key = _same_key(context, command)
    scope_key = _scope_key(context, command)
    if same_key is not None and context.idempotency_key is None:
        scope_key = same_key
    return Attempt(context, command, decide, _stamp(context, command), scope_key, same_key)


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


def _same_key(context: Context, command: Command) -> str | None:
    if command.sameness is None:
        return None
    scope = context.scope
    return digest(["same", scope.tenant_id, scope.workspace_id, command.operation, command.sameness])
