"""Health: is the store ready, is it safe, and how do the memories stand (`GET /v1/health/memory`)."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Final

from neo4j import exceptions as driver_errors

from amos_graph.commands.execution import Context
from amos_graph.errors import AmosError
from amos_graph.graph.local.audit import UnsafeSetting, audit_configuration
from amos_graph.graph.migrations import schema_faults, status
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, Tx, translate
from amos_graph.queries.versions import readable_version
from amos_graph.queries.visibility import visible_classes

#: Combinations of project, type, state and health in one answer.
GROUPS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class CountRow:
    project_id: str | None
    type: str
    lifecycle_state: str
    health_status: str
    count: int


@dataclass(frozen=True, slots=True)
class CanaryRow:
    token: str


@dataclass(frozen=True, slots=True)
class SettingRow:
    name: str
    value: str


_COUNT: Final = procedure("upkeep/count_memories", CountRow)
_TOUCH: Final = procedure("upkeep/touch_canary")
_CANARY: Final = procedure("upkeep/read_canary", CanaryRow)
_SETTINGS: Final = procedure("upkeep/show_settings", SettingRow)


def memory_health(context: Context) -> dict[str, Any]:
    """How many memories the caller can see, by project, type, lifecycle state and health.

    Reads only. Raises `authorization_denied`. Source: spec, `GET /v1/health/memory`.
    """
    context.identity.demand("memory.read")
    return context.graph.read("memory_health", lambda tx: _counted(tx, context))


def _counted(tx: Tx, context: Context) -> dict[str, Any]:
    shard = context.scope.shard
    version = readable_version(tx, shard, None)
    rows = tx.many(
        _COUNT,
        shard=shard,
        classes=visible_classes(tx, context).classes,
        proposals=context.identity.may("memory.steward"),
        limit=GROUPS_MAX,
    )
    totals: dict[str, Counter[str]] = {
        name: Counter() for name in ("type", "lifecycle_state", "health_status")
    }
    for row in rows:
        for name, counter in totals.items():
            counter[getattr(row, name)] += row.count
    return {
        "graph_version": version,
        "scope": context.scope.record(),
        "atoms": sum(row.count for row in rows),
        **{f"by_{name}": dict(sorted(counter.items())) for name, counter in totals.items()},
        "groups": [asdict(row) for row in rows],
        "groups_truncated": len(rows) == GROUPS_MAX,
    }


def check_ready(graph: Graph) -> None:
    """Return when the store answers, has its schema, and has just taken a write and given it back.

    Raises `unavailable` with what is missing. It asks once, without the driver's patient retries.
    """
    try:
        graph.driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
    except (driver_errors.Neo4jError, driver_errors.DriverError) as error:
        raise translate(error) from error
    pending = status(graph).pending
    faults = schema_faults(graph)
    if pending or faults:
        raise AmosError(
            "unavailable", faults[0] if faults else f"{pending[0]} is pending: run `amos migrate`"
        )
    token = secrets.token_hex(8)
    graph.write("canary", lambda tx: tx.none(_TOUCH, token=token))
    found = graph.read("canary", lambda tx: tx.many(_CANARY))
    # Another process may have written its own token in between; any row shows that reads work.
    if not found:
        raise AmosError("unavailable", "Neo4j took a write and does not give it back")


def unsafe_settings(graph: Graph) -> list[UnsafeSetting]:
    """What is unsafe about the configuration of the Neo4j that is used (T30)."""
    rows = graph.read("show_settings", lambda tx: tx.many(_SETTINGS))
    return audit_configuration({row.name: row.value for row in rows})
