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

#: The bound that the walk's statement is written with; steps of one way.
DEPTH_MAX: Final = 64
_DEPTH: Final = 16
#: Lifecycle states whose atoms may stand in an ancestry; what was archived still supports.
_STATES: Final = ("active", "archived")


class AnalyzeRequest(Strict):
    """Whose ancestry, and how far it is followed."""

    atom_ref: AtomId
    #: Steps from the atom to its farthest ancestor that is looked for.
    max_depth: int = Field(default=_DEPTH, ge=1, le=DEPTH_MAX)


@dataclass(frozen=True, slots=True)
class ReachedRow:
    ref: str
    depth: int
    source_type: str | None
    source_ref: str | None
    checksum: str | None
    payload: str | None


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
    parent: str
    way: str


_REACH = procedure("provenance/reach_ancestors", ReachedRow)
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
    ancestry = Ancestry(asked.atom_ref, walk.ancestors, walk.supports, walk.truncated)
    return {**answer, "found": True, "max_depth": asked.max_depth, **analyze(ancestry)}


@dataclass(slots=True)
class _Walk:
    """An ancestry as far as it was walked, within its bounds: steps of one way, and ancestors in all."""

    depth_max: int
    room: int
    ancestors: dict[str, Ancestor] = field(default_factory=dict[str, Ancestor])
    supports: list[Support] = field(default_factory=list[Support])
    depths: dict[str, int] = field(default_factory=dict[str, int])
    #: Record → what it names as its sources, as far as that was not looked for yet.
    named: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    sought: set[str] = field(default_factory=set[str])
    truncated: bool = False

    def add(self, row: _Found, depth: int) -> None:
        """Take a record in, or note that it is nearer than was known."""
        self.depths[row.ref] = min(depth, self.depths.get(row.ref, depth))
        if row.ref in self.ancestors:
            return
        self.ancestors[row.ref] = Ancestor(row.ref, row.source_type, row.source_ref, row.checksum)
        stated: list[str] = json.loads(row.payload).get("source_refs") or [] if row.payload else []
        self.named[row.ref] = [*([row.source_ref] if row.source_ref else []), *stated]

    def touched(self, changes: Iterable[Change]) -> bool:
        """True if a write since concerns anything that was found, or that was looked for by name."""
        read = {*self.ancestors, *self.sought}
        return any(
            not read.isdisjoint({change["ref"], change["source_ref"], change["target_ref"]})
            for change in changes
        )


def _walked(tx: Tx, context: Context, asked: AnalyzeRequest) -> _Walk:
    """Walk up, and go on from what sources name, until nothing new comes or a bound is reached."""
    steward = context.identity.may("memory.steward")
    sight = {
        "shard": context.scope.shard,
        "classes": visible_classes(tx, context).classes,
        "states": [*_STATES, *(["proposed"] if steward else [])],
    }
    client = None if steward else context.identity.client_id
    walk = _Walk(asked.max_depth, context.settings.ancestors_max)
    subject = tx.many(_SOURCES, **sight, names=[asked.atom_ref], client=client, limit=1)
    for row in subject:
        walk.add(row, 0)
    starts = [row.ref for row in subject]
    while starts:
        _climb(tx, sight, walk, starts)
        starts = _follow_names(tx, {**sight, "client": client}, walk)
    atoms = [ref for ref, ancestor in walk.ancestors.items() if not ancestor.is_evidence]
    # One step more than there may be tells that there are more.
    steps = tx.many(_SUPPORTS, **sight, refs=atoms, limit=4 * walk.room + 1) if atoms else []
    known = [row for row in steps if row.parent in walk.ancestors]
    walk.truncated |= len(known) < len(steps) or len(steps) > 4 * walk.room
    walk.supports += [Support(row.child, row.parent, row.way) for row in known]
    return walk


def _climb(tx: Tx, sight: Mapping[str, Any], walk: _Walk, starts: Sequence[str]) -> None:
    """Take in what these atoms rest on natively. Those at one depth are walked together."""
    for depth in sorted({walk.depths[ref] for ref in starts}):
        left = walk.depth_max - depth
        here = [ref for ref in starts if walk.depths[ref] == depth]
        if left < 1:
            walk.truncated = True
            continue
        rows = tx.many(_REACH, **sight, starts=here, depth_max=left, limit=walk.room + 1)
        walk.truncated |= len(rows) > walk.room
        for row in sorted(rows, key=lambda row: (row.depth, row.ref)):
            if row.ref in walk.ancestors or len(walk.ancestors) <= walk.room:
                walk.add(row, depth + row.depth)
            else:
                walk.truncated = True


def _follow_names(tx: Tx, sight: Mapping[str, Any], walk: _Walk) -> list[str]:
    """Take in the records that are named as sources; the atoms among them that are new."""
    named, walk.named = walk.named, {}
    asked = {name for names in named.values() for name in names}
    if not asked:
        return []
    walk.sought |= asked
    rows = tx.many(_SOURCES, **sight, names=sorted(asked), limit=walk.room + 1)
    walk.truncated |= len(rows) > walk.room
    found: dict[str, list[SourceRow]] = {}
    for row in rows:
        found.setdefault(row.name, []).append(row)
    new: list[str] = []
    for child, names in sorted(named.items()):
        for row in (row for name in names for row in found.get(name, ())):
            depth = walk.depths[child] + 1
            if depth > walk.depth_max or (row.ref not in walk.ancestors and len(walk.ancestors) > walk.room):
                walk.truncated = True
                continue
            if row.ref not in walk.ancestors:
                new.append(row.ref)
            walk.add(row, depth)
            walk.supports.append(Support(child, row.ref, "source_ref"))
    return new
