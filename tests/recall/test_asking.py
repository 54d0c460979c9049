"""What a cue asks for: edges of a relation that it names are followed first, and the trace says so."""

from __future__ import annotations

import math
from typing import Any

import pytest

from amos_graph.commands.execution import Context
from amos_graph.domain.dictionary import RELATIONS
from amos_graph.policy.asking import asked_relations
from tests.recall.samples import edge, fact, packet, store


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["need"], {"rel:requires", "rel:required_by"}),
        (["prerequisites"], {"rel:requires", "rel:required_by"}),
        (["causes"], {"rel:causes", "rel:caused_by"}),
        (["supporting"], {"rel:supports", "rel:supported_by"}),
        (["deploy", "7", "é"], set[str]()),
        ([], set[str]()),
    ],
)
def test_words_name_built_in_relations(words: list[str], named: set[str]) -> None:
    """A word of the table, or a form of a relation's own name, names it and its inverse."""
    assert asked_relations(words) & RELATIONS.keys() == named


@pytest.mark.parametrize("word", ["block", "blocks", "blocked", "blocking"])
def test_a_relation_of_a_shard_is_named_by_the_forms_of_its_name(word: str) -> None:
    """What a shard adds is asked for like what is built in."""
    assert "rel:blocks" in asked_relations([word])


def test_what_is_asked_for_is_not_one_of_many(context: Context) -> None:
    """Among nine references the one requirement is found, by its own degree, where the cue asks for it."""
    others = [f"atom_other{number}" for number in range(9)]
    store(
        context,
        fact("atom_engine", "The zeppelin engine runs."),
        fact("atom_oil", "Castor grease of the second grade."),
        *(fact(ref, f"Chapter {place} of a book about gardens.") for place, ref in enumerate(others)),
        edges=(
            edge("atom_engine", "requires", "atom_oil"),
            *(edge("atom_engine", "references", ref) for ref in others),
        ),
    )

    asked, plain = packet(context, "zeppelin need"), packet(context, "zeppelin")

    def passed(found: dict[str, Any], ref: str) -> float:
        return next(i for i in found["items"] if i["atom_ref"] == ref)["score_components"]["edge_activation"]

    assert asked["attention_trace"]["relation_refs"] == ["rel:requires"]
    assert plain["attention_trace"]["relation_refs"] == []
    seed = next(i for i in asked["items"] if i["atom_ref"] == "atom_engine")["score_components"]
    strength = max(seed["direct_cue_match"], seed["semantic_similarity"])
    assert passed(asked, "atom_oil") == pytest.approx(strength * 0.7 * 0.5, abs=1e-5)
    assert passed(plain, "atom_oil") == pytest.approx(0.7 * 0.5 / math.sqrt(10), abs=1e-5)
    assert {item["atom_ref"] for item in asked["items"][:2]} == {"atom_engine", "atom_oil"}


def test_the_past_is_asked_in_the_same_way(context: Context) -> None:
    """A packet of the version at hand follows what is asked for by the same numbers."""
    store(
        context,
        fact("atom_engine", "The zeppelin engine runs."),
        fact("atom_oil", "Castor grease of the second grade."),
        fact("atom_book", "A book about gardens."),
        edges=(
            edge("atom_engine", "requires", "atom_oil"),
            edge("atom_engine", "references", "atom_book"),
        ),
    )
    at = "2030-01-01T00:00:00Z"
    now = packet(context, "zeppelin need", evaluated_at=at)
    then = packet(context, "zeppelin need", evaluated_at=at, as_of_version=now["graph_version"])

    assert then["items"] == now["items"]
    assert then["attention_trace"]["relation_refs"] == ["rel:requires"]
