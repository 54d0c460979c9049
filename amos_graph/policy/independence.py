"""What supports an atom, and how much of it is independent (spec, "Root provenance analysis").

Ten citations of one witness are one testimony. So what counts is roots: evidence that rests on nothing
else that is known here, grouped by who testifies and by what is said word for word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import networkx as nx

#: The digest of a payload that says nothing; two of them are not the same testimony.
EMPTY_PAYLOAD: Final = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


#: Common ancestors that are told, the nearest, and supports that are named of each.
TOLD_MAX: Final = 100


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
    subject, known = ancestry.subject, ancestry.ancestors
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_node(subject)
    graph.add_edges_from((step.child, step.parent) for step in ancestry.supports)
    depths = nx.single_source_shortest_path_length(graph, subject)
    ends = [ref for ref in sorted(depths) if not graph[ref]]
    roots = [known[ref] for ref in ends if known[ref].is_evidence]
    groups = _independent(roots)
    circles = _circles(graph)
    return {
        "roots": [_root(root, depths[root.ref]) for root in roots],
        "independence_groups": groups,
        "independent_support_count": len(groups),
        "direct_citation_count": len(graph[subject]),
        "testimony_families": _families(roots),
        "common_ancestors": _common(subject, graph, depths),
        "ancestry_depth": max(depths.values()),
        "circular_support": circles,
        "self_descendant_support": _self_descendant(ancestry, circles),
        "unsupported_refs": [ref for ref in ends if not known[ref].is_evidence],
        "truncated": ancestry.truncated,
    }


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


def _common(subject: str, graph: nx.DiGraph[str], depths: Mapping[str, int]) -> list[dict[str, Any]]:
    """Ancestors that several of the direct supports lead to, nearest first, each by which of them.

    Each knot of circles is met once, after all that lead to it, and which supports do is one number, a
    bit for each: so the cost is that of the steps, however many supports there are.
    """
    branches = sorted(graph[subject])
    # Not by way of the subject: through a circle everything would lead to everything.
    knots = nx.condensation(graph.subgraph(set(graph) - {subject}))
    reached: dict[int, int] = dict.fromkeys(knots, 0)
    for place, branch in enumerate(branches):
        reached[knots.graph["mapping"][branch]] |= 1 << place
    for knot in nx.topological_sort(knots):
        for above in knots[knot]:
            reached[above] |= reached[knot]
    common = [
        (depths[ref], ref, reached[knot])
        for ref, knot in knots.graph["mapping"].items()
        if reached[knot].bit_count() > 1
    ]
    return [
        {
            "ref": ref,
            "depth": depth,
            "branch_count": ways.bit_count(),
            "branches": list(islice((b for place, b in enumerate(branches) if ways >> place & 1), TOLD_MAX)),
        }
        for depth, ref, ways in sorted(common)[:TOLD_MAX]
    ]


def _circles(graph: nx.DiGraph[str]) -> list[list[str]]:
    """Records that rest on themselves by way of each other; each list is one such knot."""
    return sorted(sorted(knot) for knot in nx.strongly_connected_components(graph) if len(knot) > 1)


def _self_descendant(ancestry: Ancestry, circles: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """What supports the subject and rests on it itself, such as a recalled text that was fed back."""
    own = {ref for circle in circles if ancestry.subject in circle for ref in circle}
    return [
        {"ref": step.child, "rests_on": step.parent, "way": step.way}
        for step in sorted(ancestry.supports, key=lambda step: (step.child, step.parent, step.way))
        if step.parent == ancestry.subject and step.child in own
    ]
