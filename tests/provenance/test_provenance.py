"""`provenance:analyze` on a real graph, held against an oracle that walks the same records in memory."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import networkx as nx
import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Identity
from amos_graph.errors import AmosError
from amos_graph.queries.provenance import DEPTH_MAX, analyze_provenance
from amos_graph.queries.recall import recall
from amos_graph.queries.versions import head_version
from tests.conftest import ContextOf
from tests.samples import source_event

Json = dict[str, Any]


def fact(ref: str, *evidence: str, **changes: Any) -> Json:
    """A semantic atom on evidence."""
    return {
        "id": ref,
        "type": "semantic",
        "payload": {"statement": f"{ref} is so", **changes.pop("payload", {})},
        "evidence_refs": list(evidence) or ["evd_turn1"],
        "confidence": {"level": "high"},
        **changes,
    }


def derived(source: str, target: str, **changes: Any) -> Json:
    """The edge by which one atom derives from another."""
    return {
        "source_ref": source,
        "target_ref": target,
        "relation": "rel:derived_from",
        "evidence_refs": ["evd_turn1"],
        "confidence": {"level": "high"},
        **changes,
    }


def analysis(context: Context, ref: str, **asked: Any) -> Json:
    return analyze_provenance(context, {"atom_ref": ref, **asked})


def document(number: int, **changes: Any) -> Json:
    """Evidence from a document of its own."""
    ref = f"evd_{number}"
    return source_event(
        ref, **{"source_type": "document", "source_ref": f"doc:{number}", "payload": {"n": number}, **changes}
    )


def test_an_ancestry_is_followed_to_its_roots(context: Context) -> None:
    """Derivation, evidence and named sources lead to the roots; what they have in common is named."""
    commit(
        context,
        {
            "events": [source_event(), document(1), document(2, source_ref="fact:root")],
            "atoms": [
                fact("fact:root", "evd_1"),
                fact("fact:left", "evd_2"),
                fact("fact:right", "evd_turn1", payload={"source_refs": ["fact:root"]}),
                fact("fact:top", "evd_turn1"),
            ],
            "edges": [derived("fact:top", "fact:left"), derived("fact:top", "fact:right")],
        },
    )

    found = analysis(context, "fact:top")

    assert found["found"]
    assert [(root["evidence_id"], root["depth"]) for root in found["roots"]] == [
        ("evd_1", 3),
        ("evd_turn1", 1),
    ]
    assert {entry["ref"]: entry["branches"] for entry in found["common_ancestors"]} == {
        "evd_1": ["fact:left", "fact:right"],
        "evd_turn1": ["evd_turn1", "fact:right"],
        "fact:root": ["fact:left", "fact:right"],
    }
    assert (found["ancestry_depth"], found["truncated"], found["circular_support"]) == (3, False, [])
    assert found["graph_version"] == context.graph.read(
        "head", lambda tx: head_version(tx, context.scope.shard)
    )


def test_a_recalled_text_that_is_fed_back_adds_nothing(context: Context) -> None:
    """Evidence that names a packet, or the memory, as its source leads back to what was in it."""
    commit(context, {"events": [document(1)], "atoms": [fact("fact:tide", "evd_1")]})
    packet = recall(context, {"cues": ["tide"]})
    assert [item["atom_ref"] for item in packet["items"]] == ["fact:tide"]
    context.graph.outbox.flush()
    echo = document(2, source_type="model_output", source_ref=packet["packet_id"])
    record = {"id": "fact:tide", "evidence_refs": ["evd_1", "evd_2"]}

    commit(
        replace(context, expected_versions={"fact:tide": 1}),
        {"events": [echo], "atoms": [{**fact("fact:tide"), **record}]},
    )

    found = analysis(context, "fact:tide")
    assert found["direct_citation_count"] == 2
    assert [root["evidence_id"] for root in found["roots"]] == ["evd_1"]
    assert found["independent_support_count"] == 1
    assert found["self_descendant_support"] == [
        {"ref": "evd_2", "rests_on": "fact:tide", "way": "source_ref"}
    ]


def test_an_archived_source_still_supports_and_a_proposal_is_the_stewards(context_of: ContextOf) -> None:
    """What was put away is part of the past of what came from it; what is no memory yet shows to stewards."""
    context = context_of()
    commit(
        context,
        {
            "events": [source_event(), document(1)],
            "atoms": [fact("fact:old", "evd_1"), fact("fact:new")],
            "edges": [derived("fact:new", "fact:old")],
        },
    )
    archive(context, {"atom_id": "fact:old", "reason": "merged"})
    propose(context, {"candidates": [fact("fact:maybe", "evd_1")]})
    reader = replace(context.identity, capabilities=frozenset({"memory.read"}))

    assert {root["evidence_id"] for root in analysis(context, "fact:new")["roots"]} == {"evd_1", "evd_turn1"}
    assert analysis(context, "fact:maybe")["found"]
    assert not analysis(context_of(reader), "fact:maybe")["found"]


def test_evidence_that_names_itself_is_a_root(context: Context) -> None:
    """It says nothing of where it comes from, so it rests on nothing that is known."""
    commit(context, {"events": [document(1, source_ref="evd_1")], "atoms": [fact("fact:one", "evd_1")]})

    found = analysis(context, "fact:one")

    assert [root["evidence_id"] for root in found["roots"]] == ["evd_1"]
    assert found["circular_support"] == []


@pytest.mark.reliability("T20")
def test_hidden_ancestors_are_not_there(context_of: ContextOf, caller: Identity) -> None:
    """A hidden atom answers like an absent one, and a hidden ancestor leaves no trace in the analysis."""
    context = context_of()
    hidden = {"access_policy": {"allowed_identities": ["cli_other", caller.client_id]}}
    commit(
        context,
        {
            "events": [source_event(), document(1), document(2, **hidden)],
            "atoms": [
                fact("fact:seen", "evd_1", "evd_2"),
                fact("fact:hidden", "evd_1", **hidden),
            ],
            "edges": [derived("fact:seen", "fact:hidden", **hidden)],
        },
    )
    other = context_of(replace(caller, client_id="cli_stranger", service_id="svc:stranger"))

    absent = analysis(other, "fact:absent")
    found = analysis(other, "fact:seen")

    assert {**analysis(other, "fact:hidden"), "atom_ref": "fact:absent"} == absent
    assert [root["evidence_id"] for root in found["roots"]] == ["evd_1"]
    assert (found["direct_citation_count"], found["common_ancestors"]) == (1, [])
    assert "fact:hidden" in str(analysis(context, "fact:seen"))


def test_bounds_end_the_walk_and_are_told(context: Context) -> None:
    """A chain longer than max_depth and an ancestry larger than its limit are truncated, and say so."""
    chain = [f"fact:{number:02}" for number in range(6)]
    steps = [derived(child, parent) for child, parent in itertools.pairwise(chain)]
    events = [source_event(), document(1)]
    atoms = [fact(ref, "evd_1" if ref == chain[-1] else "evd_turn1") for ref in chain]
    commit(context, {"events": events, "atoms": atoms, "edges": steps})
    small = replace(context, settings=context.settings.model_copy(update={"ancestors_max": 2}))

    assert analysis(context, chain[0], max_depth=6)["truncated"] is False
    near = analysis(context, chain[0], max_depth=5)
    assert (near["truncated"], [root["evidence_id"] for root in near["roots"]]) == (True, ["evd_turn1"])
    assert near["ancestry_depth"] == 5
    assert analysis(small, chain[0])["truncated"] is True
    for bad in (0, DEPTH_MAX + 1):
        with pytest.raises(AmosError, match="max_depth"):
            analysis(context, chain[0], max_depth=bad)


@pytest.mark.parametrize("seed", range(4))
def test_generated_graphs_with_circles_agree_with_the_oracle(context: Context, seed: int) -> None:
    """Ancestors, roots, depth, circles and common ancestors are those of the records as they were made."""
    # No secret depends on it, and a failure has to come again.
    made = random.Random(seed)  # noqa: S311
    refs = [f"fact:{number}" for number in range(14)]
    proofs = [f"evd_{number}" for number in range(8)]
    steps = {(made.choice(refs), made.choice(refs)) for _ in range(20)}
    steps = {(child, parent) for child, parent in steps if child != parent}
    cited = {ref: made.sample(proofs, made.randint(1, 2)) for ref in refs}
    echoes = {proof: made.choice(refs) for proof in proofs if made.random() < 0.4}
    events = [
        document(number, source_ref=echoes.get(proof, f"doc:{number}")) for number, proof in enumerate(proofs)
    ]
    commit(
        context,
        {
            "events": [source_event(), *events],
            "atoms": [fact(ref, *cited[ref]) for ref in refs],
            "edges": [derived(child, parent) for child, parent in sorted(steps)],
        },
    )
    graph: nx.DiGraph[str] = nx.DiGraph(steps)
    graph.add_edges_from((ref, proof) for ref in refs for proof in cited[ref])
    graph.add_edges_from(echoes.items())

    for ref in refs:
        found = analysis(context, ref, max_depth=DEPTH_MAX)
        assert expected(graph, ref, proofs) == {name: found[name] for name in expected(graph, ref, proofs)}


def expected(graph: nx.DiGraph[str], ref: str, proofs: Iterable[str]) -> Json:
    """The analysis by networkx alone, root by root and way by way."""
    distance = nx.single_source_shortest_path_length(graph, ref)
    near = graph.subgraph(distance)
    roots = sorted(proof for proof in proofs if proof in distance and graph.out_degree(proof) == 0)
    others = graph.subgraph(set(graph) - {ref})
    ways = {direct: set(nx.single_source_shortest_path_length(others, direct)) for direct in graph[ref]}
    shared = {
        other: sorted(direct for direct, reached in ways.items() if other in reached)
        for other in sorted(distance)
        if other != ref
    }
    circles = {
        tuple(sorted(one for one in near if nx.has_path(near, one, other) and nx.has_path(near, other, one)))
        for other in near
    }
    return {
        "ancestry_depth": max(distance.values()),
        "circular_support": sorted(list(circle) for circle in circles if len(circle) > 1),
        "common_ancestors": [
            {
                "ref": other,
                "depth": distance[other],
                "branch_count": len(shared[other]),
                "branches": shared[other],
            }
            for other in sorted(shared, key=lambda ref: (distance[ref], ref))
            if len(shared[other]) > 1
        ],
        "direct_citation_count": graph.out_degree(ref),
        "independent_support_count": len(roots),
        "truncated": False,
    }


def test_a_knot_of_circles_and_a_ladder_of_diamonds_are_walked_once(context: Context) -> None:
    """Where the number of ways is beyond counting, each record is still met once (20! and 2^20 ways)."""
    knot = [f"knot:{number}" for number in range(20)]
    ladder = [f"step:{number}:{side}" for number in range(20) for side in "ab"]
    rungs = itertools.product(range(19), "ab", "ab")
    commit(
        context,
        {
            "events": [source_event()],
            "atoms": [fact(ref) for ref in (*knot, *ladder)],
            "edges": [
                *(derived(child, parent) for child, parent in itertools.permutations(knot, 2)),
                *(derived(f"step:{n}:{one}", f"step:{n + 1}:{other}") for n, one, other in rungs),
            ],
        },
    )

    tangled, laddered = (analysis(context, ref, max_depth=DEPTH_MAX) for ref in ("knot:0", "step:0:a"))

    assert (tangled["circular_support"], tangled["ancestry_depth"]) == ([sorted(knot)], 1)
    assert (laddered["circular_support"], laddered["ancestry_depth"]) == ([], 19)
    assert {found["independent_support_count"] for found in (tangled, laddered)} == {1}
    assert not tangled["truncated"]
