"""Clients as they stand: whose token this is, and which clients a shard has (spec, ClientIdentity)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from amos_graph.domain.client import TOKEN_PREFIX, token_hash
from amos_graph.domain.scope import Identity, Scope
from amos_graph.errors import NoTokenError
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph

#: A real token has 48 characters; nothing longer than this is hashed.
TOKEN_LENGTH_MAX: Final = 200
DENIED: Final = "a valid bearer token is needed"


@dataclass(frozen=True, slots=True)
class FoundClient:
    client_id: str
    service_id: str
    process_type: str
    scope: str
    capabilities: list[str]
    trust_level: int


@dataclass(frozen=True, slots=True)
class ListedClient:
    """A client as `amos token list` shows it; its scope is JSON text."""

    client_id: str
    service_id: str
    scope: str
    capabilities: list[str]
    created_at: str
    expires_at: str | None
    revoked_at: str | None


_FIND = procedure("govern/find_client", FoundClient)
_LIST = procedure("govern/list_clients", ListedClient)


def identify(graph: Graph, token: str) -> Identity:
    """Who a bearer token stands for, looked up anew each time.

    Raises `authorization_denied` with one and the same message for a token that is unknown, revoked,
    expired or no token at all.
    """
    if not token.startswith(TOKEN_PREFIX) or len(token) > TOKEN_LENGTH_MAX or not token.isascii():
        raise NoTokenError(DENIED)
    hashed, now = token_hash(token), datetime.now(UTC)
    found = graph.read("identify", lambda tx: tx.maybe(_FIND, token_hash=hashed, now=now))
    if found is None:
        raise NoTokenError(DENIED)
    return Identity(
        client_id=found.client_id,
        service_id=found.service_id,
        process_type=found.process_type,
        scope=Scope.model_validate(json.loads(found.scope)),
        capabilities=frozenset(found.capabilities),
        trust_level=found.trust_level,
    )


def list_clients(graph: Graph, shard: str, limit: int = 1_000) -> list[ListedClient]:
    """The clients of a shard, newest first."""
    return graph.read("list_clients", lambda tx: tx.many(_LIST, shard=shard, limit=limit))
