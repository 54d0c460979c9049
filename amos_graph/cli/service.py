"""The service as a process of its own: started, found again, stopped."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import httpx

from amos_graph.api.store import STOP_S
from amos_graph.errors import AmosError
from amos_graph.graph.local.config import write_private
from amos_graph.graph.local.locks import file_lock
from amos_graph.graph.local.ports import choose_port, is_open
from amos_graph.graph.local.process import ProcessId, alive, identify, spawn_detached, terminate
from amos_graph.settings import Settings

START_S: Final = 60.0
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Service:
    """A service that was started from this home."""

    pid: int
    #: Tells it apart from a later process with the same number.
    started: str
    host: str
    port: int

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104 - compared, not bound
        return f"http://{host}:{self.port}"


class ServiceHome:
    """`AMOS_HOME/service`: state, log and lock of the service."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = settings.home.expanduser().absolute() / "service"

    @property
    def log(self) -> Path:
        return self.folder / "service.log"

    @property
    def _state(self) -> Path:
        return self.folder / "state.json"

    @property
    def _ports(self) -> Path:
        """Kept when the service stops."""
        return self.folder / "port.json"

    @contextmanager
    def locked(self) -> Generator[None]:
        """One `up` or `down` at a time. Raises `unavailable` when the folder cannot be made."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise AmosError("unavailable", f"{self.folder} cannot be made: {error.strerror}") from error
        with file_lock(self.folder / "lock", START_S * 5):
            yield

    def running(self) -> Service | None:
        """The recorded service if that very process still runs."""
        try:
            found = Service(**json.loads(self._state.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return found if alive(ProcessId(found.pid, found.started)) else None

    def free_port(self) -> int:
        """The port of the last time, else the wanted one; a free one when they are taken on loopback."""
        settings = self.settings
        if settings.api_host not in _LOOPBACK:
            return settings.api_port
        candidates = [self._last_port(), settings.api_port]
        return choose_port(port for port in candidates if port and not is_open(port))

    def _last_port(self) -> int:
        """Where the service was when the same port was wanted, so that its address stays; 0 if nowhere."""
        try:
            found = json.loads(self._ports.read_text(encoding="utf-8"))
            return int(found["port"]) if found["wanted"] == self.settings.api_port else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    def record(self, process: ProcessId, port: int) -> Service:
        """Remember a service that was started."""
        service = Service(process.pid, process.started, self.settings.api_host, port)
        write_private(self._state, json.dumps(asdict(service)) + "\n")
        ports = {"wanted": self.settings.api_port, "port": port}
        write_private(self._ports, json.dumps(ports) + "\n")
        return service

    def record_self(self, port: int) -> Service:
        """Remember this very process as the service."""
        process = identify(os.getpid())
        if process is None:
            raise AmosError("internal", "this process cannot be told apart from others")
        return self.record(process, port)

    def start(self, port: int) -> Service:
        """Start the service in the background and wait until it is ready.

        Raises `unavailable` with the end of its log when it dies or is not ready in time.
        """
        settings = self.settings
        command = [
            sys.executable,
            "-m",
            "amos_graph.api.serve",
            "--host",
            settings.api_host,
            "--port",
            str(port),
        ]
        process = spawn_detached(command, log=self.log, cwd=self.folder, environment=_environment(settings))
        if process is None:
            raise AmosError("unavailable", f"the service died at once; its log is {self.log}")
        service = self.record(process, port)
        deadline = time.monotonic() + START_S
        while not is_ready(service.url):
            if not alive(process):
                raise AmosError("unavailable", f"the service died: {self._last_words()}")
            if time.monotonic() > deadline:
                terminate(process, STOP_S)
                raise AmosError(
                    "unavailable", f"the service was not ready in {START_S:.0f} s: {self._last_words()}"
                )
            time.sleep(0.1)
        return service

    def stop(self) -> str:
        """Stop the recorded service: `stopped`, `killed` or `not running`."""
        found = self.running()
        if found is None:
            return "not running"
        clean = terminate(ProcessId(found.pid, found.started), STOP_S + 5)
        self._state.unlink(missing_ok=True)
        return "stopped" if clean else "killed"

    def _last_words(self) -> str:
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            lines = []
        return " / ".join(lines[-3:]) or f"its log {self.log} is empty"


def is_ready(url: str) -> bool:
    """Whether a service at this URL can serve now."""
    try:
        return httpx.get(f"{url}/ready", timeout=10.0, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def _environment(settings: Settings) -> dict[str, str]:
    """Our own environment, with the home spelled out and the package findable from another folder."""
    package = str(Path(__file__).resolve().parent.parent.parent)
    paths = [package, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **os.environ,
        "AMOS_HOME": str(settings.home.expanduser().absolute()),
        "PYTHONPATH": os.pathsep.join(paths),
    }
