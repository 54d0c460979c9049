"""The service, in a thread, over the session's Neo4j, with tokens of the test's own tenant."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from amos_graph import Amos
from amos_graph.api.app import create_app
from amos_graph.commands.clients import register_client
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.settings import Settings

TokenFor = Callable[..., str]


@pytest.fixture
def app(graph: Graph, settings: Settings) -> FastAPI:
    """The app of this test's settings."""
    return create_app(graph, settings, Archive(settings.archive_folder))


@pytest.fixture
def token_for(context: Context) -> TokenFor:
    """Register a client; keywords change its record."""

    def make(client_id: str = "cli_writer", **changes: Any) -> str:
        record = {
            "id": client_id,
            "service_id": f"svc:{client_id.removeprefix('cli_')}",
            "capabilities": list(CAPABILITIES),
            **changes,
        }
        return register_client(context, record).token

    return make


@pytest.fixture
def token(token_for: TokenFor) -> str:
    """A token with every capability."""
    return token_for()


@contextmanager
def serving(app: FastAPI) -> Generator[str]:
    """Serve an app on a free port of loopback, in a thread, as uvicorn does in production."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def url(app: FastAPI) -> Iterator[str]:
    """Where the app of this test is served."""
    with serving(app) as served:
        yield served


@pytest.fixture
def http(url: str, token: str) -> Iterator[httpx.Client]:
    """An HTTP client that sends the token."""
    with client_of(url, token) as client:
        yield client


@pytest.fixture
def anonymous(url: str) -> Iterator[httpx.Client]:
    """An HTTP client without a token."""
    with client_of(url) as client:
        yield client


def client_of(url: str, token: str | None = None) -> httpx.Client:
    """A plain HTTP client."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=url, headers=headers, timeout=60.0, trust_env=False)


@pytest.fixture
def amos(url: str, token: str) -> Iterator[Amos]:
    """The Python client, with a token of every capability."""
    with Amos(url, token) as client:
        yield client


def assert_refused(response: httpx.Response, status: int, code: str, path: str | None = None) -> None:
    """The one shape of every refusal."""
    body = response.json()
    assert (response.status_code, body["errors"][0]["code"]) == (status, code), body
    assert set(body) == {
        "request_id",
        "result_status",
        "graph_version",
        "event_ids",
        "warnings",
        "errors",
        "retryable",
        "payload",
    }
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"] == body["request_id"]
    for entry in body["errors"]:
        assert set(entry) == {"code", "message", "path", "details"}
    if path is not None:
        assert path in {entry["path"] for entry in body["errors"]}, body["errors"]
