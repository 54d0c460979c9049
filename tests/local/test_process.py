"""Processes, ports and locks of this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from amos_graph.errors import AmosError
from amos_graph.graph.local.locks import file_lock
from amos_graph.graph.local.ports import choose_port, is_free, is_open
from amos_graph.graph.local.process import (
    ProcessId,
    alive,
    find_by_arguments,
    identify,
    spawn_detached,
    terminate,
)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[ProcessId]:
    """A detached process that sleeps, killed at the end whatever the test does."""
    process = _spawn(tmp_path, "import time; time.sleep(60)")
    yield process
    if alive(process):
        os.kill(process.pid, signal.SIGKILL)


def _spawn(folder: Path, program: str) -> ProcessId:
    process = spawn_detached(
        [sys.executable, "-c", program, str(folder)],
        log=folder / "log",
        cwd=folder,
        environment={"PATH": os.environ["PATH"]},
    )
    assert process is not None
    return process


def _until(condition: Path) -> None:
    deadline = time.monotonic() + 10
    while not condition.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_detached_process_is_nobodys_child_and_in_a_session_of_its_own(sleeper: ProcessId) -> None:
    """Neither the end of its starter nor a closing terminal reaches it."""
    assert alive(sleeper)
    assert os.getsid(sleeper.pid) != os.getsid(0)
    with pytest.raises(ChildProcessError):
        os.waitpid(sleeper.pid, os.WNOHANG)


def test_a_reused_number_is_not_taken_for_ours(sleeper: ProcessId) -> None:
    """The same number with another start is another process, and is never signalled."""
    stranger = ProcessId(sleeper.pid, "another-boot/1")

    assert not alive(stranger)
    assert terminate(stranger, 1.0)
    assert alive(sleeper)


def test_a_process_is_found_by_its_arguments(sleeper: ProcessId, tmp_path: Path) -> None:
    """All arguments must be there, each as a whole."""
    assert find_by_arguments(str(tmp_path), "-c") == sleeper
    assert find_by_arguments(str(tmp_path), "-x") is None
    assert find_by_arguments(str(tmp_path)[:-1]) is None


def test_terminate_waits_for_a_clean_end(sleeper: ProcessId) -> None:
    """True says that it ended by itself."""
    assert terminate(sleeper, 10.0)
    assert not alive(sleeper)


def test_who_ignores_the_request_is_killed_after_the_bound(tmp_path: Path) -> None:
    """False says that it had to be killed; it is gone all the same."""
    deaf = _spawn(
        tmp_path,
        "import pathlib, signal, sys, time; signal.signal(15, signal.SIG_IGN); "
        "pathlib.Path(sys.argv[1], 'deaf').touch(); time.sleep(60)",
    )
    _until(tmp_path / "deaf")

    assert not terminate(deaf, 0.3)
    assert not alive(deaf)


def test_a_zombie_is_dead() -> None:
    """A process that ended and was not waited for does not count as running."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        known = identify(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        assert identify(child.pid) is None
        assert known is None or not alive(known)


def test_output_and_errors_are_appended_to_the_log(tmp_path: Path) -> None:
    """Both streams end in one file, so that the end of it tells why a process died."""
    _spawn(
        tmp_path,
        "import pathlib, sys, time; print('out', flush=True); sys.stderr.write('err'); sys.stderr.flush(); "
        "pathlib.Path(sys.argv[1], 'said').touch(); time.sleep(0.5)",
    )
    _until(tmp_path / "said")

    assert (tmp_path / "log").read_text() == "out\nerr"


def test_a_taken_port_is_seen_and_another_chosen() -> None:
    """The wanted one while it is free; else any, and never the one to avoid."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]

        assert not is_free(port)
        assert is_open(port)
        assert choose_port([port]) not in (0, port)
    assert is_free(port)
    assert choose_port([port]) == port
    assert choose_port([port], avoid=port) != port


def test_the_lock_lets_one_in_and_tells_who_waits(tmp_path: Path) -> None:
    """The second waits until the first is through; with too little patience it says who holds what."""
    path = tmp_path / "lock"
    order: list[str] = []

    def second() -> None:
        with file_lock(path, 10.0, lambda: order.append("waiting")):
            order.append("second")

    with file_lock(path, 1.0):
        with pytest.raises(AmosError, match="another process has held"), file_lock(path, 0.2):
            pass
        thread = threading.Thread(target=second)
        thread.start()
        while "waiting" not in order:
            time.sleep(0.01)
        order.append("first")
    thread.join()

    assert order == ["waiting", "first", "second"]


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    """The kernel releases it; nothing is left to clean up."""
    path = tmp_path / "lock"
    holder = _spawn(
        tmp_path,
        "import fcntl, pathlib, sys, time; f = open(sys.argv[1] + '/lock', 'a'); "
        "fcntl.flock(f, fcntl.LOCK_EX); pathlib.Path(sys.argv[1], 'held').touch(); time.sleep(60)",
    )
    _until(tmp_path / "held")
    os.kill(holder.pid, signal.SIGKILL)
    with file_lock(path, 5.0):
        pass
