"""Clients as they stand: listed without their hashes, told by their tokens until revoked."""

from __future__ import annotations

import pytest

from amos_graph.commands.clients import register_client, revoke_client
from amos_graph.commands.execution import Context
from amos_graph.errors import AmosError
from amos_graph.queries.clients import identify, list_clients


def test_clients_are_listed_and_told_by_their_tokens(context: Context) -> None:
    """A registered client is listed and identified; a revoked one is listed as such and told no more."""
    asked = {"id": "cli_bot", "service_id": "svc:bot", "capabilities": ["memory.read"]}
    made = register_client(context, asked)

    assert identify(context.graph, made.token).service_id == "svc:bot"
    revoke_client(context, "cli_bot")
    (listed,) = list_clients(context.graph, context.scope.shard)

    assert (listed.client_id, listed.revoked_at is not None) == ("cli_bot", True)
    with pytest.raises(AmosError, match="token"):
        identify(context.graph, made.token)
