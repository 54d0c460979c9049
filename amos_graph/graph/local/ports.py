"""Ports on loopback that nobody listens on."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable
from typing import Final

from amos_graph.graph.local.options import LOOPBACK

_RANGE: Final = range(20_000, 32_768)
_TRIES: Final = 200


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of loopback now."""
    with socket.socket() as probe:
        # As servers do it: a connection that lingers from the last run does not count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def choose_port(wanted: Iterable[int], avoid: int = 0) -> int:
    """The first wanted port that is free, else any free one; never `avoid`."""
    for port in wanted:
        if port and port != avoid and is_free(port):
            return port
    # Below the range that kernels give to outgoing connections: while a server is down, one of those
    # may take its port, and the server would have to move.
    for port in random.sample(_RANGE, _TRIES):
        if port != avoid and is_free(port):
            return port
    while True:
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            port = int(probe.getsockname()[1])
        if port != avoid:
            return port


def is_open(port: int) -> bool:
    """Whether somebody listens on this port of loopback. Unlike `is_free` it never holds the port itself."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=2.0):
            return True
    except OSError:
        return False
