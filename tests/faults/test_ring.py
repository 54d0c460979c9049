"""A ring of atoms that is rewoven under its readers is a ring at every moment (T04).

FoundationDB's cycle test: each writer takes four atoms that follow each other and lets the two in the
middle change places, three edges in one command. One half-done step, seen or kept, breaks the ring.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.queries.recall import recall
from amos_graph.queries.verify import verify
from tests.conftest import ContextOf
from tests.faults.crowd import at_once, attempt
from tests.faults.journal import checked_journal, rows
from tests.samples import belief, source_event

ATOMS = 30
_NATIVE = """
MATCH (a:Atom {shard: $shard})-[r:REQUIRES]->(b:Atom)
RETURN a.id AS ref, b.id AS follower
"""


@dataclass
class Ring:
    """The ring as its writers and readers reach it."""

    context: Context
    #: Set when all writers are done.
    ended: threading.Event = field(default_factory=threading.Event)

    def weave(self) -> None:
        """Thirty atoms, each of which asks for the edge to the next one."""
        names = [f"r{number}" for number in range(ATOMS)]
        atoms = [_link(ref, names[(index + 1) % ATOMS]) for index, ref in enumerate(names)]
        commit(self.context, {"events": [source_event()], "atoms": atoms})

    def listed(self) -> dict[str, tuple[str, int]]:
        """Each atom's follower and version, in one read."""
        page = list_atoms(self.context, {"limit": 100})
        return {item["atom_id"]: (_follower(item), item["version"]) for item in page["items"]}

    def rotate(self, chance: random.Random, mark: str) -> bool:
        """a → b → c → d becomes a → c → b → d, if nobody was faster."""
        links = self.listed()
        a = chance.choice(sorted(links))
        b = links[a][0]
        c = links[b][0]
        d = links[c][0]
        changes = {a: c, c: b, b: d}
        # The mark tells two writers apart that happen to want the same: the second one is refused.
        atoms = [_link(ref, to, mark, version=links[ref][1]) for ref, to in changes.items()]
        tried = attempt(partial(commit, self.context, {"atoms": atoms}))
        assert tried.code in ("ok", "expected_version_conflict"), tried.error
        return tried.code == "ok"


def _link(ref: str, follower: str, mark: str = "first", **version: int) -> dict[str, Any]:
    asked = [{"relation": "rel:requires", "target_ref": follower}]
    return belief(id=ref, payload={"object": f"link {ref} {mark}", "graph_relations": asked}, **version)


def _follower(item: Mapping[str, Any]) -> str:
    (asked,) = item["payload"]["graph_relations"]
    return asked["target_ref"]


def _check(follows: Callable[[str], str]) -> None:
    """From any atom on, the followers come to all thirty and back."""
    ref = "r0"
    seen: list[str] = []
    while ref not in seen:
        seen.append(ref)
        ref = follows(ref)
    assert ref == "r0", f"the ring is a hook: {seen}, back to {ref}"
    assert len(seen) == ATOMS, f"a ring of {len(seen)}: {seen}"


def _write(ring: Ring, name: int, rotations: int) -> int:
    chance = random.Random(name)  # noqa: S311 - which atoms, no secrets
    refused = done = 0
    while done < rotations:
        if ring.rotate(chance, f"{name} {done}"):
            done += 1
        else:
            refused += 1
    return refused


def _read(read: Callable[[], object], ring: Ring) -> int:
    """Read until the writers are done, and once more."""
    reads = 0
    while not ring.ended.is_set():
        read()
        reads += 1
    read()
    return reads


def _walk(context: Context) -> None:
    """Atom by atom, at the version at which the walk began; the last page of it is read long after."""
    version = list_atoms(context, {"limit": 1})["graph_version"]

    def follower(ref: str) -> str:
        answer = get_atom(context, {"atom_id": ref, "as_of_version": version})
        assert answer["graph_version"] <= version
        return _follower(answer["item"])

    _check(follower)


def _list(ring: Ring) -> None:
    """All atoms in one read of what stands now."""
    links = ring.listed()
    _check(lambda ref: links[ref][0])


def _recall(context: Context) -> None:
    """A packet is of one version, though it is made of many statements and walks the edges."""
    packet = recall(context, {"cues": ["link"], "max_items": ATOMS})
    found = {item["atom_ref"]: _follower(item) for item in packet["items"]}
    assert len(found) == ATOMS
    _check(lambda ref: found[ref])


@pytest.mark.reliability("T04")
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("rotations", [10, pytest.param(2_000, marks=pytest.mark.soak)])
def test_a_ring_stays_one_ring(context_of: ContextOf, graph: Graph, rotations: int) -> None:
    """Three writers, readers by walk, by listing and by packet: always exactly one ring of thirty."""
    ring = Ring(context_of())
    shard = ring.context.scope.shard
    ring.weave()
    writers = [partial(_write, ring, name, rotations) for name in range(3)]
    readers = [
        partial(_read, partial(_walk, ring.context), ring),
        partial(_read, partial(_list, ring), ring),
        partial(_read, partial(_recall, ring.context), ring),
    ]

    def writing() -> int:
        try:
            outcomes = at_once(writers)
        finally:
            ring.ended.set()
        assert {outcome.code for outcome in outcomes} == {"ok"}
        return sum(outcome.result or 0 for outcome in outcomes)

    outcomes = at_once([writing, *readers])

    assert {outcome.code for outcome in outcomes} == {"ok"}, [outcome.error for outcome in outcomes]
    assert all(outcome.result for outcome in outcomes[1:]), "a reader saw nothing"
    links = ring.listed()
    # Every rotation that was granted is three versions, and no other one is.
    assert sum(version for _, version in links.values()) == ATOMS + 3 * 3 * rotations
    native = rows(graph, _NATIVE, shard=shard)
    assert len(native) == ATOMS
    _check({row["ref"]: row["follower"] for row in native}.__getitem__)
    assert {row["ref"]: row["follower"] for row in native} == {ref: to for ref, (to, _) in links.items()}
    checked_journal(graph, shard)
    assert [fault.record() for fault in verify(graph, shard).faults] == []
