"""The rules of the types about agents, discussions and what binds: each refused case names its field."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos_graph.domain.atoms import GUARDED, PAYLOADS, validate_payload
from amos_graph.domain.atoms.compaction import summarized
from amos_graph.domain.atoms.governance import CONSTITUTIONAL
from amos_graph.domain.atoms.payload import ITEMS_MAX
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.envelope import check_atom
from amos_graph.domain.scope import Scope
from amos_graph.errors import AmosError
from tests.conftest import ROOT
from tests.domain.payloads import CHECKSUM, COMPACTION, LEARNED, NOON, ONE, SAMPLES, SHARED

_ENTRY = SAMPLES["discourse_state"]["entries"][0]
_DELEGATED = SAMPLES["self_model"]["delegated_authority"][0]
_THRESHOLD = SAMPLES["primal_guidance"]["amendment_requirements"]["ratification_threshold"]


def changed(atom_type: str, **fields: Any) -> dict[str, Any]:
    return {**SAMPLES[atom_type], **fields}


def without(atom_type: str, *fields: str) -> dict[str, Any]:
    return {name: value for name, value in SAMPLES[atom_type].items() if name not in fields}


def refused(atom_type: str, value: Any) -> list[str]:
    with pytest.raises(AmosError) as refusal:
        validate_payload(atom_type, value)
    assert refusal.value.code == "schema_invalid"
    return [fault.path.removeprefix("payload.") for fault in refusal.value.faults]


#: The tables of the specification. `scope` of a runtime snapshot, a limitation and a trace is a payload
#: field of its own; a self-assessment and a snapshot also have what their endpoints take.
SPEC_FIELDS = {
    "self_model": "subject_agent role owner_scope operating_mode delegated_authority current_objectives "
    "active_constraints known_dependencies self_description",
    "capability": "subject_agent capability capability_type availability preconditions "
    "required_permissions operational_limits verification_method last_verified_at",
    "limitation": "subject_agent limitation limitation_type scope severity workaround "
    "verification_method last_verified_at",
    "runtime_state": "snapshot_id client_identity scope current_task active_plan active_goal_refs "
    "open_commitment_refs available_tools denied_tools resource_budgets execution_environment "
    "recent_errors current_uncertainties captured_at expires_at "
    "agent_id capabilities denied_capabilities constraints load",
    "self_assessment": "assessment_id subject_agent task_ref packet_refs claimed_capabilities "
    "capabilities_used commitments_made commitments_satisfied uncertainties_declared errors_observed "
    "corrections_received calibration_delta recommended_memory_updates assessed_at claim calibration",
    "agentic_trace": "trace_id subject_agent scope task_ref intent_refs decision_refs action_refs "
    "tool_event_refs outcome_refs correction_refs limitation_refs responsibility_level "
    "agency_confidence external_constraints counterevidence_refs assessed_at agency_attribution",
    "primal_guidance": "constitutional_tier precedence interpretive_rules amendability "
    "amendment_requirements protected_fields effective_from predecessor_ref predecessor_diff",
    "covenant": "name rule constitutional_tier precedence interpretive_rules amendability "
    "amendment_requirements protected_fields effective_from predecessor_ref predecessor_diff",
    "adjudication": "subject_ref claim_kind outcome reasons_for_refs reasons_against_refs covenant_refs "
    "unresolved_objections adjudication_scope epistemic_standing normative_standing "
    "operational_authority constitutional_standing risk_class predecessor_diff advisory_critic "
    "dissent_refs review_triggers ratifier reconstructed_at diachronic ratification_threshold",
}


@pytest.mark.parametrize("atom_type", sorted(SPEC_FIELDS))
def test_a_payload_has_the_fields_of_the_spec_s_table_and_no_other(atom_type: str) -> None:
    fields = set(PAYLOADS[atom_type].model_fields)
    learned = LEARNED if atom_type in ("capability", "limitation") else set[str]()

    assert fields == set(SPEC_FIELDS[atom_type].split()) | SHARED | learned


@pytest.mark.parametrize("atom_type", ["capability", "limitation", "procedure", "semantic"])
def test_what_was_learned_from_experience_can_be_said_of_the_types_that_the_spec_names(
    atom_type: str,
) -> None:
    assert set(PAYLOADS[atom_type].model_fields) >= LEARNED | {"subject_agent"}


VOCABULARIES = {
    ("capability", "capability_type"): "tool model memory planning execution communication analysis",
    ("capability", "availability"): "available unavailable degraded unknown",
    ("capability", "outcome_category"): "capability limitation procedure observation",
    (
        "limitation",
        "limitation_type",
    ): "policy permission resource knowledge model tool environment reliability",
    ("agentic_trace", "responsibility_level"): "primary contributing reviewing observing blocked",
    ("agentic_trace", "agency_attribution"): "self shared_system",
    ("adjudication", "outcome"): "adopted provisionally_adopted confirmed rejected revised withdrawn "
    "deferred contested",
}


@pytest.mark.parametrize(("place", "values"), VOCABULARIES.items())
def test_a_closed_list_takes_each_value_of_the_spec_and_no_other(place: tuple[str, str], values: str) -> None:
    atom_type, field = place
    for value in values.split():
        assert validate_payload(atom_type, changed(atom_type, **{field: value})).record()[field] == value
    first = values.partition(" ")[0]
    for value in ("", "other", first.upper(), 1, None, [first]):
        if value is None and not PAYLOADS[atom_type].model_fields[field].is_required():
            continue
        assert refused(atom_type, changed(atom_type, **{field: value})) == [field]


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("value", {"strength": 1}, "strength"),
    ("value", {"holder": None}, "holder"),
    ("value", {"value": [1]}, "value"),
    ("working_state", {"subject_agent": "planner"}, "subject_agent"),
    ("working_state", {"active_entities": ["crane"]}, "active_entities[0]"),
    ("working_state", {"open_questions": "why"}, "open_questions"),
    ("working_state", {"current_plan": ["x"] * (ITEMS_MAX + 1)}, "current_plan"),
    ("discourse_thread", {"participants": []}, "participants"),
    ("discourse_thread", {"opened_by_event_ref": "evd_1"}, "opened_by_event_ref"),
    ("discourse_thread", {"thread_id": "a b"}, "thread_id"),
    ("discourse_state", {"revision": 0}, "revision"),
    ("discourse_state", {"revision": "2"}, "revision"),
    ("discourse_state", {"thread_status": "paused"}, "thread_status"),
    ("discourse_state", {"entries": [{**_ENTRY, "basis_refs": []}]}, "entries[0].basis_refs"),
    ("discourse_state", {"entries": [{**_ENTRY, "state_class": " "}]}, "entries[0].state_class"),
    ("discourse_state", {"entries": [{**_ENTRY, "authority": "mine"}]}, "entries[0].authority"),
    ("discourse_state", {"entries": [{**_ENTRY, "private": True}]}, "entries[0].private"),
    ("discourse_state", {"entries": [_ENTRY, _ENTRY]}, "entries[1].key"),
    ("self_model", {"subject_agent": "planner"}, "subject_agent"),
    ("self_model", {"subject_agent": "ent:planner"}, "subject_agent"),
    (
        "self_model",
        {"delegated_authority": [{**_DELEGATED, "granted_by": "itself"}]},
        "delegated_authority[0].granted_by",
    ),
    (
        "self_model",
        {"delegated_authority": [{**_DELEGATED, "basis_refs": []}]},
        "delegated_authority[0].basis_refs",
    ),
    ("self_model", {"delegated_authority": ["everything"]}, "delegated_authority[0]"),
    ("self_model", {"self_description": ""}, "self_description"),
    ("capability", {"operational_limits": 60}, "operational_limits"),
    ("capability", {"last_verified_at": "2026-03-01T12:00:00"}, "last_verified_at"),
    ("capability", {"source_count": 1}, "source_count"),
    ("capability", {"supported_count": -1}, "supported_count"),
    ("capability", {"failed_count": 1.5}, "failed_count"),
    ("capability", {"reuse_guidance": " "}, "reuse_guidance"),
    ("limitation", {"severity": "awful"}, "severity"),
    ("limitation", {"scope": ["here"]}, "scope"),
    ("limitation", {"subject_agent": None}, "subject_agent"),
    ("runtime_state", {"expires_at": NOON}, "expires_at"),
    ("runtime_state", {"captured_at": "noon"}, "captured_at"),
    ("runtime_state", {"client_identity": None, "agent_id": None}, "client_identity"),
    ("runtime_state", {"resource_budgets": [1]}, "resource_budgets"),
    ("runtime_state", {"active_goal_refs": ["ent:a:b"]}, "active_goal_refs[0]"),
    ("self_assessment", {"calibration_delta": 1.01}, "calibration_delta"),
    ("self_assessment", {"calibration_delta": -1.01}, "calibration_delta"),
    ("self_assessment", {"calibration_delta": "0"}, "calibration_delta"),
    ("self_assessment", {"packet_refs": ["packet"]}, "packet_refs[0]"),
    ("self_assessment", {"calibration": 0.5}, "calibration"),
    ("agentic_trace", {"agency_confidence": 1.5}, "agency_confidence"),
    ("agentic_trace", {"agency_confidence": float("nan")}, "agency_confidence"),
    ("agentic_trace", {"counterevidence_refs": None}, "counterevidence_refs"),
    ("agentic_trace", {"agency_attribution": "other_agent"}, "responsibility_level"),
    ("agentic_trace", {"agency_attribution": "external"}, "responsibility_level"),
    ("agentic_trace", {"agency_attribution": "unknown"}, "responsibility_level"),
    ("policy", {"policy_kind": "wish"}, "policy_kind"),
    ("policy", {"name": ""}, "name"),
    ("policy", {"rule": None}, "rule"),
    ("policy", {"validity_interval": {"from": ONE, "until": NOON}}, "validity_interval.until"),
    ("primal_guidance", {"constitutional_tier": "second"}, "constitutional_tier"),
    ("primal_guidance", {"precedence": -1}, "precedence"),
    ("primal_guidance", {"precedence": "first"}, "precedence"),
    ("primal_guidance", {"interpretive_rules": []}, "interpretive_rules"),
    ("primal_guidance", {"interpretive_rules": [" "]}, "interpretive_rules[0]"),
    ("primal_guidance", {"amendability": "sometimes"}, "amendability"),
    (
        "primal_guidance",
        {"amendment_requirements": {"ratification_threshold": {**_THRESHOLD, "min_interval_seconds": 0}}},
        "amendment_requirements.ratification_threshold.min_interval_seconds",
    ),
    (
        "primal_guidance",
        {"amendment_requirements": {"ratification_threshold": {"required_confirmations": 2}}},
        "amendment_requirements.ratification_threshold.min_interval_seconds",
    ),
    (
        "primal_guidance",
        {"amendment_requirements": {"ratification_threshold": {"required_confirmations": 0}}},
        "amendment_requirements.ratification_threshold.required_confirmations",
    ),
    ("primal_guidance", {"amendment_requirements": {"quorum": 2}}, "amendment_requirements.quorum"),
    ("covenant", {"constitutional_tier": "primal"}, "constitutional_tier"),
    ("covenant", {"name": None, "rule": None}, "rule"),
    ("covenant", {"predecessor_ref": None}, "predecessor_ref"),
    ("covenant", {"predecessor_diff": None}, "predecessor_diff"),
    ("covenant", {"predecessor_diff": [{"path": "precedence", "after": 1}]}, "predecessor_diff[0].path"),
    ("covenant", {"predecessor_diff": [{"path": "/a~2", "after": 1}]}, "predecessor_diff[0].path"),
    ("covenant", {"predecessor_diff": [{"path": "/precedence"}]}, "predecessor_diff[0].path"),
    (
        "covenant",
        {"predecessor_diff": [{"path": "/a", "before": 1, "after": 1}]},
        "predecessor_diff[0].after",
    ),
    (
        "covenant",
        {"predecessor_diff": [{"path": "/b", "after": 1}, {"path": "/a", "after": 1}]},
        "predecessor_diff[1].path",
    ),
    (
        "covenant",
        {"predecessor_diff": [{"path": "/a", "after": 1}, {"path": "/a", "after": 2}]},
        "predecessor_diff[1].path",
    ),
    ("adjudication", {"covenant_refs": []}, "covenant_refs"),
    ("adjudication", {"claim_kind": "A Policy"}, "claim_kind"),
    ("adjudication", {"risk_class": "high"}, "risk_class"),
    ("adjudication", {"epistemic_standing": {"status": "warm"}}, "epistemic_standing.status"),
    ("adjudication", {"epistemic_standing": 0.9}, "epistemic_standing"),
    ("adjudication", {"constitutional_standing": {"status": "settled"}}, "constitutional_standing.status"),
    (
        "adjudication",
        {"operational_authority": {"status": "operative", "risk_ceiling": "any"}},
        "operational_authority.risk_ceiling",
    ),
    ("adjudication", {"ratifier": {"identity_ref": "a", "mode": "external_review"}}, "ratifier.mode"),
    ("adjudication", {"ratifier": {"mode": "self_ratification"}}, "ratifier.identity_ref"),
    (
        "adjudication",
        {"diachronic": {**SAMPLES["adjudication"]["diachronic"], "disposition": "final"}},
        "diachronic.disposition",
    ),
    (
        "adjudication",
        {"diachronic": {**SAMPLES["adjudication"]["diachronic"], "independent_reconstruction": 1}},
        "diachronic.independent_reconstruction",
    ),
    (
        "adjudication",
        {"advisory_critic": {"status": "available", "authority": "deciding"}},
        "advisory_critic.authority",
    ),
    ("authority_record", {"authority_revision": 0}, "authority_revision"),
    ("authority_record", {"authority_revision": 2}, "legacy_predecessor_ref"),
    ("authority_record", {"checksum": "md5:0"}, "checksum"),
    ("authority_record", {"checksum": CHECKSUM.upper()}, "checksum"),
    ("authority_record", {"steps": []}, "steps"),
    ("authority_record", {"name": "crane_safety"}, "name"),
]


@pytest.mark.reliability("T18")
@pytest.mark.parametrize(("atom_type", "fields", "path"), WRONG)
def test_a_wrong_field_is_refused_at_its_place(atom_type: str, fields: dict[str, Any], path: str) -> None:
    assert refused(atom_type, changed(atom_type, **fields)) == [path]


RIGHT: list[tuple[str, dict[str, Any]]] = [
    ("self_assessment", {"calibration_delta": 1}),
    ("self_assessment", {"calibration_delta": -1}),
    ("agentic_trace", {"agency_confidence": 0, "counterevidence_refs": []}),
    ("runtime_state", {"client_identity": None}),
    ("runtime_state", {"agent_id": None}),
    ("capability", {"source_count": 2}),
    ("discourse_state", {"entries": []}),
    ("policy", {"rule": "No crane moves in the dark."}),
    ("covenant", {"name": None}),
    ("covenant", {"rule": None}),
    ("covenant", {"predecessor_diff": [{"path": "/a~1b/0", "before": None}]}),
    ("covenant", {"predecessor_diff": []}),
    ("authority_record", {"authority_revision": 2, "legacy_predecessor_ref": None}),
]


@pytest.mark.parametrize(("atom_type", "fields"), RIGHT)
def test_a_field_may_take_each_form_that_has_a_meaning(atom_type: str, fields: dict[str, Any]) -> None:
    value = changed(atom_type, **fields)

    assert canonical_bytes(validate_payload(atom_type, value).record()) == canonical_bytes(value)


# --- what a type says as a whole -------------------------------------------------------------


@pytest.mark.parametrize("level", ["primary", "contributing"])
def test_a_good_outcome_alone_is_no_responsibility(level: str) -> None:
    value = without("agentic_trace", "decision_refs", "action_refs", "tool_event_refs")

    assert refused("agentic_trace", {**value, "responsibility_level": level}) == ["responsibility_level"]
    for field in ("decision_refs", "action_refs", "tool_event_refs"):
        validate_payload("agentic_trace", {**value, "responsibility_level": level, field: ["a"]})
    for other in ("reviewing", "observing", "blocked"):
        validate_payload("agentic_trace", {**value, "responsibility_level": other})


def test_only_a_primary_responsibility_has_to_name_what_speaks_against_it() -> None:
    value = without("agentic_trace", "counterevidence_refs")

    assert refused("agentic_trace", value) == ["counterevidence_refs"]
    validate_payload("agentic_trace", {**value, "responsibility_level": "contributing"})


@pytest.mark.parametrize("risk", sorted(CONSTITUTIONAL))
def test_a_constitutional_adjudication_has_heard_an_available_critic_who_only_advises(risk: str) -> None:
    value = changed("adjudication", risk_class=risk)
    unavailable = {"status": "unavailable", "authority": "advisory_only"}

    validate_payload("adjudication", value)
    assert refused("adjudication", {**value, "advisory_critic": None}) == ["advisory_critic"]
    assert refused("adjudication", {**value, "advisory_critic": unavailable}) == ["advisory_critic.status"]
    validate_payload("adjudication", changed("adjudication", advisory_critic=unavailable))


def test_a_snapshot_holds_until_it_expires_and_a_covenant_from_when_it_takes_effect() -> None:
    snapshot = validate_payload("runtime_state", SAMPLES["runtime_state"])
    covenant = validate_payload("covenant", SAMPLES["covenant"])

    assert (snapshot.valid_from, snapshot.valid_until) == (NOON, ONE)
    assert (covenant.valid_from, covenant.valid_until) == (NOON, None)


def test_a_rendered_description_is_neither_search_text_nor_a_reference() -> None:
    value = changed("self_model", self_description="ent:agent:zebra is a zebra")
    payload = validate_payload("self_model", value)

    assert "zebra" not in " ".join(payload.words())
    assert "ent:agent:zebra" not in dict(payload.entity_refs()).values()
    assert payload.record()["self_description"] == "ent:agent:zebra is a zebra"


def test_what_a_predecessor_said_is_neither_search_text_nor_a_reference() -> None:
    value = changed("covenant", predecessor_diff=[{"path": "/rule", "before": "ent:agent:zebra"}])
    payload = validate_payload("covenant", value)

    assert "zebra" not in " ".join(payload.words())
    assert payload.entity_refs() == []


ROLES = {
    "value": {("holder", "ent:agent:planner"), ("value", "ent:concept:candour")},
    "working_state": {("subject_agent", "ent:agent:executor"), ("active_entities", "ent:machine:crane_4")},
    "discourse_thread": {("participants", "ent:user:primary"), ("topic", "ent:machine:crane_4")},
    "discourse_state": {("entries", "ent:user:primary"), ("participants", "ent:user:primary")},
    "self_model": {
        ("subject_agent", "ent:agent:planner"),
        ("owner_scope", "ent:project:harbour"),
        ("known_dependencies", "ent:agent:executor"),
    },
    "capability": {("subject_agent", "ent:agent:planner"), ("capability", "ent:tool:tide_table")},
    "limitation": {("subject_agent", "ent:agent:planner"), ("scope", "ent:place:north_yard")},
    "runtime_state": {("available_tools", "ent:tool:tide_table"), ("denied_tools", "ent:tool:payment")},
    "self_assessment": {("capabilities_used", "ent:tool:tide_table")},
    "agentic_trace": {("external_constraints", "ent:policy:harbour_rules")},
    "policy": {("issued_by", "ent:org:harbour_office"), ("applies_to", "ent:agent:executor")},
    "adjudication": {("ratifier", "ent:agent:planner")},
}


@pytest.mark.parametrize("atom_type", sorted(ROLES))
def test_entities_are_linked_by_the_field_that_names_them(atom_type: str) -> None:
    assert ROLES[atom_type] <= set(validate_payload(atom_type, SAMPLES[atom_type]).entity_roles())


def _row(atom_type: str) -> list[set[str]]:
    """The cells of a type's row in the table of what is native."""
    text = (ROOT / "docs" / "data-model.md").read_text(encoding="utf-8")
    rows = text.partition("<!-- table: native-lifting -->")[2].partition("<!-- end:")[0].splitlines()
    (row,) = (line for line in rows if line.startswith(f"| `{atom_type}` |"))
    return [set(re.findall(r"`([^`]+)`", cell)) for cell in row.split(" | ")]


@pytest.mark.parametrize("atom_type", sorted(PAYLOADS))
def test_the_documented_native_properties_and_roles_are_those_that_a_payload_has(atom_type: str) -> None:
    """The table is made from the types alone; what a payload gives is in it, and prose is not."""
    payload = validate_payload(atom_type, SAMPLES[atom_type])
    _, native, holds, roles = _row(atom_type)

    assert set(payload.lifted_values()) <= native
    assert {role for role, _ in payload.entity_roles()} <= roles
    assert bool(holds) == any(payload.holds)
    assert not roles & {"statement", "content", "self_description", "reuse_guidance", "claim", "summary"}


def test_standings_are_lifted_as_their_status_and_the_ratifier_as_its_identity() -> None:
    lifted = validate_payload("adjudication", SAMPLES["adjudication"]).lifted_values()

    assert lifted["epistemic_standing"] == "settled"
    assert lifted["normative_standing"] == "provisional"
    assert lifted["operational_authority"] == "operative"
    assert lifted["constitutional_standing"] == "none"
    assert lifted["ratifier"] == "ent:agent:planner"


@pytest.mark.case("C42")
def test_one_agent_has_one_self_model_and_one_capability_of_a_name() -> None:
    def slot(atom_type: str, **fields: Any) -> dict[str, Any] | None:
        return validate_payload(atom_type, changed(atom_type, **fields)).slot_values()

    assert slot("self_model") == slot("self_model", role="other")
    assert slot("self_model") != slot("self_model", subject_agent="ent:agent:executor")
    assert slot("capability") == slot("capability", availability="degraded")
    assert slot("limitation") != slot("limitation", limitation="other")
    assert slot("value") == slot("value", strength="low")
    assert slot("policy") == slot("policy", rule="Otherwise.")
    assert slot("working_state", subject_agent=None) is None
    assert slot("agentic_trace") is slot("runtime_state") is slot("self_assessment") is None


# --- the envelope of a summary ---------------------------------------------------------------


def _semantic(compaction: Any, **fields: Any) -> dict[str, Any]:
    return {"statement": "The crane is repaired.", "context_compaction": compaction, **fields}


def _compaction(**fields: Any) -> dict[str, Any]:
    value = copy.deepcopy(COMPACTION)
    coverage = fields.pop("coverage", {})
    return {**value, "coverage": {**value["coverage"], **coverage}, **fields}


@pytest.mark.parametrize("mode", ["segment", "rolling"])
def test_a_summary_is_bound_to_its_sources_and_names_them_as_summarized(mode: str) -> None:
    value = _semantic(_compaction(mode=mode))
    payload = validate_payload("semantic", value)

    assert canonical_bytes(payload.record()) == canonical_bytes(value)
    assert summarized(payload.record()) == ["said-1", "said-2"]
    assert summarized({"statement": "x"}) == summarized({"context_compaction": None}) == []
    assert "said" not in " ".join(payload.words())


@pytest.mark.parametrize("name", sorted(set(COMPACTION) - {"facets"}))
def test_no_part_of_the_envelope_but_its_facets_can_be_missing(name: str) -> None:
    value = {key: part for key, part in COMPACTION.items() if key != name}

    assert refused("semantic", _semantic(value)) == [f"context_compaction.{name}"]


@pytest.mark.parametrize("name", sorted(COMPACTION["coverage"]))
def test_no_part_of_the_coverage_can_be_missing(name: str) -> None:
    value = _compaction()
    del value["coverage"][name]

    assert refused("semantic", _semantic(value)) == [f"context_compaction.coverage.{name}"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"profile": "amos.context-compaction.v2"}, "profile"),
        ({"mode": "whole"}, "mode"),
        ({"partition": {"kind": "interaction_stream"}}, "partition.key"),
        ({"partition": {"kind": "folder", "key": "a"}}, "partition.kind"),
        ({"source_refs": []}, "source_refs"),
        ({"source_refs": ["said-2", "said-2"]}, "source_refs"),
        ({"source_refs": ["evd_1", "said-2"]}, "source_refs[0]"),
        ({"source_refs": ["said-2"]}, "coverage.source_count"),
        ({"source_refs": ["said-1", "said-3"]}, "coverage.through_ref"),
        ({"coverage": {"raw_sources_retained": False}}, "coverage.raw_sources_retained"),
        ({"coverage": {"source_digest": "sha256:0"}}, "coverage.source_digest"),
        ({"coverage": {"from_sequence": 3}}, "coverage.through_sequence"),
        ({"coverage": {"from_sequence": 0}}, "coverage.from_sequence"),
        ({"facets": ["a"]}, "facets"),
        ({"summary": "x"}, "summary"),
    ],
)
def test_a_summary_that_is_not_bound_exactly_is_refused(fields: dict[str, Any], path: str) -> None:
    assert refused("semantic", _semantic(_compaction(**fields))) == [f"context_compaction.{path}"]


def test_a_summary_says_something() -> None:
    triple = {name: SAMPLES["semantic"][name] for name in ("subject", "relation", "object")}

    assert refused("semantic", {**triple, "context_compaction": COMPACTION}) == ["statement"]


# --- what is guarded -------------------------------------------------------------------------

SCOPE = Scope(tenant_id="t", workspace_id="w")


def _atom(atom_type: str, payload: Any) -> dict[str, Any]:
    return {
        "type": atom_type,
        "payload": payload,
        "evidence_refs": ["evd_1"],
        "confidence": {"level": "high"},
    }


@pytest.mark.parametrize("atom_type", sorted(PAYLOADS))
def test_a_sound_atom_is_taken_unless_its_type_is_guarded(atom_type: str) -> None:
    atom = _atom(atom_type, SAMPLES[atom_type])
    if atom_type not in GUARDED:
        assert check_atom(atom, SCOPE)[1] == []
        return
    with pytest.raises(AmosError) as refusal:
        check_atom(atom, SCOPE, "atoms[0]")

    assert refusal.value.code == "authorization_denied"
    assert [(fault.path, fault.message) for fault in refusal.value.faults] == [
        ("atoms[0].type", GUARDED[atom_type])
    ]


@pytest.mark.parametrize("atom_type", sorted(GUARDED))
def test_a_guarded_atom_that_is_not_sound_is_told_what_is_wrong_with_it(atom_type: str) -> None:
    with pytest.raises(AmosError) as refusal:
        check_atom(_atom(atom_type, changed(atom_type, extra=1)), SCOPE, "atoms[0]")

    assert refusal.value.code == "schema_invalid"
    assert [fault.path for fault in refusal.value.faults] == ["atoms[0].payload.extra"]


def test_an_atom_may_leave_out_the_shard_that_its_request_names() -> None:
    atom = {**_atom("belief", SAMPLES["belief"]), "scope": {"project": "p"}}

    checked, warnings = check_atom(atom, SCOPE)

    assert checked.envelope.scope == Scope(tenant_id="t", workspace_id="w", project_id="p")
    assert warnings == ["atom.scope.project: read as project_id"]


@pytest.mark.parametrize(
    ("atom_type", "layer", "retention_class"),
    [
        ("runtime_state", "immediate", "ephemeral"),
        ("working_state", "working", "session"),
        ("self_model", "consolidated_long_term", "project"),
    ],
)
def test_what_passes_is_no_long_term_memory_unless_its_envelope_says_so(
    atom_type: str, layer: str, retention_class: str
) -> None:
    atom = _atom(atom_type, SAMPLES[atom_type])
    plain = check_atom(atom, SCOPE)[0].envelope
    kept = check_atom({**atom, "layer": "session", "retention_class": "durable"}, SCOPE)[0].envelope

    assert (plain.layer, plain.retention_class) == (layer, retention_class)
    assert (kept.layer, kept.retention_class) == ("session", "durable")


def test_processors_named_in_a_scope_are_read_as_those_of_the_policy() -> None:
    atom = {**_atom("belief", SAMPLES["belief"]), "scope": {"applies_to": ["planner"]}}

    checked, warnings = check_atom(atom, SCOPE)

    policy = checked.envelope.access_policy
    assert policy is not None
    assert policy.processor_visibility == ["planner"]
    assert warnings == ["atom.scope.applies_to: read as access_policy.processor_visibility"]
    with pytest.raises(AmosError) as refusal:
        check_atom({**atom, "access_policy": {"visibility": ["critic"]}}, SCOPE)
    assert [fault.path for fault in refusal.value.faults] == ["atom.scope.applies_to"]


# --- any value -------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text("abc: ", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.reliability("T18")
@given(st.sampled_from(sorted(PAYLOADS)), st.data())
def test_no_value_of_a_field_does_more_than_be_taken_or_refused_at_that_field(
    atom_type: str, data: st.DataObject
) -> None:
    fields = sorted(PAYLOADS[atom_type].model_fields)
    field = data.draw(st.sampled_from(fields))
    value = changed(atom_type, **{field: data.draw(_JSON)})
    try:
        taken = validate_payload(atom_type, value)
    except AmosError:
        assert all(
            path.split(".")[0].split("[")[0] in {"payload", *fields} for path in refused(atom_type, value)
        )
    else:
        assert validate_payload(atom_type, taken.record()).record() == taken.record()
