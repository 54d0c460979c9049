"""Start, stop and look after the managed local Neo4j."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from amos_graph.errors import AmosError
from amos_graph.graph.local.artifacts import read_lock
from amos_graph.graph.local.config import MAIN_CLASS
from amos_graph.graph.local.home import HomeFolder, folder_bytes
from amos_graph.graph.local.installation import (
    Installation,
    ensure_installed,
    installation_folder,
    remove_installations,
    require_space,
)
from amos_graph.graph.local.java import find_java
from amos_graph.graph.local.launch import DatabaseOfflineError, find_process, launch, wait_ready
from amos_graph.graph.local.locks import file_lock
from amos_graph.graph.local.options import LOOPBACK, USER, LocalOptions, default_cache, default_home
from amos_graph.graph.local.process import alive, find_by_arguments, terminate
from amos_graph.graph.local.progress import Progress, Step, silent
from amos_graph.graph.local.readiness import ask, bolt_uri

#: A start may have to fetch first; whoever waits for another's start waits this much longer.
_FETCH_WAIT_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers, and how to reach it."""

    uri: str
    http_url: str
    browser_url: str
    user: str
    password: str = field(repr=False)
    pid: int
    #: What the caller should be told, such as that another port was chosen.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """Whether the server runs and answers, and where it does or did."""

    #: `silent`: its process lives and does not answer (yet).
    state: Literal["absent", "stopped", "silent", "running"]
    home: str
    version: str
    pid: int
    uri: str
    browser_url: str


class LocalNeo4j:
    """The managed Neo4j of one home folder; several homes live side by side."""

    def __init__(
        self, home: Path | None = None, cache: Path | None = None, options: LocalOptions | None = None
    ) -> None:
        self.home = (home or default_home()).absolute()
        self.cache = (cache or default_cache()).absolute()
        self.options = options or LocalOptions()
        self.folder = HomeFolder(self.home / "neo4j")

    def start(self, progress: Progress | None = None) -> Running:
        """Return the running server; fetched and started first when there is none.

        Raises `unavailable` or `capacity_limited` with one sentence on what to do.
        """
        tell = progress or silent
        try:
            self.folder.prepare()
            with self._locked(_FETCH_WAIT_S, tell):
                return self._start(tell)
        except OSError as error:
            where = error.filename or self.folder.root
            raise AmosError(
                "unavailable", f"Neo4j cannot be started, {where}: {error.strerror or error}"
            ) from error

    def _start(self, tell: Progress) -> Running:
        found = find_process(self.folder)
        if found:
            tell(Step("start", "Neo4j is running already"))
            try:
                wait_ready(self.folder, found, self.options)
            except DatabaseOfflineError as error:
                tell(Step("start", f"{error.message}; restarting it"))
                self._stop()
            except AmosError:
                # A process that was killed takes a moment to go; one that went is no reason to give up.
                if alive(found):
                    raise
            else:
                return self._running(found.pid, ())
        # A lost password is told before anything is fetched for its sake.
        self.folder.password()
        require_space(self.folder.root, self.options.start_free_mb, "to start Neo4j")
        java = find_java()
        tell(Step("java", f"using Java {java.version} at {java.executable}"))
        installation = ensure_installed(self.cache, tell, free_mb_min=self.options.fetch_free_mb)
        process, notes = launch(self.folder, self.options, java, installation, tell)
        return self._running(process.pid, notes)

    def stop(self) -> Literal["stopped", "killed", "not running"]:
        """Stop the server cleanly and wait for it; `killed` after a long wait."""
        if not self.folder.exists:
            return "not running"
        with self._locked(60.0, silent):
            return self._stop()

    def _stop(self) -> Literal["stopped", "killed", "not running"]:
        found = find_process(self.folder)
        clean = terminate(found, self.options.stop_timeout_s) if found else True
        self.folder.forget_process()
        if not found:
            return "not running"
        return "stopped" if clean else "killed"

    def status(self) -> Status:
        """What can be told without waiting."""
        remembered = self.folder.state()
        found = find_process(self.folder)
        version = remembered.version
        if not found:
            state: Literal["absent", "stopped"] = "stopped" if self.folder.has_data else "absent"
            return Status(state, str(self.home), version, 0, "", "")
        answers = ask(remembered.bolt_port, self.folder.password()) == "answers"
        return Status(
            "running" if answers else "silent",
            str(self.home),
            version,
            found.pid,
            bolt_uri(remembered.bolt_port),
            _browser_url(remembered.http_port),
        )

    def running(self) -> Running | None:
        """The server if it runs and answers now; nothing is started or waited for."""
        status = self.status()
        return self._running(status.pid, ()) if status.state == "running" else None

    def logs(self, lines: int = 50) -> list[str]:
        """The last lines that the server wrote to its console."""
        return self.folder.log_tail(lines)

    def disk_use(self) -> dict[str, int]:
        """Bytes of installation, data, transaction logs and logs, and bytes still free."""
        where = self.folder.root if self.folder.root.is_dir() else Path.home()
        return {
            "installation": folder_bytes(installation_folder(self.cache, read_lock())),
            **self.folder.sizes(),
            "free": shutil.disk_usage(where).free,
        }

    def uninstall(self, *, confirm: bool, installation: bool = False) -> list[Path]:
        """Stop the server and delete its data; with `installation` also the files that all homes share.

        Raises `review_required` unless confirmed, `unavailable` while another home's server runs on
        those files. Returns the deleted folders.
        """
        if not confirm:
            raise AmosError(
                "review_required", f"this deletes all data in {self.folder.root}: confirm it with --yes"
            )
        removed: list[Path] = []
        if self.folder.exists:
            with self._locked(60.0, silent):
                self._stop()
                self.folder.remove()
            removed.append(self.folder.root)
        if installation and self.cache.is_dir():
            shared = Installation(installation_folder(self.cache, read_lock()), "")
            other = find_by_arguments(MAIN_CLASS, shared.class_path)
            if other:
                raise AmosError(
                    "unavailable",
                    f"the files in {shared.folder} are kept, because the server of another home (process "
                    f"{other.pid}) runs on them: stop it and run the same again",
                )
            removed += remove_installations(self.cache)
        return removed

    def _running(self, pid: int, notes: Sequence[str]) -> Running:
        state = self.folder.state()
        return Running(
            uri=bolt_uri(state.bolt_port),
            http_url=_http_url(state.http_port),
            browser_url=_browser_url(state.http_port),
            user=USER,
            password=self.folder.password(),
            pid=pid,
            notes=tuple(notes),
        )

    @contextmanager
    def _locked(self, beyond_s: float, tell: Progress) -> Generator[None]:
        """One command at a time for this home; a start is waited for as long as it may take."""

        def waiting() -> None:
            tell(Step("wait", "another command works on this Neo4j; waiting for it"))

        with file_lock(self.folder.lock_file, self.options.start_timeout_s + beyond_s, waiting):
            yield


def _http_url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}/"


def _browser_url(port: int) -> str:
    return f"{_http_url(port)}browser/"
