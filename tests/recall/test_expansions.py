"""Accepted beliefs widen a cue: to instances of a concept, and to what an entity is said to relate to."""

from __future__ import annotations

import math
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.execution import Context
from amos_graph.policy.expansion import DECAY, REACHED_MAX, Expansion, proper
from amos_graph.policy.naming import COMMON_MAX
from tests.conftest import ContextOf
from tests.recall.samples import fact, packet, refs, store
from tests.samples import belief

LATE = "2099-01-01T00:00:00Z"
#: So many speak of it that sharing its name tells nothing.
MANY = COMMON_MAX + 2
ENTITIES = [
    {"id": "ent:concept:database", "canonical_name": "database"},
    {"id": "ent:tool:brigid", "canonical_name": "Brigid"},
    {"id": "ent:person:lena", "canonical_name": "Lena"},
    {"id": "ent:concept:kids", "canonical_name": "2 younger kids"},
]


def said(ref: str, subject: str, relation: str, obj: str, **changes: Any) -> dict[str, Any]:
    payload = {"subject": f"ent:{subject}", "relation": f"rel:{relation}", "object": f"ent:{obj}"}
    return belief(id=ref, payload=payload, confidence={"level": "high", "score": 0.8}, **changes)


def about(entity: str, count: int = MANY) -> list[dict[str, Any]]:
    return [
        fact(f"{entity}{place:02}", f"It stood still in hour {place}", payload={"topic": f"ent:{entity}"})
        for place in range(count)
    ]


def ways(found: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Relation, name and source of the steps by which items without a word of the cue came."""
    steps = [item["activation_path"][-1] for item in found["items"] if item["activation_path"]]
    return {(step["relation"], step["name"], step["source"]) for step in steps if "name" in step}


def test_a_concept_reaches_what_is_known_of_its_instances(context: Context) -> None:
    """However many speak of the instance; by the match, the confidence and the number of instances."""
    store(
        context,
        said("kind", "tool:brigid", "is_a", "concept:database"),
        *about("tool:brigid"),
        entities=ENTITIES,
    )

    found = packet(context, "Which database was slow?", max_items=60, evaluated_at=LATE)

    assert ("rel:is_a", "ent:tool:brigid", "kind") in ways(found)
    reached = [item for item in found["items"] if item["atom_ref"].startswith("tool:brigid")]
    assert len(reached) == REACHED_MAX
    direct = next(i for i in found["items"] if i["atom_ref"] == "kind")["score_components"][
        "direct_cue_match"
    ]
    for item in reached:
        assert item["score_components"]["edge_activation"] == pytest.approx(direct * 0.8 * DECAY, abs=1e-5)


def test_a_subject_reaches_what_it_is_said_to_relate_to_and_an_instance_not_its_concept(
    context: Context,
) -> None:
    """From Lena to what she owns; a cue about an instance is not spread over its whole concept."""
    store(
        context,
        said("owns", "person:lena", "owns", "tool:brigid"),
        said("kind", "tool:brigid", "is_a", "concept:database"),
        *about("tool:brigid"),
        *about("concept:database"),
        entities=ENTITIES,
    )

    assert ("rel:owns", "ent:tool:brigid", "owns") in ways(packet(context, "Lena", max_items=60))
    assert not {way for way in ways(packet(context, "Brigid", max_items=100)) if way[0] == "rel:is_a"}


def test_a_vague_phrase_widens_nothing(context: Context) -> None:
    """What has no proper name would lead everywhere."""
    store(
        context,
        said("has", "person:lena", "knows", "concept:kids"),
        *about("concept:kids"),
        entities=ENTITIES,
    )

    assert refs(packet(context, "Lena", max_items=60)) == ["has"]


@pytest.mark.parametrize(
    ("name", "leads"),
    [
        ("Brigid", True),
        ("redis", True),
        ("Lena Hartmann", True),
        ("2 younger kids", False),
        ("Melanie's kids", False),
        ("the boss", False),
        ("some Tools", False),
        ("younger kids", False),
    ],
)
def test_only_what_has_a_name_of_its_own_is_led_to(name: str, leads: bool) -> None:
    """The guard of learned vocabulary (AIMAOS): a head that fits everything dilutes a whole topic."""
    each = Expansion("ent:a:b", "belief", "rel:owns", 0.9, "ent:c:d", name, along=True)

    assert bool(proper([each])) is leads


def test_an_expansion_goes_with_its_belief_and_the_past_knows_it(context: Context) -> None:
    """Read from the belief: archived, it widens nothing; as of before, it still does, by the same numbers."""
    store(
        context,
        said("kind", "tool:brigid", "is_a", "concept:database"),
        *about("tool:brigid"),
        entities=ENTITIES,
    )
    before = packet(context, "database", max_items=60, evaluated_at=LATE)
    archive(context, {"atom_id": "kind", "reason": "it was none"})
    after = packet(context, "database", max_items=60, evaluated_at=LATE)
    then = packet(context, "database", max_items=60, evaluated_at=LATE, as_of_version=before["graph_version"])

    assert len(refs(before)) == 1 + REACHED_MAX
    assert refs(after) == []
    assert then["items"] == before["items"]


@pytest.mark.reliability("T19")
def test_hidden_beliefs_widen_nothing_and_dilute_nothing(context_of: ContextOf) -> None:
    """Instances that the caller may not see are not counted among those that share the activation."""
    store(
        context_of(),
        said("kind", "tool:brigid", "is_a", "concept:database"),
        *about("tool:brigid"),
        entities=[*ENTITIES, {"id": "ent:tool:corvid", "canonical_name": "Corvid"}],
    )
    before = packet(context_of(), "database", max_items=60, evaluated_at=LATE)
    hidden = context_of(scope={"project_id": "secret"})
    store(
        hidden,
        said("hidden", "tool:corvid", "is_a", "concept:database"),
        said("other", "tool:brigid", "part_of", "concept:database"),
    )
    after = packet(context_of(), "database", max_items=60, evaluated_at=LATE)

    assert [item["score_parts"] for item in after["items"]] == [
        item["score_parts"] for item in before["items"]
    ]
    assert refs(after) == refs(before)
    both = packet(hidden, "database", max_items=60, evaluated_at=LATE)
    shares = [
        item["score_components"]["edge_activation"]
        for item in both["items"]
        if item["atom_ref"].startswith("tool:brigid")
    ]
    assert shares
    assert max(shares) == pytest.approx(0.8 * DECAY / math.sqrt(3), abs=1e-5)
