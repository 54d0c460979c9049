"""Processes told apart from others that were given the same number later."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
# The shell leaves at once, so the server is nobody's child: no zombie, no signal from a closing terminal.
_DETACH: Final = 'log="$1"; shift; ("$@" </dev/null >>"$log" 2>&1 & echo $!)'


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process number with the moment of its start, which a reused number does not share."""

    pid: int
    #: Boot id and clock ticks since boot, as the kernel tells them.
    started: str


def identify(pid: int) -> ProcessId | None:
    """The identity of a living process; none when it is gone or a zombie."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except (OSError, ValueError):
        return None
    # The name stands in parentheses and may itself hold spaces and parentheses.
    fields = stat[stat.rindex(")") + 2 :].split()
    if fields[0] in "ZX":
        return None
    return ProcessId(pid, f"{boot}/{fields[19]}")


def alive(process: ProcessId) -> bool:
    """Whether this very process still runs."""
    return identify(process.pid) == process


def command_line(pid: int) -> list[str]:
    """The arguments of a process, empty when it is gone or hidden from us."""
    try:
        raw = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return []
    return [os.fsdecode(part) for part in raw.split(b"\0")[:-1]]


def find_by_arguments(*needed: str) -> ProcessId | None:
    """A process of this user whose command line has each of these arguments."""
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            if entry.stat().st_uid == os.getuid() and set(needed) <= set(command_line(int(entry.name))):
                found = identify(int(entry.name))
                if found:
                    return found
    return None


def spawn_detached(
    command: Sequence[str], *, log: Path, cwd: Path, environment: Mapping[str, str]
) -> ProcessId | None:
    """Start a command in a session of its own, its output appended to `log`; none when it died at once."""
    launched = subprocess.run(
        ["/bin/sh", "-c", _DETACH, "sh", str(log), *command],
        cwd=cwd,
        env=dict(environment),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return identify(int(launched.stdout))


def terminate(process: ProcessId, timeout_s: float) -> bool:
    """Ask the process to stop and wait for it. False when it had to be killed after `timeout_s`."""
    if not _signal(process, signal.SIGTERM) or _gone_within(process, timeout_s):
        return True
    if not _signal(process, signal.SIGKILL):
        return True
    _gone_within(process, 10.0)
    return False


def _signal(process: ProcessId, number: signal.Signals) -> bool:
    if not alive(process):
        return False
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)
    return True


def _gone_within(process: ProcessId, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
