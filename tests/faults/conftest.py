"""A proxy before the session's Neo4j, and contexts whose Graph goes through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from amos_graph.commands.execution import Context
from amos_graph.graph.transactions import Graph, connect
from tests.conftest import ContextOf
from tests.faults.proxy import Proxy, proxied
from tests.server import Server


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    """A proxy of this test alone."""
    address = urlsplit(server.uri)
    with proxied(address.hostname or "127.0.0.1", address.port or 7687) as found:
        yield found


@pytest.fixture
def shaky(proxy: Proxy, server: Server, graph: Graph) -> Iterator[Graph]:
    """A Graph that reaches Neo4j through the proxy."""
    # A given server may demand TLS, which nobody can look into; the managed one is plain on loopback.
    assert urlsplit(server.uri).scheme in ("bolt", "neo4j"), "these tests need an unencrypted server"
    found = Graph(connect(proxy.uri, server.user, server.password, retry_s=10.0), observer=graph.observer)
    yield found
    found.close()


@pytest.fixture
def shaky_context(shaky: Graph, context_of: ContextOf) -> Callable[..., Context]:
    """Contexts as `context_of` makes them, through the proxy."""

    def make(**envelope: Any) -> Context:
        return replace(context_of(**envelope), graph=shaky)

    return make
