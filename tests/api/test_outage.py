"""Neo4j goes and comes while the service stays (T28)."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest

from amos_graph.api.app import create_app
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph, connect
from amos_graph.settings import Settings
from tests.api.conftest import assert_refused, client_of, serving
from tests.server import Server


class Forwarder:
    """A door before Neo4j on a port of its own, which can be shut and opened."""

    def __init__(self, port: int) -> None:
        self._target = port
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._listener: socket.socket | None = None
        self._open: list[socket.socket] = []

    def open(self) -> None:
        """Let connections through."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def shut(self) -> None:
        """Refuse new connections and cut those that are there."""
        if self._listener is not None:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self._open.clear()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=_copy, args=(source, sink), daemon=True).start()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)


@pytest.fixture
def door(server: Server) -> Iterator[Forwarder]:
    """A shut door before the session's Neo4j."""
    forwarder = Forwarder(int(server.uri.rpartition(":")[2]))
    yield forwarder
    forwarder.shut()


@contextmanager
def _service(door: Forwarder, server: Server, settings: Settings) -> Generator[str]:
    driver = connect(f"bolt://127.0.0.1:{door.port}", server.user, server.password, retry_s=1.0)
    graph = Graph(driver)
    try:
        with serving(create_app(graph, settings, Archive(settings.archive_folder))) as url:
            yield url
    finally:
        graph.close()


@pytest.mark.reliability("T28")
@pytest.mark.case("C60")
def test_live_is_not_ready_and_the_service_recovers_by_itself(
    door: Forwarder, server: Server, settings: Settings, token: str
) -> None:
    """Started without Neo4j it lives; it serves once Neo4j comes, and again after an outage."""
    with _service(door, server, settings) as url, client_of(url, token) as http:
        for _ in range(2):
            assert http.get("/live").status_code == 200
            _assert_away(http.get("/ready"))
            _assert_away(http.get("/v1/atoms"))
            _assert_away(http.post("/v1/atoms:get", json={"payload": {"atom_id": "belief:a"}}))

            door.open()
            _await_ready(http)
            assert http.get("/v1/atoms").status_code == 200

            door.shut()
            # The last good answer of /ready holds for a second.
            time.sleep(1.1)


@pytest.mark.reliability("T28")
def test_an_outage_is_one_warning_for_each_call(
    door: Forwarder, server: Server, settings: Settings, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The log names request, code and kind of failure on one line, without a traceback."""
    with _service(door, server, settings) as url, client_of(url, token) as http:
        caplog.clear()
        for number in range(3):
            _assert_away(http.get("/v1/atoms", headers={"X-Request-Id": f"away-{number}"}))

    logged = [record for record in caplog.records if record.name.startswith("amos_graph")]
    assert [record.levelname for record in logged] == ["WARNING"] * 3
    for number, record in enumerate(logged):
        assert record.exc_info is None
        assert record.getMessage().startswith(f"request away-{number}: unavailable: ")
        assert "\n" not in record.getMessage()


@pytest.mark.reliability("T28")
def test_ready_says_so_when_the_login_is_refused(server: Server, settings: Settings) -> None:
    """A wrong password is not ready, without a hint of what is behind it."""
    # Another user than the tests' own, whom Neo4j would lock out for a while.
    graph = Graph(connect(server.uri, "nobody", "wrong-password", retry_s=1.0))
    with (
        serving(create_app(graph, settings, Archive(settings.archive_folder))) as url,
        client_of(url) as http,
    ):
        assert http.get("/live").status_code == 200
        answer = http.get("/ready")
    graph.close()

    assert_refused(answer, 503, "unavailable")
    assert "nobody" not in answer.text


@pytest.mark.case("C60")
def test_a_write_is_durable_before_it_is_acknowledged(http: httpx.Client) -> None:
    """There is no queue behind the answer: what was accepted is there for the next reader."""
    event = {"source_type": "note", "source_ref": "note"}
    accepted = http.post("/v1/events:capture", json={"payload": {"events": [event]}}).json()

    report = http.get("/v1/verify").json()["payload"]
    assert report["graph_version"] == accepted["graph_version"]
    assert accepted["payload"]["projection_status"] == "projected"


def _assert_away(answer: httpx.Response) -> None:
    assert_refused(answer, 503, "unavailable")
    assert answer.json()["retryable"] is True
    assert int(answer.headers["retry-after"]) > 0


def _await_ready(http: httpx.Client) -> None:
    deadline = time.monotonic() + 30
    while http.get("/ready").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
