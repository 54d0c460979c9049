"""What binds: constitutional records, the judgments that adopt them, authority, and policies.

All but policies are guarded: their payloads are defined, and no ordinary command writes them.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from amos_graph.domain.atoms.action import ProcedureName
from amos_graph.domain.atoms.compaction import Checksum
from amos_graph.domain.atoms.motivation import Priority
from amos_graph.domain.atoms.payload import ITEMS_MAX, AtomRefs, Dated, Details, Payload, Refs, lift
from amos_graph.domain.canonical import INTEGER_MAX
from amos_graph.domain.ids import AtomId, Identifier
from amos_graph.domain.model import Strict
from amos_graph.domain.times import Timestamp
from amos_graph.domain.value_kinds import check_data, fault
from amos_graph.domain.values import AtomValue, Condition, Data, Detail, Name, Statement

Amendability = Literal["amendable", "entrenched", "immutable"]
Outcome = Literal[
    "adopted",
    "provisionally_adopted",
    "confirmed",
    "rejected",
    "revised",
    "withdrawn",
    "deferred",
    "contested",
]
RiskClass = Literal[
    "semantic",
    "procedure",
    "project",
    "preference",
    "goal",
    "self_model",
    "identity",
    "governance",
    "covenant",
    "primal_guidance",
    "constitutional_critical",
    "meta_constitutional",
]
#: Risk classes whose adjudication has heard an advisory critic.
CONSTITUTIONAL: Final = frozenset(
    {"covenant", "primal_guidance", "constitutional_critical", "meta_constitutional"}
)
StandingStatus = Literal[
    "none",
    "candidate",
    "provisional",
    "settled",
    "operative",
    "contested",
    "rejected",
    "withheld",
    "superseded",
]
PolicyKind = Literal["policy", "constraint"]

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Rules = Annotated[list[Statement], Field(max_length=ITEMS_MAX)]
_POINTER = re.compile(r"(/([^~/]|~[01])*)+")
#: The longest interval that a threshold may ask for.
INTERVAL_S_MAX: Final = 100 * 366 * 24 * 3600


def _pointer(text: str) -> str:
    if len(text) > 2000 or not _POINTER.fullmatch(text):
        raise ValueError("not a path (a JSON pointer: /field/0/member)")
    return text


class Difference(Strict):
    """One place where a successor differs: what was there before, what is there after, or one of both."""

    path: Annotated[str, AfterValidator(_pointer)]
    before: Annotated[Any, AfterValidator(check_data), Data()] = None
    after: Annotated[Any, AfterValidator(check_data), Data()] = None

    @model_validator(mode="after")
    def _differs(self) -> Difference:
        if not self.model_fields_set & {"before", "after"}:
            raise fault("names what was there before or is there after", "path")
        if {"before", "after"} <= self.model_fields_set and self.before == self.after:
            raise fault("is what was there before", "after")
        return self


def _canonical_order(differences: list[Difference]) -> list[Difference]:
    for index, (one, other) in enumerate(pairwise(differences), 1):
        if other.path <= one.path:
            raise fault("each path stands once, in the order of their characters", index, "path")
    return differences


#: The exact differences from the predecessor, path by path.
Differences = Annotated[list[Difference], Field(max_length=1000), AfterValidator(_canonical_order)]


class Threshold(Strict):
    """How often, and how far apart, a conclusion is to be reached again before it counts."""

    required_confirmations: int = Field(ge=1, le=1000)
    min_interval_seconds: int | None = Field(default=None, ge=0, le=INTERVAL_S_MAX)
    materially_distinct_evidence: bool | None = None

    @model_validator(mode="after")
    def _apart(self) -> Threshold:
        if self.required_confirmations > 1 and not self.min_interval_seconds:
            raise fault("is positive where more than one confirmation is required", "min_interval_seconds")
        return self


class AmendmentRequirements(Strict):
    """What it takes to amend a constitutional record."""

    ratification_threshold: Threshold | None = None
    required_capabilities: Annotated[list[Name], Field(max_length=ITEMS_MAX)] | None = None
    conditions: Rules | None = None


class Constitutional(Payload):
    """What constitutional records have in common; they hold from `effective_from` on."""

    holds = ("effective_from", None)

    precedence: int = Field(ge=0, le=INTEGER_MAX)
    interpretive_rules: Rules
    amendability: Amendability
    amendment_requirements: AmendmentRequirements
    protected_fields: Annotated[list[Name], Field(max_length=ITEMS_MAX)]
    effective_from: Timestamp
    predecessor_ref: AtomId | None = None
    predecessor_diff: Differences | None = None

    @model_validator(mode="after")
    def _says_what_changed(self) -> Constitutional:
        if (self.predecessor_ref is None) != (self.predecessor_diff is None):
            missing = "predecessor_diff" if self.predecessor_diff is None else "predecessor_ref"
            raise fault("a successor names its predecessor and the exact difference", missing)
        return self


class PrimalGuidance(Constitutional):
    """Guidance of the first tier, by which everything else is read (spec, "PrimalGuidance")."""

    atom_type = "primal_guidance"
    label = "PrimalGuidance"
    lifted = lift("constitutional_tier", "precedence", "amendability")
    role_text = "primal guidance {precedence}: {interpretive_rules}"
    apart = Payload.apart | {"predecessor_diff"}
    guard = "constitutional guidance is adopted by guarded self-ratification only"

    constitutional_tier: Literal["primal"]

    @model_validator(mode="after")
    def _guides(self) -> PrimalGuidance:
        if not self.interpretive_rules:
            raise fault("guidance has a rule at least", "interpretive_rules")
        return self


class Covenant(Constitutional):
    """A rule that an identity has bound itself to (spec, "Covenant")."""

    atom_type = "covenant"
    label = "Covenant"
    lifted = lift("name", "constitutional_tier", "precedence", "amendability")
    slot = ("name",)
    role_text = "{name} {rule}"
    apart = Payload.apart | {"predecessor_diff"}
    guard = "a covenant is adopted by guarded self-ratification only"

    name: Name | None = None
    rule: Statement | None = None
    constitutional_tier: Slug

    @model_validator(mode="after")
    def _binds(self) -> Covenant:
        if self.name is None and self.rule is None:
            raise fault("a covenant has a name or a rule", "rule")
        if self.constitutional_tier == "primal":
            raise fault("the primal tier is that of primal_guidance", "constitutional_tier")
        return self


class Standing(Strict):
    """Where a claim stands in one respect."""

    status: StandingStatus
    reason: Detail | None = None


class OperationalAuthority(Standing):
    """Which actions may rely on a claim, if any, and up to which risk."""

    permitted_actions: Details | None = None
    risk_ceiling: RiskClass | None = None


class ConstitutionalStanding(Strict):
    """The constitutional role of a claim: none, inherited from the beginning, a candidate's, or ratified."""

    status: Literal["none", "inherited_genesis", "candidate", "ratified"]


class AdvisoryCritic(Strict):
    """The critic that was heard. It advises; it decides nothing."""

    status: Literal["available", "unavailable"]
    authority: Literal["advisory_only"]
    critic_ref: Identifier | None = None
    opinion_refs: Refs | None = None


class Ratifier(Strict):
    """The identity that draws the conclusion, which is its own."""

    identity_ref: Identifier
    mode: Literal["self_ratification"]


class Diachronic(Strict):
    """How the conclusion was reached again at another time."""

    independent_reconstruction: bool
    original_reasoning_shown: bool
    new_experience_refs: Refs
    disposition: Literal["initial", "confirmed", "revised", "withdrawn"]


class Adjudication(Payload):
    """An identity's own judgment of a proposal, with reasons, dissent and standing (spec, "Adjudication")."""

    atom_type = "adjudication"
    label = "Adjudication"
    lifted = lift(
        "subject_ref",
        "claim_kind",
        "outcome",
        "risk_class",
        "reconstructed_at",
        epistemic_standing="epistemic_standing.status",
        normative_standing="normative_standing.status",
        operational_authority="operational_authority.status",
        constitutional_standing="constitutional_standing.status",
        ratifier="ratifier.identity_ref",
    )
    role_text = "{outcome}: {subject_ref}"
    apart = Payload.apart | {"predecessor_diff"}
    guard = "an adjudication needs an authenticated self_adjudication capability"
    immutable = True

    subject_ref: AtomId
    claim_kind: Slug
    outcome: Outcome
    reasons_for_refs: Refs
    reasons_against_refs: Refs
    covenant_refs: Annotated[AtomRefs, Field(min_length=1)]
    unresolved_objections: Details
    adjudication_scope: Condition
    epistemic_standing: Standing
    normative_standing: Standing
    operational_authority: OperationalAuthority
    constitutional_standing: ConstitutionalStanding
    risk_class: RiskClass
    predecessor_diff: Differences | None = None
    advisory_critic: AdvisoryCritic | None = None
    dissent_refs: Refs
    review_triggers: Details
    ratifier: Ratifier
    reconstructed_at: Timestamp
    diachronic: Diachronic
    ratification_threshold: Threshold | None = None

    @model_validator(mode="after")
    def _heard_a_critic(self) -> Adjudication:
        if self.risk_class not in CONSTITUTIONAL:
            return self
        if self.advisory_critic is None:
            raise fault(f"an adjudication of risk class {self.risk_class} heard a critic", "advisory_critic")
        if self.advisory_critic.status != "available":
            raise fault("the critic is available", "advisory_critic", "status")
        return self


class AuthorityRecord(Payload):
    """One revision of a procedure that an application owns (spec, "authority_record head").

    The store keeps the series in order; what the record permits, the application alone says.
    """

    atom_type = "authority_record"
    label = "AuthorityRecord"
    lifted = lift("authority_series_id", "authority_revision", "checksum", "name", "legacy_predecessor_ref")
    slot = ("authority_series_id",)
    role_text = "{authority_series_id}, revision {authority_revision}"
    apart = Payload.apart | {"checksum"}
    guard = "an authority record is adopted through its own compare-and-swap head only"
    immutable = True

    authority_series_id: Identifier
    authority_revision: int = Field(ge=1, le=INTEGER_MAX)
    checksum: Checksum
    name: ProcedureName | None = None
    trigger_context: Condition
    steps: Annotated[list[Detail], Field(min_length=1, max_length=ITEMS_MAX)]
    legacy_predecessor_ref: AtomId | None = None

    @model_validator(mode="after")
    def _adopted_once(self) -> AuthorityRecord:
        if self.legacy_predecessor_ref is not None and self.authority_revision != 1:
            raise fault("only the first revision takes over from what was before", "legacy_predecessor_ref")
        return self


class Policy(Dated):
    """A policy or a constraint: what it demands, of whom, where (design §7, policy and constraint memory)."""

    atom_type = "policy"
    label = "Policy"
    lifted = lift("name", "policy_kind", "issued_by", "priority")
    slot = ("name",)
    role_text = "{name}: {rule}"

    name: Name
    policy_kind: PolicyKind
    rule: Detail
    issued_by: AtomValue | None = None
    applies_to: Details | None = None
    applicability_scope: Condition | None = None
    priority: Priority | None = None
    exceptions: Details | None = None
