"""What can be chosen about the managed Neo4j, and where it lives."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

USER: Final = "neo4j"
LOOPBACK: Final = "127.0.0.1"
BOLT_PORT: Final = 7687
HTTP_PORT: Final = 7474


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """Sizes, limits and patience. The defaults fit a laptop; docs/operations.md explains each."""

    heap_mb: int = 1024
    page_cache_mb: int = 256
    #: The most that one transaction may hold in memory before it is refused.
    transaction_memory_mb: int = 256
    #: How long a transaction waits for a lock and may run at all; Neo4j's own default is for ever.
    lock_timeout_s: int = 30
    transaction_timeout_s: int = 600
    #: One file of the transaction log; Neo4j allocates it in full.
    log_file_mb: int = 64
    #: What Neo4j keeps of old transaction logs. Erased text stays in them until then.
    log_retention: str = "2 days 1G"
    checkpoint_interval_s: int = 900
    start_timeout_s: float = 240.0
    #: A clean stop flushes the page cache; killing sooner only makes the next start slower.
    stop_timeout_s: float = 120.0
    #: More flags for Java, after ours.
    java_flags: tuple[str, ...] = ()
    #: Free space without which nothing is fetched, and without which no server is started.
    fetch_free_mb: int = 600
    start_free_mb: int = 500
    bolt_port: int = BOLT_PORT
    http_port: int = HTTP_PORT


def default_home() -> Path:
    """`$AMOS_HOME`, else `~/.amos-graph`."""
    named = os.environ.get("AMOS_HOME", "")
    return Path(named).expanduser().absolute() if named else Path.home() / ".amos-graph"


def default_cache() -> Path:
    """`$AMOS_CACHE`, else `amos-graph` in the user's cache folder; all homes share it."""
    named = os.environ.get("AMOS_CACHE", "")
    if named:
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "amos-graph"
