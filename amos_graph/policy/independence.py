"""What supports an atom, and how much of it is independent (spec, "Root provenance analysis").

Ten citations of one witness are one testimony. So what counts is roots: evidence that rests on nothing
else that is known here, grouped by who testifies and by what is said word for word.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import networkx as nx

#: The digest of a payload that says nothing; two of them are not the same testimony.
EMPTY_PAYLOAD: Final = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@dataclass(frozen=True, slots=True)
class Ancestor:
    """An atom, or evidence with what tells whose testimony it is."""

    ref: str
    source_type: str | None = None
    source_ref: str | None = None
    checksum: str | None = None

    @property
    def is_evidence(self) -> bool:
        return self.source_type is not None

    @property
    def family(self) -> str:
        """The testimony family: who or what the source is, whatever it said and how often.

        That is the source's type and its reference up to the last part: all turns of one conversation,
        all results of one tool, all passages of one document.
        """
        document, passage, _ = (self.source_ref or "").partition("#")
        head, _, _ = document.rpartition("/")
        whole = passage or not head or head.endswith(("/", ":"))
        return f"{self.source_type} {document if whole else head}"


@dataclass(frozen=True, slots=True)
class Support:
    """One step: `child` rests on `parent`."""

    child: str
    parent: str
    way: str


@dataclass(frozen=True, slots=True)
class Ancestry:
    """What was found of an atom's ancestors, the atom itself among them."""

    subject: str
    ancestors: Mapping[str, Ancestor]
    supports: Sequence[Support]
    #: True where the walk ended for a bound and not for want of ancestors.
    truncated: bool = False


def analyze(ancestry: Ancestry) -> dict[str, Any]:
    """Roots, independence groups, testimony families, common ancestors, depth and circles, as data."""
    parents: dict[str, list[str]] = defaultdict(list)
    for step in sorted(ancestry.supports, key=lambda step: (step.child, step.parent)):
        if step.parent not in parents[step.child]:
            parents[step.child].append(step.parent)
    depths = _depths(ancestry.subject, parents)
    known = ancestry.ancestors
    roots = [known[ref] for ref in sorted(depths) if known[ref].is_evidence and not parents[ref]]
    groups = _independent(roots)
    circles = _circles(depths, parents)
    return {
        "roots": [_root(root, depths[root.ref]) for root in roots],
        "independence_groups": groups,
        "independent_support_count": len(groups),
        "direct_citation_count": len(parents[ancestry.subject]),
        "testimony_families": _families(roots),
        "common_ancestors": _common(ancestry.subject, parents, depths),
        "ancestry_depth": max(depths.values()),
        "circular_support": circles,
        "self_descendant_support": _self_descendant(ancestry, circles),
        "unsupported_refs": [
            ref for ref in sorted(depths) if not parents[ref] and not known[ref].is_evidence
        ],
        "truncated": ancestry.truncated,
    }


def _depths(subject: str, parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Each ancestor with its least distance from the subject, which is at 0."""
    depths, queue = {subject: 0}, deque([subject])
    while queue:
        child = queue.popleft()
        for parent in parents.get(child, ()):
            if parent not in depths:
                depths[parent] = depths[child] + 1
                queue.append(parent)
    return depths


def _root(root: Ancestor, depth: int) -> dict[str, Any]:
    return {
        "evidence_id": root.ref,
        "source_type": root.source_type,
        "source_ref": root.source_ref,
        "checksum": root.checksum,
        "testimony_family": root.family,
        "depth": depth,
    }


def _families(roots: Iterable[Ancestor]) -> list[dict[str, Any]]:
    families: dict[str, list[str]] = defaultdict(list)
    for root in roots:
        families[root.family].append(root.ref)
    return [{"family": family, "evidence_ids": refs} for family, refs in sorted(families.items())]


def _independent(roots: Sequence[Ancestor]) -> list[dict[str, Any]]:
    """Roots that share a witness or the very same content stand and fall together: one group."""
    together: nx.Graph[tuple[str, str]] = nx.Graph()
    for root in roots:
        me = ("root", root.ref)
        together.add_edge(me, ("family", root.family))
        if root.checksum is not None and root.checksum != EMPTY_PAYLOAD:
            together.add_edge(me, ("content", root.checksum))
    groups = [
        sorted(name for kind, name in part if kind == "root") for part in nx.connected_components(together)
    ]
    by_ref = {root.ref: root for root in roots}
    return [
        {"evidence_ids": refs, "families": sorted({by_ref[ref].family for ref in refs})}
        for refs in sorted(groups)
    ]


def _common(
    subject: str, parents: Mapping[str, Sequence[str]], depths: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Ancestors that several of the direct supports lead to, each by which of them."""
    branches: dict[str, list[str]] = defaultdict(list)
    for direct in parents.get(subject, ()):
        # Not by way of the subject: through a circle everything would lead to everything.
        for ref in _depths(direct, {**parents, subject: ()}):
            if ref != subject:
                branches[ref].append(direct)
    return [
        {"ref": ref, "depth": depths[ref], "branches": sorted(ways)}
        for ref, ways in sorted(branches.items())
        if len(ways) > 1
    ]


def _circles(refs: Collection[str], parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Records that rest on themselves by way of each other; each list is one such knot."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(refs)
    graph.add_edges_from((child, parent) for child in refs for parent in parents.get(child, ()))
    knots = [sorted(part) for part in nx.strongly_connected_components(graph)]
    return sorted(knot for knot in knots if len(knot) > 1 or graph.has_edge(knot[0], knot[0]))


def _self_descendant(ancestry: Ancestry, circles: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """What supports the subject and rests on it itself, such as a recalled text that was fed back."""
    own = {ref for circle in circles if ancestry.subject in circle for ref in circle}
    return [
        {"ref": step.child, "rests_on": step.parent, "way": step.way}
        for step in sorted(ancestry.supports, key=lambda step: (step.child, step.parent, step.way))
        if step.parent == ancestry.subject and step.child in own
    ]
