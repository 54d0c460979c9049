"""Root provenance: what an atom rests on, at one version (`POST /v1/provenance:analyze`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from pydantic import Field

from amos_graph.commands.execution import Context
from amos_graph.domain.ids import AtomId
from amos_graph.domain.model import Strict, validate
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.independence import Ancestor, Ancestry, Support, analyze
from amos_graph.queries.steady import Change, steady
from amos_graph.queries.visibility import visible_classes

#: Steps of one way; each level is one round trip.
DEPTH_MAX: Final = 64
_DEPTH: Final = 16
#: Lifecycle states whose atoms may stand in an ancestry; what was archived still supports.
_STATES: Final = ("active", "archived")
#: Steps that one level may take, for each ancestor that there may be.
_STEPS: Final = 4


class AnalyzeRequest(Strict):
    """Whose ancestry, and how far it is followed."""

    atom_ref: AtomId
    #: Steps from the atom to its farthest ancestor that is looked for.
    max_depth: int = Field(default=_DEPTH, ge=1, le=DEPTH_MAX)


@dataclass(frozen=True, slots=True)
class SourceRow:
    name: str
    ref: str
    source_type: str | None
    source_ref: str | None
    checksum: str | None
    payload: str | None


@dataclass(frozen=True, slots=True)
class SupportRow:
    child: str
    way: str
    ref: str
    source_type: str | None
    source_ref: str | None
    checksum: str | None
    payload: str | None


_SOURCES = procedure("provenance/find_sources", SourceRow)
_SUPPORTS = procedure("provenance/list_supports", SupportRow)


class _Found(Protocol):
    @property
    def ref(self) -> str: ...
    @property
    def source_type(self) -> str | None: ...
    @property
    def source_ref(self) -> str | None: ...
    @property
    def checksum(self) -> str | None: ...
    @property
    def payload(self) -> str | None: ...


def analyze_provenance(context: Context, request: Mapping[str, Any]) -> dict[str, Any]:
    """Roots, independence groups, testimony families, common ancestors, depth and circular support.

    An absent atom and one that the caller may not see give the same answer; hidden ancestors are not
    there. At most `AMOS_ANCESTORS_MAX` ancestors are looked at, and `truncated` says if there are more.
    Raises `schema_invalid` and `authorization_denied`.
    """
    asked = validate(AnalyzeRequest, request)
    context.identity.demand("memory.read")
    (walk, version), _ = steady(
        context.graph,
        context.scope.shard,
        "analyze_provenance",
        lambda tx, version: (_walked(tx, context, asked), version),
        lambda found, changes: found[0].touched(changes),
    )
    answer: dict[str, Any] = {"found": False, "atom_ref": asked.atom_ref, "graph_version": version}
    if not walk.ancestors:
        return answer
    ancestry = Ancestry(asked.atom_ref, walk.ancestors, list(walk.supports), walk.truncated)
    return {**answer, "found": True, "max_depth": asked.max_depth, **analyze(ancestry)}


@dataclass(slots=True)
class _Walk:
    """An ancestry as far as it was walked: level by level, so each record is met at its least distance."""

    #: Ancestors in all.
    room: int
    ancestors: dict[str, Ancestor] = field(default_factory=dict[str, Ancestor])
    supports: dict[Support, None] = field(default_factory=dict[Support, None])
    #: Record → what it names as its sources, in its reference or its payload.
    named: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    truncated: bool = False

    def step(self, child: str, row: _Found, way: str, *, last: bool) -> bool:
        """Take in one step, and say if it led to somebody new; beyond the bounds nobody new is let in."""
        new = row.ref not in self.ancestors
        if new and (last or len(self.ancestors) > self.room):
            self.truncated = True
            return False
        if new:
            self.add(row)
        self.supports[Support(child, row.ref, way)] = None
        return new

    def add(self, row: _Found) -> None:
        """Take in a record with what it names as its sources."""
        self.ancestors[row.ref] = Ancestor(row.ref, row.source_type, row.source_ref, row.checksum)
        stated: list[str] = json.loads(row.payload).get("source_refs") or [] if row.payload else []
        self.named[row.ref] = [*([row.source_ref] if row.source_ref else []), *stated]

    def touched(self, changes: Iterable[Change]) -> bool:
        """True if a write since concerns anything that was found, or that was looked for by name."""
        read = {*self.ancestors, *(name for names in self.named.values() for name in names)}
        return any(
            not read.isdisjoint({change["ref"], change["source_ref"], change["target_ref"]})
            for change in changes
        )


def _walked(tx: Tx, context: Context, asked: AnalyzeRequest) -> _Walk:
    """Walk up until nothing new comes or a bound is reached, and one level on to know which of the two."""
    steward = context.identity.may("memory.steward")
    visible = visible_classes(tx, context)
    sight = {
        "shard": context.scope.shard,
        "classes": visible.classes,
        "states": [*_STATES, *(["proposed"] if steward else [])],
    }
    client = None if steward else context.identity.client_id
    walk = _Walk(context.settings.ancestors_max)
    cited = list(visible.cited)
    subject = tx.many(_SOURCES, **sight, names=[asked.atom_ref], client=client, limit=1)
    for row in subject:
        walk.add(row)
    level, depth = [row.ref for row in subject], 0
    while level:
        depth += 1
        steps = [
            *_native(tx, {**sight, "cited": cited}, walk, level),
            *_named(tx, {**sight, "client": client}, walk, level),
        ]
        last = depth > asked.max_depth
        level = [row.ref for child, row, way in steps if walk.step(child, row, way, last=last)]
    return walk


_Steps = list[tuple[str, _Found, str]]


def _native(tx: Tx, sight: Mapping[str, Any], walk: _Walk, level: Sequence[str]) -> _Steps:
    """What the atoms of a level rest on by relationships."""
    atoms = [ref for ref in level if not walk.ancestors[ref].is_evidence]
    if not atoms:
        return []
    limit = _STEPS * walk.room
    # One step more than there may be tells that there are more.
    rows = tx.many(_SUPPORTS, **sight, refs=atoms, limit=limit + 1)
    walk.truncated |= len(rows) > limit
    return [(row.child, row, row.way) for row in rows[:limit]]


def _named(tx: Tx, sight: Mapping[str, Any], walk: _Walk, level: Sequence[str]) -> _Steps:
    """What the records of a level name as their sources, where that is a record."""
    names = sorted({name for ref in level for name in walk.named[ref]})
    if not names:
        return []
    limit = _STEPS * walk.room
    rows = tx.many(_SOURCES, **sight, names=names, limit=limit + 1)
    walk.truncated |= len(rows) > limit
    found: dict[str, list[SourceRow]] = {}
    for row in rows[:limit]:
        found.setdefault(row.name, []).append(row)
    return [
        (ref, row, "source_ref")
        for ref in level
        for name in walk.named[ref]
        for row in found.get(name, ())
        # A record that names itself says nothing of where it comes from.
        if row.ref != ref
    ]
