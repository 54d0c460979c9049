"""Listing: atoms in order of creation, filtered, in bounded pages (`GET /v1/atoms`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import Field

from amos_graph.commands.execution import Context
from amos_graph.domain.atoms import payload_type
from amos_graph.domain.ids import EntityId
from amos_graph.domain.lifecycle import HealthStatus, LifecycleState
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.sameness import Sameness
from amos_graph.domain.score import numbers_of, with_numbers
from amos_graph.domain.times import Timestamp, native_time, parse_time
from amos_graph.domain.value_kinds import is_entity
from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.access import may_cite_body, may_read_body
from amos_graph.queries.get import holds_at
from amos_graph.queries.items import item_of
from amos_graph.queries.paging import cursor_of, position_of
from amos_graph.queries.recall.candidates import same_entities
from amos_graph.queries.versions import readable_version
from amos_graph.queries.visibility import visible_classes

#: How many atoms a page at an earlier version looks at before it says that it was cut.
SCANNED_MAX: Final = 2_000


class ListRequest(Strict):
    """Filters are joined by AND; a list matches any of its entries."""

    types: list[str] = Field(default_factory=list[str], max_length=50)
    lifecycle_states: list[LifecycleState] = Field(default=["active"], max_length=10)
    health_statuses: list[HealthStatus] = Field(default_factory=list[HealthStatus], max_length=20)
    #: An entity stands for all that were merged into the same one, and one that was split for its parts.
    subject: str | None = Field(default=None, min_length=1, max_length=1_000)
    relation: str | None = Field(default=None, max_length=200)
    entity: EntityId | None = None
    as_of_version: int | None = Field(default=None, ge=0)
    valid_at: Timestamp | None = None
    limit: int = Field(default=50, ge=1)
    cursor: str | None = Field(default=None, max_length=2_000)


@dataclass(frozen=True, slots=True)
class ListedRow:
    id: str
    created_at: Any
    version: int
    state_key: str
    access_class: str
    event_id: str


@dataclass(frozen=True, slots=True)
class BodyRow:
    id: str
    version: int
    body: str | None
    event_id: str
    score: str | None


@dataclass(frozen=True, slots=True)
class SamenessRow:
    body: str


@dataclass(frozen=True, slots=True)
class _Named:
    """The values of the subject and the entities that the filters accept; empty for all."""

    subjects: list[str]
    entities: list[str]
    #: The entities by which the way to the atoms leads; empty for a walk in order of creation.
    way: list[str]


_LIST = procedure("recall/list_atoms", ListedRow)
_LIST_ABOUT = procedure("recall/list_atoms_about", ListedRow)
_SAMENESS = procedure("recall/list_past_sameness", SamenessRow)
_BODIES = procedure("recall/read_bodies", BodyRow)


def list_atoms(context: Context, request: Mapping[str, Any]) -> dict[str, Any]:
    """One page: items, next_cursor (null at the end), and whether the scan was cut.

    Superseded and unhealthy atoms are listed with their states; proposals only to stewards.
    Raises `schema_invalid`, `authorization_denied`, and `capacity_limited` for a filter by an entity at an
    earlier version of a shard with more merges than `AMOS_PAST_RECORDS_MAX`.
    """
    asked = validate(ListRequest, request)
    context.identity.demand("memory.read")
    if asked.limit > context.settings.page_max:
        raise invalid("limit", f"at most {context.settings.page_max}")
    proposals = "proposed" in asked.lifecycle_states or not asked.lifecycle_states
    if proposals and not context.identity.may("memory.steward"):
        raise AmosError("authorization_denied", "only stewards list proposals")
    for index, name in enumerate(asked.types):
        payload_type(name, f"types[{index}]")
    position = position_of(asked, asked.cursor)
    return context.graph.read("list_atoms", lambda tx: _page(tx, context, asked, position))


def _page(tx: Tx, context: Context, asked: ListRequest, position: tuple[datetime, str]) -> dict[str, Any]:
    shard = context.scope.shard
    as_of = readable_version(tx, shard, asked.as_of_version)
    visible = visible_classes(tx, context)
    classes = visible.classes
    items: list[dict[str, Any]] = []
    scanned = 0
    more = True
    named = _named(tx, context, asked, as_of)
    while more and len(items) < asked.limit and scanned < SCANNED_MAX:
        wanted = asked.limit - len(items) + 1
        rows = _rows(tx, asked, named, classes, position, shard=shard, limit=wanted)
        more = len(rows) == wanted
        found = {row.id: row for row in tx.many(_BODIES, shard=shard, ids=[r.id for r in rows], as_of=as_of)}
        for row in rows:
            if len(items) == asked.limit:
                break
            scanned += 1
            position = (native_time(row.created_at), row.id)
            body = found.get(row.id)
            if body is not None and body.body is not None:
                record = json.loads(body.body)
                score = json.loads(body.score) if body.score else None
                record = dict(with_numbers(record, numbers_of(score, body.version)))
                if asked.as_of_version is None or _fits_then(context, asked, named, record):
                    # The state key is the present one; what it was at an earlier version is not kept.
                    state = {"state_key": row.state_key} if asked.as_of_version is None else {}
                    cited = row.access_class in visible.cited and may_cite_body(
                        context.identity, context.scope, record
                    )
                    items.append({**item_of(record, body.event_id, cited=cited), **state})
        else:
            continue
        break
    return {
        "items": items,
        "next_cursor": cursor_of(asked, position) if more else None,
        "scan_truncated": more and len(items) < asked.limit,
        "graph_version": as_of,
    }


def _named(tx: Tx, context: Context, asked: ListRequest, as_of: int) -> _Named:
    """What the filters by entity accept, by the merges and splits of the version that is asked of."""
    given = [asked.subject, asked.entity]
    entities = [ref for ref in given if ref is not None and is_entity(ref)]
    same = _same(tx, context, asked, entities, as_of) if entities else {}
    subjects, about = ([*same.get(ref, [ref])] if ref else [] for ref in given)
    return _Named(subjects, about, subjects if is_entity(asked.subject) else about)


def _same(
    tx: Tx, context: Context, asked: ListRequest, entities: Sequence[str], as_of: int
) -> dict[str, list[str]]:
    """Each entity → all that stands for it. Raises `capacity_limited` where too many became others."""
    if asked.as_of_version is None:
        return same_entities(tx, context.scope.shard, entities)
    limit = context.settings.past_records_max
    rows = tx.many(_SAMENESS, shard=context.scope.shard, as_of=as_of, limit=limit + 1)
    if len(rows) > limit:
        message = f"more than {limit} entities were merged or split by then (AMOS_PAST_RECORDS_MAX)"
        raise AmosError("capacity_limited", message, [Fault("as_of_version", message)])
    then = Sameness.of(json.loads(row.body) for row in rows)
    return {ref: then.stands_for(ref) for ref in entities}


def _rows(
    tx: Tx,
    asked: ListRequest,
    named: _Named,
    classes: Sequence[str],
    position: tuple[datetime, str],
    **place: Any,
) -> list[ListedRow]:
    # At an earlier version the filters are judged on the bodies of that time.
    then = asked.as_of_version is not None
    params: dict[str, Any] = {
        **place,
        "classes": list(classes),
        "after_created": position[0],
        "after_id": position[1],
        "states": [] if then else asked.lifecycle_states,
        "types": asked.types,
        "health": [] if then else asked.health_statuses,
        "relation": None if then else asked.relation,
        "subjects": [] if then else named.subjects,
        "valid_at": parse_time(asked.valid_at) if asked.valid_at and not then else None,
    }
    if named.way and not then:
        return tx.many(_LIST_ABOUT, about=named.way, also=named.entities, **params)
    return tx.many(_LIST, **params)


def _fits_then(context: Context, asked: ListRequest, named: _Named, body: Mapping[str, Any]) -> bool:
    """A body of an earlier version, if it matches and its policy of that time lets the caller read it too."""
    return _matches(asked, named, body) and may_read_body(context.identity, context.scope, body)


def _matches(asked: ListRequest, named: _Named, body: Mapping[str, Any]) -> bool:
    payload = payload_type(body["type"]).model_validate(body["payload"])
    lifted = payload.lifted_values()
    return (
        (not asked.lifecycle_states or body["lifecycle_state"] in asked.lifecycle_states)
        and (not asked.health_statuses or body["health_status"] in asked.health_statuses)
        and (not named.subjects or lifted.get("subject") in named.subjects)
        and (asked.relation is None or lifted.get("relation") == asked.relation)
        and (not named.entities or any(ref in named.entities for _, ref in payload.entity_roles()))
        and (asked.valid_at is None or holds_at(body, asked.valid_at))
    )
