"""From a prepared home to a process that answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import replace
from typing import Final

from amos_graph.errors import AmosError
from amos_graph.graph.local.config import (
    ADMIN_CLASS,
    MAIN_CLASS,
    home_arguments,
    java_command,
    render,
    settings,
    write_private,
)
from amos_graph.graph.local.home import HomeFolder, State
from amos_graph.graph.local.installation import Installation
from amos_graph.graph.local.java import Java
from amos_graph.graph.local.options import LocalOptions
from amos_graph.graph.local.ports import choose_port, is_open
from amos_graph.graph.local.process import (
    ProcessId,
    alive,
    find_by_arguments,
    spawn_detached,
    terminate,
)
from amos_graph.graph.local.progress import Progress, Step
from amos_graph.graph.local.readiness import ask, offline_reason

_PORT_TAKEN: Final = ("Address already in use", "BindException")
#: A port can be taken between the look at it and the server's own bind; then others are tried.
_ATTEMPTS: Final = 3


class DatabaseOfflineError(AmosError):
    """The server runs and could not open its database."""

    def __init__(self, folder: HomeFolder, options: LocalOptions, reason: str) -> None:
        free_mb = shutil.disk_usage(folder.root).free // 2**20
        # Less than one log file: a full disk, which the server's own words do not tell.
        if free_mb < options.log_file_mb:
            super().__init__(
                "capacity_limited",
                f"the disk of {folder.root} is full ({free_mb} MB free) and Neo4j could not open its "
                "database: free some space and run the same again",
            )
        else:
            log = folder.root / "logs" / "debug.log"
            super().__init__(
                "unavailable", f"Neo4j could not open its database ({reason}); the cause stands in {log}"
            )


def find_process(folder: HomeFolder) -> ProcessId | None:
    """The living server of this home, also one whose record was lost with its starter."""
    remembered = folder.state()
    if remembered.pid:
        recorded = ProcessId(remembered.pid, remembered.started)
        if alive(recorded):
            return recorded
    return find_by_arguments(MAIN_CLASS, *home_arguments(folder.root))


def launch(
    folder: HomeFolder, options: LocalOptions, java: Java, installation: Installation, tell: Progress
) -> tuple[ProcessId, tuple[str, ...]]:
    """Start a server and wait until it answers; returns it with what its user should be told.

    Raises `unavailable` with the end of its log when it dies or is silent for too long.
    """
    notes: list[str] = []
    for attempt in range(1, _ATTEMPTS + 1):
        state, said = _choose_ports(folder, options, installation.version)
        for note in said:
            tell(Step("port", note))
        notes += said
        values = settings(options, state.bolt_port, state.http_port)
        write_private(folder.root / "conf" / "neo4j.conf", render(values))
        if not folder.has_data:
            _set_password(folder, java, installation)
        folder.turn_log()
        tell(Step("start", "starting Neo4j"))
        process = spawn_detached(
            java_command(java.executable, java.flags(), installation.class_path, folder.root, options),
            log=folder.console_log,
            cwd=folder.root,
            environment=_environment(folder),
        )
        if process:
            folder.remember(replace(state, pid=process.pid, started=process.started))
            try:
                wait_ready(folder, process, options)
            except DatabaseOfflineError:
                # Left running it would hold the ports and answer nobody.
                terminate(process, options.stop_timeout_s)
                folder.forget_process()
                raise
            except AmosError:
                if alive(process) or attempt == _ATTEMPTS or not _lost_its_port(folder):
                    raise
            else:
                return process, tuple(notes)
        elif attempt == _ATTEMPTS or not _lost_its_port(folder):
            break
    raise _died(folder)


def wait_ready(folder: HomeFolder, process: ProcessId, options: LocalOptions) -> None:
    """Wait until a query is answered and Browser is served.

    Raises `unavailable` when the server ends, refuses the password or is silent for too long;
    DatabaseOfflineError when it runs without its database.
    """
    password = folder.password()
    timeout_s = options.start_timeout_s
    deadline = time.monotonic() + timeout_s
    while True:
        state = folder.state()
        if not alive(process):
            raise _died(folder)
        listens = folder.listens()
        answer = ask(state.bolt_port, password) if listens else "silent"
        if answer == "refused":
            raise AmosError(
                "unavailable",
                f"Neo4j refuses the password in {folder.password_file}: put back the password that this data "
                "was made with, or delete the data: amos neo4j uninstall",
            )
        if answer == "answers" and is_open(state.http_port):
            return
        reason = offline_reason(state.bolt_port, password) if listens else ""
        if reason:
            raise DatabaseOfflineError(folder, options, reason)
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    raise AmosError(
        "unavailable",
        f"Neo4j (process {process.pid}) has not answered within {timeout_s:.0f} s and is left running: if it "
        "recovers a large store, run the same again later; if its disk was full, free some space, then "
        f"amos neo4j stop and amos neo4j start.{_tail(folder)}",
    )


def _choose_ports(folder: HomeFolder, options: LocalOptions, version: str) -> tuple[State, list[str]]:
    """The remembered ports while they are free, else the usual ones, else any; with what to say of it."""
    remembered = folder.state()
    bolt = choose_port((remembered.bolt_port, options.bolt_port))
    http = choose_port((remembered.http_port, options.http_port), avoid=bolt)
    said = [
        f"port {before} ({what}) is taken by another program; {after} is used from now on"
        for what, before, after in (
            ("Bolt", remembered.bolt_port or options.bolt_port, bolt),
            ("HTTP", remembered.http_port or options.http_port, http),
        )
        if before != after
    ]
    state = State(bolt, http, version=version)
    folder.remember(state)
    return state, said


def _set_password(folder: HomeFolder, java: Java, installation: Installation) -> None:
    """Set the password before the first start; from its file, since every user can see arguments."""
    folder.password()
    done = subprocess.run(
        [
            str(java.executable),
            "-cp",
            installation.class_path,
            ADMIN_CLASS,
            "dbms",
            "set-initial-password",
            f"@{folder.password_file}",
        ],
        env={**_environment(folder), "NEO4J_CONF": str(folder.root / "conf")},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    if done.returncode != 0:
        # Java warns about itself on the same stream, and the tool ends with a hint on its own flags.
        lines = [
            line
            for line in done.stderr.splitlines()
            if line.strip() and not line.startswith(("WARNING", "Run with", "Picked up"))
        ]
        reason = lines[-1] if lines else "no reason was given"
        raise AmosError("unavailable", f"the password could not be set before the first start: {reason}")


def _environment(folder: HomeFolder) -> dict[str, str]:
    """The caller's environment without the settings of another Neo4j; Java reads paths by its locale."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    return {**kept, "NEO4J_HOME": str(folder.root), "LC_ALL": "C.UTF-8"}


def _lost_its_port(folder: HomeFolder) -> bool:
    return any(word in line for line in folder.log_tail(400) for word in _PORT_TAKEN)


def _died(folder: HomeFolder) -> AmosError:
    folder.forget_process()
    return AmosError("unavailable", f"Neo4j ended while it was starting.{_tail(folder)}")


def _tail(folder: HomeFolder) -> str:
    tail = folder.log_tail(15)
    return "\nThe end of its log:\n" + "\n".join(tail) if tail else " It wrote no log."
