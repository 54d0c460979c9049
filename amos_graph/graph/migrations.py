"""Schema migrations: `constraints/*.cypher` in lexical order, once each, with their digests on record."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString, cast

from amos_graph.errors import AmosError
from amos_graph.graph.files import CONSTRAINTS
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, translate

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Applied:
    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    name: str
    kind: str
    state: str


@dataclass(frozen=True, slots=True)
class Migration:
    """One schema statement as it is shipped."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


_LIST = procedure("upkeep/list_migrations", Applied)
_RECORD = procedure("upkeep/record_migration")
_CONSTRAINTS = procedure("upkeep/list_constraints", SchemaEntry)
_INDEXES = procedure("upkeep/list_indexes", SchemaEntry)


def shipped(folder: Path = CONSTRAINTS) -> list[Migration]:
    """The migrations of this version in the order in which they run."""
    return [
        Migration(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.cypher"))
    ]


@dataclass(frozen=True, slots=True)
class Status:
    applied: tuple[str, ...]
    pending: tuple[str, ...]


def status(graph: Graph, migrations: list[Migration] | None = None) -> Status:
    """What was applied and what is still to come.

    Raises `unavailable` when the store is newer than this code or a released file was edited.
    """
    known = migrations if migrations is not None else shipped()
    applied = {row.name: row.sha256 for row in graph.read("migrate", lambda tx: tx.many(_LIST, limit=10_000))}
    names = [migration.name for migration in known]
    newer = sorted(set(applied) - set(names))
    if newer:
        raise AmosError(
            "unavailable",
            f"this store has migration {newer[-1]}, which this version does not know: upgrade amos-graph",
        )
    for migration in known:
        if applied.get(migration.name, migration.sha256) != migration.sha256:
            raise AmosError(
                "unavailable", f"{migration.name} was edited after it was applied; restore the released file"
            )
    return Status(
        tuple(name for name in names if name in applied), tuple(name for name in names if name not in applied)
    )


def migrate(graph: Graph, progress: Progress | None = None, index_wait_s: float = 300.0) -> list[str]:
    """Apply what is pending, wait until every index is online, and return the names applied.

    Each file is idempotent, because Neo4j does not mix schema and data changes in one transaction and
    a kill may fall between a statement and its record.
    """
    migrations = shipped()
    pending = set(status(graph, migrations).pending)
    for index, migration in enumerate(migrations):
        if migration.name in pending:
            _apply(graph, migration)
        if progress:
            progress(migration.name, index + 1, len(migrations))
    _await_indexes(graph, index_wait_s)
    return [migration.name for migration in migrations if migration.name in pending]


def schema_faults(graph: Graph) -> list[str]:
    """Sentences on constraints and indexes of ours that are missing or not online (T30)."""
    present = {
        row.name: row.state
        for row in graph.read("schema", lambda tx: [*tx.many(_CONSTRAINTS), *tx.many(_INDEXES)])
    }
    faults: list[str] = []
    for migration in shipped():
        name = schema_name(migration)
        if name not in present:
            faults.append(f"{name} is missing: run `amos migrate`")
        elif present[name] not in ("", "ONLINE"):
            faults.append(f"{name} is {present[name]}")
    return faults


def schema_name(migration: Migration) -> str:
    """The name that a schema statement gives to its constraint or index."""
    words = migration.text.split("CREATE", 1)[-1].split()
    return words[words.index("IF") - 1]


def _apply(graph: Graph, migration: Migration) -> None:
    try:
        with graph.driver.session(database=graph.database) as session:  # pyright: ignore[reportUnknownMemberType]
            session.run(cast("LiteralString", migration.text)).consume()
    except Exception as error:
        raise translate(error) from error
    graph.write("migrate", lambda tx: tx.none(_RECORD, name=migration.name, sha256=migration.sha256))


def _await_indexes(graph: Graph, wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        faults = schema_faults(graph)
        if not faults:
            return
        if time.monotonic() > deadline:
            raise AmosError("unavailable", f"the schema is not ready after {wait_s:.0f} s: {faults[0]}")
        time.sleep(0.2)
