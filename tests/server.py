"""Where the tests' Neo4j comes from: given, in a container when asked, or managed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from amos_graph.graph.local import LocalNeo4j, LocalOptions
from amos_graph.graph.transactions import connect

ROOT = Path(__file__).resolve().parent.parent
#: The classes of a running Neo4j as the JVM can map them: with it a start takes half the processor time.
#: Without it, or with one of another Java, a start is as slow as ever.
CLASSES = ROOT / ".amos-test" / "classes.jsa"
#: What is compiled less well never runs for long here, and costs half the processor time of a start.
_QUICK = ("-XX:TieredStopAtLevel=1", f"-XX:SharedArchiveFile={CLASSES}")

#: Small, so that several fit beside the suite's own server; ports of its own.
SMALL = LocalOptions(
    heap_mb=512,
    page_cache_mb=64,
    transaction_memory_mb=128,
    log_file_mb=16,
    bolt_port=0,
    http_port=0,
    java_flags=_QUICK,
)
#: A given server that does not answer within this time fails the run at once, with one sentence.
ANSWER_S = 5.0


@dataclass(frozen=True, slots=True)
class Server:
    """How to reach a Neo4j."""

    uri: str
    user: str
    password: str


@contextmanager
def provided_server(home: Path) -> Generator[Server]:
    """The server of AMOS_TEST_NEO4J_URI, a container (AMOS_TEST_CONTAINER=1), or a managed one in `home`."""
    uri = os.environ.get("AMOS_TEST_NEO4J_URI")
    if uri:
        given = Server(
            uri, os.environ.get("AMOS_TEST_NEO4J_USER", "neo4j"), os.environ["AMOS_TEST_NEO4J_PASSWORD"]
        )
        _must_answer(given)
        yield given
    elif os.environ.get("AMOS_TEST_CONTAINER") == "1":
        with _container() as server:
            yield server
    else:
        _archive_classes()
        local = LocalNeo4j(home, options=LocalOptions(java_flags=_QUICK))
        running = local.start()
        try:
            yield Server(running.uri, running.user, running.password)
        finally:
            if os.environ.get("AMOS_TEST_KEEP") != "1":
                local.stop()


def _archive_classes() -> None:
    """Make the archive of classes once, by the worker that comes first; nobody waits for it."""
    making = CLASSES.with_suffix(".making")
    CLASSES.parent.mkdir(parents=True, exist_ok=True)
    if CLASSES.exists():
        return
    try:
        making.mkdir()
    except FileExistsError:
        return
    made = making / CLASSES.name
    flags = (_QUICK[0], f"-XX:ArchiveClassesAtExit={made}")
    local = LocalNeo4j(making / "home", options=replace(SMALL, java_flags=flags))
    try:
        running = local.start()
        driver = connect(running.uri, running.user, running.password)
        # Planning and running a statement loads thousands of classes more.
        driver.execute_query("MERGE (n:Loaded {id: 1}) WITH n MATCH (m) RETURN count(m)")  # pyright: ignore[reportUnknownMemberType]
        driver.close()
        local.stop()
        if made.exists():
            made.replace(CLASSES)
    finally:
        local.stop()
        shutil.rmtree(making)


def _must_answer(server: Server) -> None:
    driver = connect(server.uri, server.user, server.password, retry_s=ANSWER_S)
    try:
        driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
    except Exception as error:
        pytest.exit(f"the Neo4j at {server.uri} does not answer: {type(error).__name__}", returncode=3)
    finally:
        driver.close()


@contextmanager
def _container() -> Generator[Server]:
    from testcontainers.community.neo4j import Neo4jContainer  # noqa: PLC0415 - needs an engine when used

    with Neo4jContainer("neo4j:2026.08.1-community") as container:
        yield Server(container.get_connection_url(), "neo4j", container.password)
