"""How much of what supports an atom is independent: decided from ancestors and steps alone."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from amos_graph.policy.independence import EMPTY_PAYLOAD, TOLD_MAX, Ancestor, Ancestry, Support, analyze


def evidence(ref: str, source_ref: str, checksum: str | None = None, kind: str = "document") -> Ancestor:
    return Ancestor(ref, kind, source_ref, checksum or f"sha256:{ref}")


def analyzed(*steps: tuple[str, str], known: tuple[Ancestor, ...] = ()) -> dict[str, Any]:
    """The analysis of atom `a` by its steps; what starts with `e` is evidence of a document of its own."""
    names = {name for step in steps for name in step} | {"a"}
    made = {name: evidence(name, f"doc:{name}") if name.startswith("e") else Ancestor(name) for name in names}
    made |= {one.ref: one for one in known}
    return analyze(Ancestry("a", made, [Support(child, parent, "derived_from") for child, parent in steps]))


def test_citations_of_one_root_count_once() -> None:
    """Three atoms that rest on one evidence are one independent support, however often they are cited."""
    found = analyzed(("a", "b"), ("a", "c"), ("a", "d"), ("b", "e1"), ("c", "e1"), ("d", "e1"))

    assert (found["direct_citation_count"], found["independent_support_count"]) == (3, 1)
    assert [root["evidence_id"] for root in found["roots"]] == ["e1"]
    assert found["common_ancestors"] == [
        {"ref": "e1", "depth": 2, "branch_count": 3, "branches": ["b", "c", "d"]}
    ]
    assert found["ancestry_depth"] == 2


def test_roots_of_one_witness_are_one_group() -> None:
    """Two turns of a conversation are one testimony family; a document beside them is another."""
    turns = (
        evidence("e1", "archive://session/42/turn/17", kind="conversation_turn"),
        evidence("e2", "archive://session/42/turn/18", kind="conversation_turn"),
        evidence("e3", "doc:handbook#4"),
        evidence("e4", "doc:handbook#9"),
    )

    found = analyzed(*(("a", one.ref) for one in turns), known=turns)

    assert [group["evidence_ids"] for group in found["independence_groups"]] == [["e1", "e2"], ["e3", "e4"]]
    assert {entry["family"] for entry in found["testimony_families"]} == {
        "conversation_turn archive://session/42/turn",
        "document doc:handbook",
    }


def test_the_same_words_from_two_sources_are_one_testimony() -> None:
    """A copy is no second witness; two payloads that say nothing are no copies."""
    copies = (evidence("e1", "site-a", "sha256:same"), evidence("e2", "site-b", "sha256:same"))
    silent = (evidence("e3", "site-c", EMPTY_PAYLOAD), evidence("e4", "site-d", EMPTY_PAYLOAD))

    found = analyzed(*(("a", one.ref) for one in copies + silent), known=copies + silent)

    assert [group["evidence_ids"] for group in found["independence_groups"]] == [["e1", "e2"], ["e3"], ["e4"]]
    assert found["independence_groups"][0]["families"] == ["document site-a", "document site-b"]


@pytest.mark.parametrize(
    ("source_ref", "family"),
    [
        ("archive://session/42/turn/17", "document archive://session/42/turn"),
        ("archive://session", "document archive://session"),
        ("doc:pep-0241", "document doc:pep-0241"),
        ("doc/pep-0241#status", "document doc/pep-0241"),
        ("/absolute", "document /absolute"),
        ("plain words", "document plain words"),
    ],
)
def test_a_family_is_the_source_without_its_last_part(source_ref: str, family: str) -> None:
    """A reference names its witness by all but the part that says where in it."""
    assert evidence("e", source_ref).family == family


def test_support_that_rests_on_the_atom_itself_is_named() -> None:
    """A recalled text that was fed back adds no root, and is told as self-descendant and as a circle."""
    found = analyzed(("a", "e1"), ("a", "e2"), ("e2", "a"))

    assert [root["evidence_id"] for root in found["roots"]] == ["e1"]
    assert found["independent_support_count"] == 1
    assert found["circular_support"] == [["a", "e2"]]
    assert found["self_descendant_support"] == [{"ref": "e2", "rests_on": "a", "way": "derived_from"}]


def test_a_circle_among_ancestors_is_no_support_of_ones_own() -> None:
    """Atoms that cite each other are a circle; without evidence behind them they bring no root."""
    found = analyzed(("a", "b"), ("b", "c"), ("c", "b"))

    assert found["circular_support"] == [["b", "c"]]
    assert (found["roots"], found["self_descendant_support"]) == ([], [])
    assert found["independent_support_count"] == 0


def test_an_atom_without_visible_support_is_named() -> None:
    """Where the walk ends at an atom, nothing that can be seen supports it."""
    found = analyzed(("a", "b"), ("a", "e1"))

    assert found["unsupported_refs"] == ["b"]
    assert analyzed()["unsupported_refs"] == ["a"]
    assert analyzed()["ancestry_depth"] == 0


def test_what_a_crowd_has_in_common_is_told_within_bounds() -> None:
    """Of many supports with many ancestors in common the nearest are told, and how many lead to each."""
    crowd, old = [f"b{number}" for number in range(300)], [f"c{number}" for number in range(300)]
    steps = [("a", one) for one in crowd] + [(one, "c0") for one in crowd]
    steps += list(itertools.pairwise(old))

    found = analyzed(*steps)["common_ancestors"]

    assert [entry["ref"] for entry in found] == old[:TOLD_MAX]
    assert {entry["branch_count"] for entry in found} == {300}
    assert {len(entry["branches"]) for entry in found} == {TOLD_MAX}
