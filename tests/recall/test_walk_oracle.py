"""Walk and inhibition in Cypher equal those in plain Python, over generated graphs that are hard on both."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import networkx as nx
import pytest

from amos_graph.graph.transactions import Graph
from amos_graph.policy.inhibition import by_edges, lowered
from amos_graph.queries.recall.candidates import Gate
from amos_graph.queries.recall.spread import BOUNDS, Bounds, spread
from amos_graph.queries.recall.traits import read_traits
from tests.administrator import run

AT = datetime(2026, 6, 1, tzinfo=UTC)
GATE = Gate(shard="", classes=("c1", "c2"), targeted=("c2",), cited=(), states=("live", "archived"), at=AT)
_WALKED = ("SUPPORTS", "CAUSES", "CONTRADICTS", "ADDED_LATER")
_NOT_WALKED = ("SUPERSEDES", "DERIVED_FROM", "SUMMARIZES", "ADJUDICATES", "INVOKES", *("INHIBITS",) * 6)

Reached = dict[str, tuple[float, str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class World:
    """A graph as rows: atoms by id, and edges with their two ends."""

    atoms: dict[str, dict[str, Any]]
    edges: list[dict[str, Any]]
    seeds: dict[str, float]


def world(number: int) -> World:
    """A generated graph: few distinct numbers, so that ties abound; loops of edges, parallels, the hidden."""
    size, density = (8, 20, 45)[number % 3], (1, 2, 4, 6)[number % 4]
    dice = random.Random(number)  # noqa: S311  # a repeatable sample, no secret
    atoms = {f"a{number:03}": _atom(dice) for number in range(size)}
    ids = list(atoms)
    edges = [
        {
            "edge_id": f"edge_{number:04}",
            "type": dice.choice(_WALKED if dice.random() < 0.75 else _NOT_WALKED),
            "weight": dice.choice([0.0, 0.5, 0.5, 0.8, 1.0, 1.0]),
            "confidence": dice.choice([0.5, 1.0, 1.0]),
            "access_class": dice.choice(["c1", "c1", "c1", "c2", "c2", "hidden"]),
            "ends": dice.sample(ids[: size // 2] if dice.random() < 0.5 else ids, 2),
        }
        for number in range(density * size)
    ]
    visible = [ref for ref, atom in atoms.items() if _enters(atom, GATE)]
    chosen = dice.sample(visible, min(len(visible), dice.randint(1, 8)))
    return World(atoms, edges, {ref: dice.choice([0.2, 0.5, 0.5, 1.0]) for ref in chosen})


def _atom(dice: random.Random) -> dict[str, Any]:
    bounds = (None, AT - timedelta(days=1), AT, AT + timedelta(days=1))
    return {
        "state_key": dice.choice(["live"] * 12 + ["archived", "stale", "superseded"]),
        "health_status": dice.choice(["healthy"] * 9 + ["privacy_sensitive"]),
        "access_class": dice.choice(["c1", "c1", "c1", "c1", "c2", "c2", "hidden"]),
        "valid_from": dice.choice([*(None,) * 16, *bounds]),
        "valid_until": dice.choice([*(None,) * 16, *bounds]),
        **_UNREAD,
    }


#: What an atom is scored by and neither walk nor inhibition looks at.
_UNREAD: dict[str, Any] = {
    "type": "semantic",
    "health_flags": [],
    "confidence_score": 0.5,
    "utility": 0.5,
    "salience": 0.5,
    "version": 1,
    "updated_at": AT,
    "search_text": "",
}


def _enters(atom: dict[str, Any], gate: Gate) -> bool:
    begins, ends = atom["valid_from"], atom["valid_until"]
    return (
        atom["access_class"] in gate.classes
        and atom["state_key"] in gate.states
        and (atom["health_status"] != "privacy_sensitive" or atom["access_class"] in gate.targeted)
        and (
            atom["state_key"] == "superseded"
            or ((begins is None or begins <= gate.at) and (ends is None or gate.at < ends))
        )
    )


def reference(given: World, gate: Gate, bounds: Bounds, asked: Collection[str] = ()) -> Reached:
    """The walk in networkx: what `spread` promises, written as plainly as can be."""
    graph: nx.MultiGraph[str] = nx.MultiGraph()
    for edge in given.edges:
        one, other = edge["ends"]
        strength = edge["weight"] * edge["confidence"]
        walked = edge["type"] in _WALKED and edge["access_class"] in gate.classes and strength > 0
        if walked:
            wanted = f"rel:{edge['type'].lower()}" in asked
            graph.add_edge(one, other, key=edge["edge_id"], strength=strength, other=not wanted)

    def steps(ref: str) -> list[tuple[bool, float, str, str]]:
        around = graph.edges(ref, keys=True, data=True) if ref in graph else ()
        eligible = [
            (data["other"], -data["strength"], other, key)
            for _, other, key, data in around
            if _enters(given.atoms[other], gate)
        ]
        return sorted(eligible)

    def hop(
        starts: list[tuple[str, float, str, tuple[str, ...]]],
    ) -> list[tuple[str, float, str, tuple[str, ...]]]:
        told: list[tuple[str, float, str, tuple[str, ...]]] = []
        for ref, activation, seed, path in starts:
            every = steps(ref)
            wanted = [step for step in every if not step[0]]
            taken = [step for step in every if step[2] != seed][: bounds.fan_out]
            for unasked, strength, other, key in taken:
                degree = len(every if unasked else wanted)
                passed = activation * -strength * bounds.decay / math.sqrt(degree)
                told.append((other, passed, seed, (*path, key)))
        return told

    def best(
        told: list[tuple[str, float, str, tuple[str, ...]]],
    ) -> list[tuple[str, float, str, tuple[str, ...]]]:
        chosen: dict[str, tuple[str, float, str, tuple[str, ...]]] = {}
        for entry in sorted(told, key=lambda entry: (-entry[1], len(entry[3]), entry[2], entry[3])):
            chosen.setdefault(entry[0], entry)
        return sorted(chosen.values(), key=lambda entry: (-entry[1], entry[0]))

    active = [(ref, value) for ref, value in given.seeds.items() if value > 0]
    seeds = sorted(active, key=lambda pair: (-pair[1], pair[0]))[: bounds.seeds]
    near = best(hop([(ref, activation, ref, ()) for ref, activation in seeds]))
    far = hop(near[: bounds.frontier])
    return {ref: (passed, seed, path) for ref, passed, seed, path in best([*near, *far])[: bounds.reached]}


def reference_inhibition(
    given: World, gate: Gate, activation: dict[str, float]
) -> dict[str, dict[str, float]]:
    """Target → inhibitor → what it takes, in networkx: over visible edges between visible atoms."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for edge in given.edges:
        seen = edge["access_class"] in gate.classes and all(_seen(given.atoms[e], gate) for e in edge["ends"])
        if edge["type"] == "INHIBITS" and seen:
            graph.add_edge(*edge["ends"], key=edge["edge_id"], strength=edge["weight"] * edge["confidence"])
    taken: dict[str, dict[str, float]] = {}
    for source, target, data in graph.edges(data=True):
        strength = min(1.0, activation.get(source, 0.0)) * data["strength"]
        if strength > 0:
            before = taken.setdefault(target, {}).get(source, 0.0)
            taken[target][source] = max(before, strength)
    return taken


def _seen(atom: dict[str, Any], gate: Gate) -> bool:
    private = atom["health_status"] == "privacy_sensitive" and atom["access_class"] not in gate.targeted
    return atom["access_class"] in gate.classes and not private


@contextmanager
def stored(graph: Graph, shard: str, given: World) -> Generator[None]:
    """The graph in Neo4j for as long as it is needed: a pure read is tested, so it is written directly."""
    atoms = [{"id": ref, "shard": shard, **atom} for ref, atom in given.atoms.items()]
    edges = [
        {
            **{name: edge[name] for name in ("type",)},
            "source": edge["ends"][0],
            "target": edge["ends"][1],
            "properties": {name: edge[name] for name in ("edge_id", "weight", "confidence", "access_class")},
        }
        for edge in given.edges
    ]
    run(
        graph,
        "UNWIND $rows AS row CREATE (a:Atom) SET a = row "
        "FOREACH (_ IN CASE WHEN row.state_key = 'live' THEN [1] ELSE [] END | SET a:Live) "
        "CREATE (a)-[:REFERS_TO]->(:Entity {shard: $shard, id: 'ent:noise:' + row.id})",
        rows=atoms,
        shard=shard,
    )
    run(
        graph,
        "CYPHER 25 UNWIND $rows AS row MATCH (a:Atom {shard: $shard, id: row.source}) "
        "MATCH (b:Atom {shard: $shard, id: row.target}) "
        "CREATE (a)-[r:$(row.type)]->(b) SET r = row.properties",
        rows=edges,
        shard=shard,
    )
    try:
        yield
    finally:
        run(graph, "MATCH (n {shard: $shard}) WHERE n:Atom OR n:Entity DETACH DELETE n", shard=shard)


def walked(graph: Graph, given: World, gate: Gate, bounds: Bounds, asked: Collection[str] = ()) -> Reached:
    """The same by Cypher."""
    found = graph.read("test", lambda tx: spread(tx, gate, given.seeds, asked, bounds))
    return {
        ref: (entry.strength, entry.seed, tuple(str(step["edge_id"]) for step in entry.path))
        for ref, entry in found.items()
    }


def assert_same(found: Reached, expected: Reached) -> None:
    """The same atoms in the same order, by the same ways, with the same activation to 1e-9."""
    assert list(found) == list(expected)
    for ref, (activation, seed, path) in expected.items():
        assert found[ref][1:] == (seed, path), ref
        assert math.isclose(found[ref][0], activation, rel_tol=0, abs_tol=1e-9), ref


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize(
    "bounds",
    [
        pytest.param(BOUNDS, id="ordinary bounds"),
        pytest.param(Bounds(seeds=3, fan_out=2, frontier=3, reached=7, decay=0.7), id="tight bounds"),
    ],
)
def test_the_walk_agrees_with_the_reference(graph: Graph, tenant: str, number: int, bounds: Bounds) -> None:
    """Ties at the bounds, hidden ends, cycles, parallel edges, other states and other instants included."""
    given = world(number)
    gate = replace(GATE, shard=f"{tenant}/w")
    with stored(graph, gate.shard, given):
        for asked in ((), ("rel:causes", "rel:added_later", "rel:absent")):
            assert_same(walked(graph, given, gate, bounds, asked), reference(given, gate, bounds, asked))


@pytest.mark.parametrize("number", range(12))
def test_inhibition_agrees_with_the_reference(graph: Graph, tenant: str, number: int) -> None:
    """Seeds are lowered before they walk, and every activated inhibitor takes what its edge says, to 1e-9."""
    given = world(number)
    gate = replace(GATE, shard=f"{tenant}/w")
    first = reference_inhibition(given, gate, given.seeds)
    seeds = {
        ref: max(0.0, value - max(first.get(ref, {}).values(), default=0.0))
        for ref, value in given.seeds.items()
    }
    reached = reference(replace(given, seeds=seeds), gate, BOUNDS)
    activation = {**given.seeds}
    for ref, (passed, _, _) in reached.items():
        activation[ref] = max(activation.get(ref, 0.0), passed)
    expected = reference_inhibition(given, gate, activation)

    with stored(graph, gate.shard, given):
        traits = graph.read("test", lambda tx: read_traits(tx, gate, given.atoms))
        entering = lowered(given.seeds, traits)
        found = walked(graph, replace(given, seeds=entering), gate, BOUNDS)
    taken: dict[str, dict[str, float]] = {}
    # Of atoms that the caller may not see a search reads nothing; here the traits of all were read.
    for one in by_edges(
        (entry for ref, entry in traits.items() if _seen(given.atoms[ref], gate)), activation
    ):
        if one.kind == "inhibiting_edge" and one.inhibitor:
            before = taken.setdefault(one.inhibited, {}).get(one.inhibitor, 0.0)
            taken[one.inhibited][one.inhibitor] = max(before, one.strength)

    assert_same(found, reached)
    assert taken.keys() == expected.keys()
    for ref, inhibitors in expected.items():
        assert taken[ref] == pytest.approx(inhibitors, abs=1e-9)


def test_generated_graphs_reach_every_hard_case() -> None:
    """The sample holds two-step paths, ties, and atoms that only hidden edges or atoms would reach."""
    longest = ties = cut = held = 0
    for number in range(12):
        given = world(number)
        expected = reference(given, GATE, BOUNDS)
        open_gate = replace(GATE, classes=("c1", "c2", "hidden"))
        longest = max([longest, *(len(path) for _, _, path in expected.values())])
        strengths = [round(activation, 12) for activation, _, _ in expected.values()]
        ties += len(strengths) - len(set(strengths))
        cut += len(reference(given, open_gate, BOUNDS)) - len(expected)
        held += len(reference_inhibition(given, GATE, given.seeds).keys() & given.seeds.keys())

    assert longest == 2
    assert ties > 10
    assert cut > 10
    assert held > 3


def test_raising_a_weight_never_lowers_what_passes_behind_it(graph: Graph, tenant: str) -> None:
    """Activation is monotone in the weight of an edge where no bound cuts."""
    given = world(2)
    wide = Bounds(seeds=50, fan_out=1000, frontier=1000, reached=1000)
    gate = replace(GATE, shard=f"{tenant}/w")
    # A weight of zero is no edge, and making one raises the degree of its ends.
    edges = [edge["edge_id"] for edge in given.edges if 0 < edge["weight"] < 1][:12]
    with stored(graph, gate.shard, given):
        before = walked(graph, given, gate, wide)
        for edge_id in edges:
            raise_weight = "MATCH (:Atom {shard: $shard})-[r {edge_id: $edge_id}]->() SET r.weight = 1.0"
            run(graph, raise_weight, shard=gate.shard, edge_id=edge_id)
            after = walked(graph, given, gate, wide)
            assert all(after[ref][0] >= activation for ref, (activation, _, _) in before.items())
            before = after
