"""Payload models: the spec's tables, field by field."""

from __future__ import annotations

import re
from functools import reduce
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos_graph.domain.atoms import (
    GUARDED,
    NO_ATOMS,
    PAYLOAD_BYTES_MAX,
    PAYLOADS,
    payload_type,
    refuse_guarded,
    validate_payload,
)
from amos_graph.domain.atoms.payload import (
    ENVELOPE_FIELDS,
    GRAPH_RELATIONS_MAX,
    ITEMS_MAX,
    LIFTED_LENGTH_MAX,
    Payload,
    lift,
)
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.captions import CAPTION_LENGTH_MAX
from amos_graph.domain.sameness import Sameness
from amos_graph.errors import AmosError
from tests.domain.payloads import FREE_FIELDS, LEARNED, NOON, REQUIRED, SAMPLES, SHARED, TITLES

SPEC_FIELDS = {
    "belief": "subject relation object modality qualifiers validity_interval",
    "preference": "holder polarity target applicability_scope strength exceptions",
    "goal": "owner desired_state goal_status priority deadline dependencies blockers",
    "commitment": "agent promised_action recipient commitment_status due_condition source_event",
    "procedure": "name trigger_context preconditions steps tool_affordances expected_outputs "
    "known_failure_modes recovery_strategies owner",
    "episode": "task context actions_taken decisions outcome errors corrections successful_strategies "
    "linked_beliefs linked_procedures raw_event_range",
    # Its scope and observed_at are the envelope's.
    "action_outcome": "action_id subject_agent action_type decision_ref tool_ref expected_outcome "
    "actual_outcome success_status error_refs correction_refs learning_refs",
}

TYPES = sorted(PAYLOADS)


def refused(atom_type: str, value: Any) -> list[tuple[str, str]]:
    with pytest.raises(AmosError) as refusal:
        validate_payload(atom_type, value)
    assert refusal.value.code == "schema_invalid"
    return [(fault.path, fault.message) for fault in refusal.value.faults]


def changed(atom_type: str, **fields: Any) -> dict[str, Any]:
    return {**SAMPLES[atom_type], **fields}


# --- the registry ----------------------------------------------------------------------------


def test_every_type_has_a_sample_a_label_of_its_own_and_a_sentence_of_truth() -> None:
    assert set(SAMPLES) == set(PAYLOADS) == set(REQUIRED)
    assert len({model.label for model in PAYLOADS.values()}) == len(PAYLOADS)
    assert all((model.__doc__ or "").strip() for model in PAYLOADS.values())


def test_an_unknown_type_is_refused_at_type_with_the_known_ones() -> None:
    with pytest.raises(AmosError) as refusal:
        validate_payload("rumour", {}, "atoms[2].payload")

    assert refusal.value.code == "schema_invalid"
    assert refusal.value.faults[0].path == "atoms[2].type"
    assert all(known in refusal.value.message for known in PAYLOADS)


@pytest.mark.parametrize("atom_type", sorted(GUARDED))
def test_a_type_whose_guard_does_not_exist_has_a_model_and_is_denied(atom_type: str) -> None:
    assert payload_type(atom_type).guard == GUARDED[atom_type]
    with pytest.raises(AmosError) as refusal:
        refuse_guarded(atom_type, "atoms[1].type")

    assert refusal.value.code == "authorization_denied"
    assert [fault.path for fault in refusal.value.faults] == ["atoms[1].type"]


@pytest.mark.parametrize("atom_type", sorted(NO_ATOMS))
def test_what_is_generated_is_no_atom_and_the_refusal_says_why(atom_type: str) -> None:
    assert atom_type not in PAYLOADS
    with pytest.raises(AmosError) as refusal:
        validate_payload(atom_type, {}, "atoms[2].payload")

    assert refusal.value.code == "schema_invalid"
    assert [fault.path for fault in refusal.value.faults] == ["atoms[2].type"]
    assert "never memory" in refusal.value.message


def test_a_declaration_that_contradicts_its_fields_or_the_envelope_is_refused() -> None:
    with pytest.raises(TypeError, match="which it lacks"):

        class Missing(Payload):  # pyright: ignore[reportUnusedClass] - declaring it is the test
            """Lifts a field that it does not have."""

            atom_type = "missing"
            label = "Missing"
            lifted = lift("absent")

    with pytest.raises(TypeError, match="of the envelope"):

        class Taken(Payload):  # pyright: ignore[reportUnusedClass] - declaring it is the test
            """Lifts onto a property that every atom has."""

            atom_type = "taken"
            label = "Taken"
            lifted = lift(title="semantic_facets")

    with pytest.raises(TypeError, match="name the type"):

        class Unnamed(Payload):  # pyright: ignore[reportUnusedClass] - declaring it is the test
            """Has a label that is none."""

            atom_type = "unnamed"
            label: ClassVar[str] = "un named"


def test_a_class_declared_outside_the_families_does_not_become_a_type() -> None:
    class Stray(Payload):  # pyright: ignore[reportUnusedClass] - declaring it is the test
        """A valid declaration in a test."""

        atom_type = "stray"
        label = "Stray"

    assert "stray" not in PAYLOADS


# --- fields ----------------------------------------------------------------------------------


@pytest.mark.parametrize("atom_type", sorted(SPEC_FIELDS))
def test_a_payload_has_the_fields_of_the_spec_s_table(atom_type: str) -> None:
    fields = set(PAYLOADS[atom_type].model_fields)

    own = set(SPEC_FIELDS[atom_type].split())
    assert own | SHARED <= fields
    assert fields - own - SHARED in (set(), LEARNED | {"subject_agent"})


@pytest.mark.parametrize("atom_type", TYPES)
def test_each_required_field_is_named_when_it_is_missing(atom_type: str) -> None:
    required = {name for name, field in PAYLOADS[atom_type].model_fields.items() if field.is_required()}

    assert required == REQUIRED[atom_type]
    if required:
        assert {path for path, _ in refused(atom_type, {})} == {f"payload.{name}" for name in required}
    for name in required:
        value = {key: member for key, member in SAMPLES[atom_type].items() if key != name}
        assert refused(atom_type, value) == [(f"payload.{name}", "Field required")]


@pytest.mark.parametrize("atom_type", TYPES)
def test_a_required_field_may_not_be_null(atom_type: str) -> None:
    for name in REQUIRED[atom_type]:
        assert refused(atom_type, changed(atom_type, **{name: None}))[0][0] == f"payload.{name}"


@pytest.mark.parametrize("atom_type", TYPES)
@pytest.mark.reliability("T18")
def test_an_unknown_field_and_a_field_of_the_envelope_are_refused_by_name(atom_type: str) -> None:
    assert [path for path, _ in refused(atom_type, changed(atom_type, extra=1))] == ["payload.extra"]
    for name in ENVELOPE_FIELDS - set(PAYLOADS[atom_type].model_fields):
        path, message = refused(atom_type, changed(atom_type, **{name: None}))[0]
        assert path == f"payload.{name}"
        assert "envelope" in message


@pytest.mark.parametrize("atom_type", TYPES)
@pytest.mark.parametrize("value", [None, [], "text", 1])
def test_a_payload_is_an_object(atom_type: str, value: Any) -> None:
    assert refused(atom_type, value)[0][0] == "payload"


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("belief", {"relation": "working_on"}, "relation"),
    ("belief", {"relation": "ent:user:primary"}, "relation"),
    ("belief", {"modality": "guessed"}, "modality"),
    ("belief", {"object": {"value_type": "quantity", "value": 500}}, "object.unit"),
    ("belief", {"subject": ""}, "subject"),
    ("belief", {"qualifiers": []}, "qualifiers"),
    (
        "belief",
        {"validity_interval": {"from": NOON, "until": "2026-03-01T11:00:00Z"}},
        "validity_interval.until",
    ),
    (
        "belief",
        {"validity_interval": {"from": "2026-03-01T12:00:00", "until": None}},
        "validity_interval.from",
    ),
    ("belief", {"validity_interval": {"from": None, "until": None}}, "validity_interval.from"),
    ("belief", {"validity_interval": {"from_": NOON}}, "validity_interval.from_"),
    ("belief", {"validity_interval": {"from": NOON, "to": NOON}}, "validity_interval.to"),
    ("semantic", {"subject": None}, "subject"),
    ("semantic", {"object": None}, "object"),
    ("semantic", {"subject": None, "relation": None, "object": None, "statement": None}, "statement"),
    ("semantic", {"statement": " "}, "statement"),
    ("semantic", {"statement": "x" * 100_001}, "statement"),
    ("semantic", {"source_refs": ["not an id"]}, "source_refs[0]"),
    ("semantic", {"source_count": -1}, "source_count"),
    ("preference", {"polarity": "likes"}, "polarity"),
    ("preference", {"strength": "enormous"}, "strength"),
    ("preference", {"strength": 0.9}, "strength"),
    ("preference", {"applicability_scope": 1}, "applicability_scope"),
    ("preference", {"exceptions": ["a"] * (ITEMS_MAX + 1)}, "exceptions"),
    ("preference", {"exceptions": [["a"]]}, "exceptions[0]"),
    ("goal", {"goal_status": "done"}, "goal_status"),
    ("goal", {"priority": "urgent"}, "priority"),
    ("goal", {"deadline": "2026-12-24"}, "deadline"),
    ("goal", {"deadline": "2026-12-24T18:00:00"}, "deadline"),
    ("commitment", {"commitment_status": "done"}, "commitment_status"),
    ("commitment", {"source_event": ""}, "source_event"),
    ("procedure", {"name": "architecture_design_discussion"}, "name"),
    ("procedure", {"name": "proc:" + "x" * 200}, "name"),
    ("procedure", {"steps": []}, "steps"),
    ("procedure", {"steps": ["a", None]}, "steps[1]"),
    ("procedure", {"trigger_context": []}, "trigger_context"),
    ("episode", {"raw_event_range": {"from": "evt_a"}}, "raw_event_range.to"),
    ("episode", {"linked_beliefs": ["ent:user:primary"]}, "linked_beliefs[0]"),
    ("episode", {"context": "here"}, "context"),
    ("action_outcome", {"success_status": "ok"}, "success_status"),
    ("action_outcome", {"error_refs": "evd_1"}, "error_refs"),
    ("interaction_event", {"sequence": 0}, "sequence"),
    ("interaction_event", {"sequence": True}, "sequence"),
    ("interaction_event", {"sequence": 1.0}, "sequence"),
    ("interaction_event", {"sequence": "3"}, "sequence"),
    ("interaction_event", {"role": "narrator"}, "role"),
    ("interaction_event", {"visibility": "nobody"}, "visibility"),
    ("interaction_event", {"content": None, "tool_calls": []}, "content"),
    ("interaction_event", {"content": "x" * 100_001}, "content"),
    ("interaction_event", {"tool_calls": [{"id": "c"}]}, "tool_calls[0].name"),
    ("interaction_event", {"tool_calls": [{"name": "f", "argument": 1}]}, "tool_calls[0].argument"),
    ("interaction_event", {"tool_call_id": "call_1"}, "tool_call_id"),
    ("interaction_event", {"tool_result": {"a": 1}}, "tool_result"),
    ("interaction_event", {"role": "tool"}, "tool_calls"),
    ("interaction_event", {"reply_to": "ent:user:primary"}, "reply_to"),
]


@pytest.mark.parametrize(("atom_type", "fields", "path"), WRONG)
@pytest.mark.reliability("T18")
def test_a_wrong_field_is_refused_at_its_place(atom_type: str, fields: dict[str, Any], path: str) -> None:
    assert [place for place, _ in refused(atom_type, changed(atom_type, **fields))] == [f"payload.{path}"]


RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("belief", {"object": {"value_type": "quantity", "value": 500, "unit": "GB"}}),
    ("belief", {"object": 7, "modality": "design_decision"}),
    ("belief", {"validity_interval": {"from": NOON, "until": NOON}}),
    ("belief", {"validity_interval": {"from": None, "until": NOON}}),
    ("belief", {"validity_interval": {"until": NOON}}),
    ("preference", {"applicability_scope": "architecture discussions"}),
    ("preference", {"applicability_scope": {}}),
    ("goal", {"deadline": NOON}),
    ("commitment", {"due_condition": {"value_type": "timestamp", "value": NOON}}),
    ("interaction_event", {"content": "", "tool_calls": None}),
    ("interaction_event", {"content": None}),
    ("interaction_event", {"tool_calls": [{"name": "f", "arguments": '{"a": '}]}),
    (
        "interaction_event",
        {
            "role": "tool",
            "tool_calls": None,
            "content": None,
            "tool_result": {"value_type": "x"},
            "is_error": False,
        },
    ),
]


@pytest.mark.parametrize(("atom_type", "fields"), RIGHT)
def test_a_field_may_take_each_form_that_the_spec_gives_it(atom_type: str, fields: dict[str, Any]) -> None:
    value = changed(atom_type, **fields)

    assert validate_payload(atom_type, value).record() == value


def test_a_semantic_atom_is_a_statement_or_a_triple_or_both() -> None:
    whole = SAMPLES["semantic"]
    validate_payload("semantic", {"statement": whole["statement"]})
    validate_payload("semantic", {name: whole[name] for name in ("subject", "relation", "object")})


# --- what is stored --------------------------------------------------------------------------


@pytest.mark.parametrize("atom_type", TYPES)
@pytest.mark.case("C61")
def test_what_is_stored_is_what_the_caller_sent(atom_type: str) -> None:
    record = validate_payload(atom_type, SAMPLES[atom_type]).record()

    assert canonical_bytes(record) == canonical_bytes(SAMPLES[atom_type])


def test_times_are_stored_canonically_and_explicit_nulls_stay() -> None:
    value = changed(
        "belief", validity_interval={"from": "2026-03-01T14:00:00+02:00", "until": None}, qualifiers=None
    )

    record = validate_payload("belief", value).record()

    assert record["validity_interval"] == {"from": NOON, "until": None}
    assert record["qualifiers"] is None
    assert "modality" in record
    assert "semantic_facets" not in record


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-1e15, 1e15)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10), inner, max_size=3
        )
    ),
    max_leaves=10,
)
RECORDS = st.dictionaries(st.text("abcxyz_", min_size=1, max_size=8), JSON_VALUES, max_size=4)


@given(st.sampled_from(TYPES), RECORDS)
def test_validating_what_was_stored_changes_nothing(atom_type: str, record: dict[str, Any]) -> None:
    # The record nests less deeply than is allowed, so that nothing refuses it.
    first = validate_payload(atom_type, changed(atom_type, **{FREE_FIELDS[atom_type]: record}))

    stored = first.record()
    assert validate_payload(atom_type, stored) == first
    assert canonical_bytes(validate_payload(atom_type, stored).record()) == canonical_bytes(stored)
    assert canonical_bytes(stored[FREE_FIELDS[atom_type]]) == canonical_bytes(record)


def leaves(value: Any) -> list[str]:
    """Every value of a JSON tree as text, without a key."""
    if isinstance(value, dict):
        return [leaf for member in cast("dict[str, Any]", value).values() for leaf in leaves(member)]
    if isinstance(value, list):
        return [leaf for item in cast("list[Any]", value) for leaf in leaves(item)]
    return [str(value)]


@pytest.mark.parametrize("atom_type", TYPES)
def test_search_words_are_words_of_the_values_and_never_of_keys(atom_type: str) -> None:
    free = {"zebrakey": {"zebrakey": ["inside", None]}, "zebra_key": 1}
    value = changed(atom_type, **{FREE_FIELDS[atom_type]: free})

    said = {
        word for text in validate_payload(atom_type, value).words() for word in re.findall(r"[a-z]+", text)
    }

    assert "inside" in said
    assert said <= {word for leaf in leaves(value) for word in re.findall(r"[a-z]+", leaf)}
    assert not any("zebra" in word for word in said)


@pytest.mark.parametrize(
    ("atom_type", "spoken"),
    [
        ("belief", "working on"),
        ("preference", "interaction style iterative conceptual design"),
        ("procedure", "identify design axes"),
        ("episode", "design spec expanded"),
        ("interaction_event", "get user details"),
    ],
)
def test_names_in_one_piece_are_found_by_their_words(atom_type: str, spoken: str) -> None:
    assert spoken in validate_payload(atom_type, SAMPLES[atom_type]).words()


def test_relations_of_other_atoms_and_bookkeeping_are_no_search_text() -> None:
    value = changed(
        "belief",
        graph_relations=[{"relation": "rel:supports", "target_ref": "atom_x"}],
        proposal_retention={"deduplication_key": "zebra"},
        semantic_facets={"domain": "ent:domain:storage"},
    )

    said = " ".join(validate_payload("belief", value).words())

    assert "domain storage" in said
    assert "supports" not in said
    assert "zebra" not in said


@pytest.mark.case("C65")
def test_a_payload_has_a_size_limit_on_every_way_in() -> None:
    value = changed(
        "interaction_event", role="tool", tool_calls=None, tool_result=["x" * 100_000 for _ in range(10)]
    )

    (path, message), *_ = refused("interaction_event", value)

    assert path == "payload"
    assert str(PAYLOAD_BYTES_MAX) in message


@pytest.mark.reliability("T18")
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, 2.0**60, 10**400, "\ud800", {"\ud800": 1}]
)
def test_what_json_would_lose_is_refused_at_its_place(value: Any) -> None:
    path, _ = refused("belief", changed("belief", qualifiers={"a": [value]}))[0]

    assert path == "payload.qualifiers.a[0]"


@pytest.mark.parametrize("atom_type", TYPES)
def test_every_model_describes_itself_as_json_schema(atom_type: str) -> None:
    schema = PAYLOADS[atom_type].model_json_schema()

    assert set(schema.get("required", [])) == REQUIRED[atom_type]
    assert schema["additionalProperties"] is False


# --- shared optional fields ------------------------------------------------------------------


@pytest.mark.parametrize("atom_type", TYPES)
def test_every_type_takes_the_shared_fields(atom_type: str) -> None:
    value = changed(
        atom_type,
        semantic_facets={"domain": ["storage", None]},
        graph_relations=[
            {
                "relation": "rel:supports",
                "target_ref": "atom_x",
                "evidence_refs": ["evd_1"],
                "confidence": {"level": "high", "score": 0.9, "basis": {"recency": "new", "votes": 3}},
                "qualifiers": {"by": "ent:user:primary"},
            }
        ],
        proposal_retention={
            "deduplication_key": "k",
            "ttl_seconds": 60,
            "active_quota": 1,
            "proposed_quota": 0,
        },
    )

    assert validate_payload(atom_type, value).record() == value


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"graph_relations": [{"relation": "supports", "target_ref": "a"}]}, "graph_relations[0].relation"),
        ({"graph_relations": [{"relation": "rel:supports"}]}, "graph_relations[0].target_ref"),
        (
            {"graph_relations": [{"relation": "rel:supports", "target_ref": "ent:a:b"}]},
            "graph_relations[0].target_ref",
        ),
        (
            {"graph_relations": [{"relation": "rel:supports", "target_ref": "a", "weight": 1}]},
            "graph_relations[0].weight",
        ),
        (
            {
                "graph_relations": [
                    {"relation": "rel:supports", "target_ref": "a", "confidence": {"score": 2}}
                ]
            },
            "graph_relations[0].confidence.score",
        ),
        (
            {"graph_relations": [{"relation": "rel:a", "target_ref": "b"}] * (GRAPH_RELATIONS_MAX + 1)},
            "graph_relations",
        ),
        ({"semantic_facets": ["a"]}, "semantic_facets"),
        ({"proposal_retention": {"ttl_seconds": 0}}, "proposal_retention.ttl_seconds"),
        ({"proposal_retention": {"ttl": 5}}, "proposal_retention.ttl"),
        ({"proposal_retention": {}}, "proposal_retention"),
    ],
)
def test_shared_fields_are_strict(fields: dict[str, Any], path: str) -> None:
    assert [place for place, _ in refused("belief", changed("belief", **fields))] == [f"payload.{path}"]


# --- what the graph needs --------------------------------------------------------------------


@pytest.mark.parametrize("atom_type", TYPES)
def test_a_title_says_in_one_short_line_what_the_atom_says(atom_type: str) -> None:
    assert validate_payload(atom_type, SAMPLES[atom_type]).title() == TITLES[atom_type]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300))
def test_no_text_makes_a_title_too_long_or_empty(text: str) -> None:
    for atom_type, field in (("belief", "object"), ("interaction_event", "content"), ("episode", "task")):
        try:
            payload = validate_payload(atom_type, changed(atom_type, **{field: text}))
        except AmosError:  # blank, or the beginning of an id
            continue
        assert 0 < len(payload.title()) <= CAPTION_LENGTH_MAX
        assert "\n" not in payload.title()


def test_braces_in_a_text_are_text_in_its_title() -> None:
    assert validate_payload("belief", changed("belief", object="{subject} {0}")).title() == (
        "user:primary working_on {subject} {0}"
    )


def test_events_without_content_are_titled_by_what_they_do() -> None:
    calls = validate_payload("interaction_event", changed("interaction_event", content=None))
    answer = validate_payload(
        "interaction_event",
        changed("interaction_event", role="tool", tool_calls=None, content="", tool_name="get_user_details"),
    )

    assert calls.title() == "assistant: calls get_user_details"
    assert answer.title() == "tool get_user_details: answers"


@pytest.mark.parametrize("atom_type", TYPES)
def test_lifted_properties_are_native_values_under_their_field_s_name(atom_type: str) -> None:
    lifted = validate_payload(atom_type, SAMPLES[atom_type]).lifted_values()

    assert lifted
    for name, value in lifted.items():
        assert isinstance(value, (str, int, float, bool, list))
        assert value == reduce(
            lambda place, step: place[step],
            PAYLOADS[atom_type].lifted[name].split("."),
            cast("Any", SAMPLES[atom_type]),
        )


def test_explicit_values_are_lifted_as_what_they_hold_and_structures_stay_in_the_payload() -> None:
    def lifted(value: Any) -> Any:
        return validate_payload("belief", changed("belief", object=value)).lifted_values().get("object")

    assert lifted({"value_type": "entity_ref", "value": "ent:a:b"}) == "ent:a:b"
    assert lifted({"value_type": "quantity", "value": 500, "unit": "GB"}) == "500 GB"
    assert lifted({"value_type": "list", "value": ["a", "b"]}) == ["a", "b"]
    assert lifted({"value_type": "list", "value": ["a", 1]}) is None
    assert lifted({"value_type": "record", "value": {"a": 1}}) is None
    assert lifted("x" * LIFTED_LENGTH_MAX) == "x" * LIFTED_LENGTH_MAX
    assert lifted("x" * (LIFTED_LENGTH_MAX + 1)) is None
    assert lifted(False) is False


def test_entities_are_referred_to_in_the_role_of_their_field() -> None:
    preference = validate_payload("preference", SAMPLES["preference"])

    assert preference.entity_roles() == [
        ("holder", "ent:user:primary"),
        ("target", "ent:interaction_style:iterative_conceptual_design"),
        ("applicability_scope", "ent:project:amos"),
    ]
    assert ("payload.applicability_scope.project", "ent:project:amos") in preference.entity_refs()


@pytest.mark.case("C53")
def test_an_id_that_somebody_wrote_in_prose_refers_to_nothing() -> None:
    event = validate_payload("interaction_event", changed("interaction_event", content="ent:user:primary"))
    answer = validate_payload(
        "interaction_event",
        changed("interaction_event", role="tool", tool_calls=None, tool_result={"who": "ent:user:primary"}),
    )
    fact = validate_payload("semantic", {"statement": "ent:user:primary"})

    assert event.entity_roles() == answer.entity_roles() == [("actor", "ent:agent:assistant")]
    assert fact.entity_roles() == []


def test_references_name_every_dictionary_id_and_its_place() -> None:
    value = changed(
        "belief",
        graph_relations=[
            {"relation": "rel:supports", "target_ref": "x", "qualifiers": {"by": "ent:user:other"}},
        ],
    )

    found = {one.path: one.ref for one in validate_payload("belief", value).references("atoms[0].payload")}

    assert found["atoms[0].payload.relation"] == "rel:working_on"
    assert found["atoms[0].payload.graph_relations[0].relation"] == "rel:supports"
    assert found["atoms[0].payload.graph_relations[0].qualifiers.by"] == "ent:user:other"
    assert "ent:user:other" not in dict(validate_payload("belief", value).entity_refs()).values()


def test_validity_is_told_by_types_that_have_it() -> None:
    belief = validate_payload("belief", SAMPLES["belief"])
    goal = validate_payload("goal", SAMPLES["goal"])

    assert (belief.valid_from, belief.valid_until) == (NOON, None)
    assert (goal.valid_from, goal.valid_until) == (None, None)


def slot(atom_type: str, **fields: Any) -> dict[str, Any] | None:
    return validate_payload(atom_type, changed(atom_type, **fields)).slot_values()


@pytest.mark.case("C42")
def test_only_claims_about_the_same_thing_compete_for_a_slot() -> None:
    assert slot("belief") == slot("belief", object="ent:project:other", modality="inferred")
    assert slot("belief") != slot("belief", relation="rel:uses")
    assert slot("belief") != slot("belief", subject="ent:user:other")
    assert slot("preference") == slot("preference", polarity="avoids", strength="low")
    assert slot("preference") != slot("preference", target="ent:style:other")
    assert slot("goal") == slot("goal", goal_status="satisfied")
    assert slot("commitment") == slot("commitment", promised_action="Send_the_revised_plan", recipient=None)
    assert slot("procedure") == slot("procedure", steps=["other"])
    assert slot("episode") is None
    assert slot("action_outcome") is None
    assert slot("interaction_event") is None
    assert validate_payload("semantic", {"statement": "x"}).slot_values() is None


@pytest.mark.case("C42")
def test_two_names_of_one_entity_compete_for_one_slot() -> None:
    """A slot is made of what its entities became, wherever in a value they stand."""
    one = validate_payload("belief", changed("belief", subject="ent:user:bob"))
    typed = {"value_type": "entity_ref", "value": "ent:user:bobby"}
    other = validate_payload("belief", changed("belief", subject=typed))
    sameness = Sameness.of(
        [
            {"id": "ent:user:bob", "merged_into": "ent:user:rob"},
            {"id": "ent:user:bobby", "merged_into": "ent:user:rob"},
            {"id": "ent:user:rob", "merged_into": "ent:user:robert"},
        ]
    )

    assert one.slot_values() != other.slot_values()
    assert one.slot_values(sameness.resolved) == other.slot_values(sameness.resolved)
    assert one.slot_values(sameness.resolved) == {
        "type": "belief",
        "subject": "ent:user:robert",
        "relation": "rel:working_on",
    }
