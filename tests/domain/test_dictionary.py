"""The built-in dictionaries, and what a shard may add to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from amos_graph.domain.atoms import PAYLOADS
from amos_graph.domain.dictionary import (
    EDGE_RELATIONS,
    ENUMS,
    PAYLOAD_RELATIONS,
    PROVENANCE_RELATIONS,
    RELATIONS,
    STRUCTURAL_TYPES,
    VOCABULARIES,
)
from amos_graph.domain.entries import EntityRecord, EnumEntry, RelationEntry
from amos_graph.domain.ids import EnumId, RelationId, relationship_type
from amos_graph.domain.lifecycle import HEALTH_STATUSES, LAYERS
from amos_graph.domain.model import Strict, validate
from amos_graph.errors import AmosError

NAMED_BY_THE_SPEC = {
    "temporal": "rel:precedes",
    "co-reference": "rel:co_refers",
    "similarity": "rel:similar_to",
    "causal": "rel:causes",
    "goal relevance": "rel:goal_relevance",
    "procedural trigger": "rel:triggers",
    "contradiction": "rel:contradicts",
    "support": "rel:supports",
    "abstraction": "rel:abstracts",
    "co-activation": "rel:co_activates",
    "inhibition": "rel:inhibits",
    "exception": "rel:exception_to",
    "supersession": "rel:supersedes",
}


class Ids(Strict):
    """The two id shapes of the dictionaries."""

    relation: RelationId | None = None
    enum: EnumId | None = None


def refused(model: type[Strict], value: dict[str, Any]) -> list[str]:
    with pytest.raises(AmosError) as refusal:
        validate(model, value)
    assert refusal.value.code == "schema_invalid"
    return [fault.path for fault in refusal.value.faults]


# --- relations -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "relation"), sorted(NAMED_BY_THE_SPEC.items()))
def test_each_association_of_the_spec_is_an_edge_relation_that_says_so(name: str, relation: str) -> None:
    assert RELATIONS[relation].kind == "edge"
    assert RELATIONS[relation].description.startswith(name)


def test_edge_and_payload_relations_are_told_apart() -> None:
    assert not EDGE_RELATIONS & PAYLOAD_RELATIONS
    assert set(RELATIONS) == EDGE_RELATIONS | PAYLOAD_RELATIONS
    for used in ("rel:responsible_for", "rel:working_on", "rel:prefers", "rel:max_capacity", "rel:title"):
        assert used in PAYLOAD_RELATIONS


def test_an_inverse_leads_back_and_a_symmetric_relation_is_its_own() -> None:
    for relation in RELATIONS.values():
        if relation.inverse is not None:
            inverse = RELATIONS[relation.inverse]
            assert inverse.inverse == relation.id
            assert inverse.kind == relation.kind
            assert inverse.spread_weight == relation.spread_weight
        assert relation.symmetric == (relation.inverse == relation.id)


def test_provenance_passes_no_activation_and_all_else_does_or_takes_it() -> None:
    assert {
        *("rel:supersedes", "rel:derived_from", "rel:summarizes"),
        *("rel:adjudicates", "rel:invokes"),
    } == PROVENANCE_RELATIONS
    still = {ref for ref in EDGE_RELATIONS if RELATIONS[ref].spread_weight == 0}
    assert still == PROVENANCE_RELATIONS
    assert RELATIONS["rel:inhibits"].spread_weight == 1.0
    assert all(0 <= relation.spread_weight <= 1 for relation in RELATIONS.values())


def test_what_is_protected_is_never_prunable() -> None:
    protected = {relation.id for relation in RELATIONS.values() if relation.protected}
    prunable = {relation.id for relation in RELATIONS.values() if relation.prunable}

    assert protected == PROVENANCE_RELATIONS | {"rel:contradicts", "rel:corrects", "rel:governs"}
    assert {"rel:similar_to", "rel:co_activates", "rel:causes", "rel:precedes"} <= prunable
    assert not protected & prunable
    assert protected | prunable <= EDGE_RELATIONS


def test_every_id_is_well_formed_and_every_definition_says_what_it_means() -> None:
    for ref, relation in RELATIONS.items():
        assert validate(Ids, {"relation": ref}).relation == relation.id
        assert relation.description
    for ref, value in ENUMS.items():
        assert validate(Ids, {"enum": ref}).enum == value.id == f"enum:{value.group}:{value.value}"
        assert value.description


def test_no_relation_has_the_native_type_of_a_structure_that_the_statements_use() -> None:
    used: set[str] = set()
    for statement in (Path(__file__).parents[2] / "cypher").rglob("*.cypher"):
        # A relationship type stands in brackets after a colon, alternatives after a bar.
        for types in re.findall(r"\[\w*:([A-Z_|]+)", statement.read_text()):
            used.update(types.split("|"))
    native = {relationship_type(ref) for ref in EDGE_RELATIONS}

    assert not native & STRUCTURAL_TYPES
    assert used <= STRUCTURAL_TYPES | native


# --- controlled values -----------------------------------------------------------------------


def test_the_vocabularies_are_those_that_validate() -> None:
    assert VOCABULARIES["layer"] == LAYERS
    assert len(LAYERS) == 6
    assert VOCABULARIES["health_status"] == HEALTH_STATUSES
    for atom_type, field in (
        ("belief", "modality"),
        ("preference", "polarity"),
        ("preference", "strength"),
        ("goal", "goal_status"),
        ("goal", "priority"),
        ("commitment", "commitment_status"),
        ("action_outcome", "success_status"),
        ("interaction_event", "role"),
        ("interaction_event", "visibility"),
    ):
        annotation = PAYLOADS[atom_type].model_fields[field].annotation
        allowed = get_args(next((part for part in get_args(annotation) if get_args(part)), annotation))
        assert VOCABULARIES[field] == allowed
    assert "enum:layer:immediate" in ENUMS
    assert "enum:edge_health_status:trusted" in ENUMS


def test_a_definition_is_kept_as_json_with_owner_and_deprecation_state() -> None:
    record = RELATIONS["rel:supports"].record()

    assert record["owner_scope"] == "system"
    assert record["deprecation_state"] == "current"
    assert record["inverse"] == "rel:supported_by"
    assert ENUMS["enum:layer:immediate"].record()["group"] == "layer"


# --- additions of a shard --------------------------------------------------------------------

OWN = {"id": "rel:mentors", "kind": "edge", "description": "teaches at work"}


def test_a_shard_adds_a_relation_with_a_middling_weight() -> None:
    entry = validate(RelationEntry, OWN)

    assert entry.record()["spread_weight"] == 0.5
    assert entry.record()["deprecation_state"] == "current"


@pytest.mark.case("C76")
@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"id": "rel:supports"}, "id"),
        ({"id": "rel:working_on"}, "id"),
        ({"id": "rel:refers_to"}, "id"),
        ({"id": "rel:next"}, "id"),
        ({"id": "rel:of"}, "id"),
        ({"id": "rel:x`) detach delete n //"}, "id"),
        ({"id": "rel:Mentors"}, "id"),
        ({"kind": "node"}, "kind"),
        ({"description": " "}, "description"),
        ({"inverse": "mentored_by"}, "inverse"),
        ({"symmetric": True, "inverse": "rel:mentored_by"}, "inverse"),
        ({"protected": True, "prunable": True}, "prunable"),
        ({"kind": "payload", "protected": True}, "protected"),
        ({"spread_weight": 1.5}, "spread_weight"),
        ({"provenance": True}, "provenance"),
    ],
)
def test_a_relation_that_would_break_the_dictionary_is_refused(fields: dict[str, Any], path: str) -> None:
    assert refused(RelationEntry, {**OWN, **fields}) == [path]


def test_a_shard_adds_values_to_vocabularies_of_its_own_only() -> None:
    entry = validate(EnumEntry, {"id": "enum:risk:red", "description": "stop"})

    assert (entry.group, entry.value) == ("risk", "red")
    for taken in ("enum:layer:immediate", "enum:layer:eternal", "enum:risk", "risk:red"):
        assert refused(EnumEntry, {"id": taken, "description": "x"}) == ["id"]


def test_an_entity_is_named_by_its_first_label_and_else_by_its_slug() -> None:
    spec_example = {
        "id": "ent:response_style:technical_architecture_depth",
        "type": "concept",
        "labels": ["technical architecture depth", "deep technical design discussion"],
    }

    assert validate(EntityRecord, spec_example).canonical_name == "technical architecture depth"
    bare = validate(EntityRecord, {"id": "ent:user:daniel_k", "type": "person"})
    assert bare.canonical_name == "daniel k"


@pytest.mark.case("C08")
def test_an_entity_is_found_by_each_of_its_names_in_folded_form() -> None:
    entity = validate(
        EntityRecord,
        {
            "id": "ent:user:d",
            "type": "person",
            "canonical_name": "Daniel",
            "aliases": ["DAN", "ｄａｎ", "daniel"],
        },
    )

    assert entity.names() == ["dan", "daniel"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"id": "user:d"}, "id"),
        ({"type": "Person"}, "type"),
        ({"labels": "Daniel"}, "labels"),
        ({"labels": [""]}, "labels[0]"),
        ({"labels": ["x"] * 101}, "labels"),
        ({"aliases": ["x" * 201]}, "aliases[0]"),
        ({"canonical_name": 5}, "canonical_name"),
        ({"merged_into": "ent:user:d"}, "merged_into"),
        ({"merged_into": "atom_1"}, "merged_into"),
        ({"created_at": "2026-01-01T00:00:00"}, "created_at"),
        ({"external_refs": "https://example.org"}, "external_refs"),
        ({"external_refs": [None]}, "external_refs[0]"),
        ({"owner": "x"}, "owner"),
    ],
)
def test_an_entity_that_is_none_is_refused_at_its_place(fields: dict[str, Any], path: str) -> None:
    value = {"id": "ent:user:d", "type": "person", "canonical_name": "Daniel", **fields}

    assert refused(EntityRecord, value) == [path]
