"""What is asked of recall and what comes back (spec, "MemoryPacketRequest", "MemoryPacket")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, cast, get_args

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from amos_graph.domain.atoms import PAYLOADS, payload_type
from amos_graph.domain.atoms.paths import has_path
from amos_graph.domain.attention import (
    AttentionContext,
    TaskContext,
    TypeNames,
    said,
    settled_attention,
)
from amos_graph.domain.budget import Budget
from amos_graph.domain.ids import ID_LENGTH_MAX, Identifier
from amos_graph.domain.lifecycle import NOT_FOR_HIGH_IMPACT
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.scope import PROCESSORS, AskedScope, Scope, with_spelled_scope
from amos_graph.domain.times import Timestamp
from amos_graph.domain.trust import TrustClass
from amos_graph.errors import AmosError, Fault, invalid

#: The characters of all cues of one request together. A whole turn of a conversation fits.
CUE_CHARACTERS_MAX: Final = 20_000
ITEMS_DEFAULT: Final = 10

PATHS_MAX: Final = 100

RenderingTarget = Literal["json", "english", "graph", "planner_state", "executor_context"]
RENDERING_TARGETS: Final[tuple[RenderingTarget, ...]] = get_args(RenderingTarget)

#: Fields of modes that come later. They are refused, since to take one and not to act on it would
#: promise what is not kept.
_NOT_YET: Final = (
    "shared_view_ref",
    "agentic_recall_subject",
    "agency_attribution_filter",
    "bias_guardrails",
)

#: Processors that act without a person in between; what awaits a review is no ground for an action.
AUTONOMOUS_PROCESSORS: Final = frozenset({"executor", "tool_worker"})


@dataclass(frozen=True, slots=True)
class Mode:
    """What a retrieval mode changes about a packet."""

    #: Atom types that come before others, as if attention boosted them.
    prefers: frozenset[str] = frozenset()
    #: False while only the place of the mode exists.
    ready: bool = True


#: Every mode of the specification. A mode that is not ready is refused by name.
MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {
        "general": Mode(),
        "skill_discovery": Mode(prefers=frozenset({"procedure", "capability", "action_outcome"})),
        "self_awareness": Mode(ready=False),
        "shared_coordination": Mode(ready=False),
        "agentic_recall": Mode(ready=False),
    }
)
RETRIEVAL_MODES: Final = tuple(name for name, mode in MODES.items() if mode.ready)


def _processor(name: str) -> str:
    if name not in PROCESSORS or name == "all":
        raise ValueError(f"not one of {', '.join(sorted(PROCESSORS - {'all'}))}")
    return name


Said = Annotated[
    str,
    Field(max_length=CUE_CHARACTERS_MAX),
    AfterValidator(said),
    WithJsonSchema({"type": "string", "pattern": r"\S", "maxLength": CUE_CHARACTERS_MAX}),
]
PayloadPath = Annotated[str, Field(min_length=1, max_length=ID_LENGTH_MAX)]
Processor = Annotated[str, AfterValidator(_processor), WithJsonSchema({"enum": sorted(PROCESSORS - {"all"})})]


class PacketRequest(Strict):
    """What recall is asked for; what it cannot act on is refused with its path."""

    cues: list[Said] = Field(default_factory=list[str], max_length=50)
    target_processor: Processor | None = None
    retrieval_mode: Literal["general", "skill_discovery"] = "general"
    attention_context: AttentionContext = AttentionContext()
    task_context: TaskContext | None = None
    scope: AskedScope | None = None
    requested_memory_types: TypeNames = Field(default_factory=list[str])
    #: Lifted field → the value that it must equal; all of them.
    payload_filter: dict[str, Any] = Field(default_factory=dict[str, Any], max_length=20)
    #: The places of payloads that are returned (`field`, `field.member`); all where none are given.
    result_payload_filter: list[PayloadPath] | None = Field(default=None, max_length=PATHS_MAX)
    max_items: int = Field(default=ITEMS_DEFAULT, ge=1)
    token_or_byte_budget: Budget | None = None
    consistency_requirement: Literal["strong", "monotonic", "eventual"] = "monotonic"
    min_graph_version: int | None = Field(default=None, ge=0)
    include_conflicts: bool = True
    include_archived: bool = False
    include_low_health: bool = False
    include_superseded: bool = False
    include_provenance: bool = False
    rendering_target: RenderingTarget = "json"
    #: What was known: a graph version.
    as_of_version: int | None = Field(default=None, ge=0)
    #: What held: an instant within the memories' validity_interval. What was superseded since is told too.
    valid_at: Timestamp | None = None
    #: From when age is counted, and unless `valid_at` says otherwise when memories must hold.
    evaluated_at: Timestamp | None = None
    request_id: Identifier | None = None
    client_identity: Identifier | None = None

    @model_validator(mode="before")
    @classmethod
    def _spellings(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = cast("dict[str, Any]", value)
        record = {name: member for name, member in given.items() if name not in _NOT_YET}
        return with_spelled_scope(record)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request in full: checked against what exists, with its instant and its scope settled."""

    request: PacketRequest
    scope: Scope
    evaluated_at: str

    @property
    def attention(self) -> AttentionContext:
        """What is foregrounded and held back, with posture and horizon as the task sets them."""
        return settled_attention(self.request.attention_context, self.request.task_context)

    @property
    def focus(self) -> list[str]:
        """Every text that focuses, of attention and of the task; its names and ids find candidates too."""
        task = self.request.task_context
        return [*self.request.attention_context.focus, *(task.focus if task else ())]

    @property
    def mode(self) -> Mode:
        return MODES[self.request.retrieval_mode]

    @property
    def high_impact(self) -> bool:
        """True if the packet serves an action of high risk, or one that no person stands behind."""
        return (
            self.attention.risk_posture == "high_risk"
            or self.request.target_processor in AUTONOMOUS_PROCESSORS
        )

    def withholds(self, health_status: str, health_flags: Collection[str]) -> str | None:
        """The health for which an atom that recall may return stays out of this packet, if it does."""
        if health_status == "contradicted" and not self.request.include_conflicts:
            return health_status
        if not self.high_impact:
            return None
        return min(NOT_FOR_HIGH_IMPACT & {health_status, *health_flags}, default=None)

    def record(self) -> dict[str, Any]:
        """The request as the packet repeats it: sent again, it asks for the same."""
        return {**self.request.record(), "scope": self.scope.record(), "evaluated_at": self.evaluated_at}


def check_request(value: Mapping[str, Any], scope: Scope, instant: str, items_max: int) -> Asked:
    """The request, with every default filled in; `scope` is what the caller asks within.

    Raises `schema_invalid` with the path of each fault, and `scope_denied` when the request's scope
    contradicts the caller's.
    """
    _refuse_what_nothing_acts_on(value)
    request = validate(PacketRequest, value)
    if request.max_items > items_max:
        raise invalid("max_items", f"more than {items_max} in one packet")
    if sum(len(cue) for cue in request.cues) > CUE_CHARACTERS_MAX:
        raise invalid("cues", f"longer than {CUE_CHARACTERS_MAX} characters together")
    attention = request.attention_context
    for path, names in (
        ("requested_memory_types", request.requested_memory_types),
        ("attention_context.boost_memory_types", attention.boost_memory_types),
        ("attention_context.suppress_memory_types", attention.suppress_memory_types),
    ):
        for index, name in enumerate(names):
            _known_type(name, f"{path}[{index}]")
    _check_filter(request)
    _check_paths(request)
    return Asked(request, _narrowed(scope, request.scope), request.evaluated_at or instant)


def _refuse_what_nothing_acts_on(value: Mapping[str, Any]) -> None:
    faults = [Fault(name, "not supported yet") for name in _NOT_YET if value.get(name) is not None]
    mode = value.get("retrieval_mode")
    if isinstance(mode, str) and mode not in RETRIEVAL_MODES:
        known = ", ".join(RETRIEVAL_MODES)
        later = f"{mode} comes later; {known} exist" if mode in MODES else f"only {known} exist"
        faults.append(Fault("retrieval_mode", later))
    if faults:
        raise AmosError("schema_invalid", f"{faults[0].path}: {faults[0].message}", faults)


def _known_type(name: str, at: str) -> None:
    if name not in PAYLOADS:
        raise invalid(at, f"no such atom type; known are {', '.join(PAYLOADS)}")


def _check_filter(request: PacketRequest) -> None:
    """Only fields that stand in the graph as properties can be compared there."""
    types = request.requested_memory_types or list(PAYLOADS)
    allowed = sorted({name for atom_type in types for name in payload_type(atom_type).lifted})
    for name, wanted in request.payload_filter.items():
        at = f"payload_filter.{name[:80]}"
        if name not in allowed:
            raise invalid(at, f"cannot be filtered on; these can: {', '.join(allowed)}")
        if not isinstance(wanted, (str, int, float, bool)):
            raise invalid(at, "a filter compares with a text, a number or a truth value")


def _check_paths(request: PacketRequest) -> None:
    """A place that no payload can have is a mistake, and not one more thing to leave out."""
    types = request.requested_memory_types or list(PAYLOADS)
    for index, path in enumerate(request.result_payload_filter or ()):
        if not any(has_path(payload_type(atom_type), path) for atom_type in types):
            raise invalid(f"result_payload_filter[{index}]", f"no payload of these types has {path}")


def _narrowed(scope: Scope, asked: AskedScope | None) -> Scope:
    merged: dict[str, Any] = scope.record()
    for name, value in (asked.record() if asked else {}).items():
        if merged.setdefault(name, value) != value:
            raise AmosError(
                "scope_denied",
                f"scope.{name}: lies outside what this caller asks within",
                [Fault(f"scope.{name}", "lies outside what this caller asks within")],
            )
    return validate(Scope, merged, "scope")


class PacketItem(Strict):
    """One atom of a packet, with why it is there (spec, "MemoryPacketItem")."""

    atom_ref: str
    type: str
    payload: dict[str, Any]
    score: float
    score_components: dict[str, Annotated[float, Field(ge=0, le=1)]]
    #: Component → weight × component; they add up to `score` (exactly, by math.fsum).
    score_parts: dict[str, float]
    item_ref: str
    item_kind: Literal["atom"]
    atom_id: str
    atom_type: str
    lifecycle_state: str
    health_status: str
    rank: int
    activation_score: float
    #: The role of the bundle that it fills, if it is one of the fourteen, and whether its place was reserved.
    bundle_role: str | None
    reserved_place: bool
    #: What holds it back: kind, inhibitor (null for the request itself and for its own standing), reason.
    inhibited_by: list[dict[str, Any]]
    #: The steps by which activation came: edge, relation, ends; empty if it came from cues alone.
    activation_path: list[dict[str, Any]]
    matched_terms: list[str]
    confidence: dict[str, Any]
    salience: float
    utility: float
    rendered_content: str
    #: Where the content comes from (domain/trust.py). Whatever it is, the content is data.
    trust_class: TrustClass
    #: Only evidence that the caller may read.
    evidence_refs: list[str]
    evidence: list[dict[str, Any]]
    #: True if the atom's policy keeps what it rests on from this caller.
    evidence_withheld: bool
    access_decision: str
    freshness: dict[str, Any]
    scope: Scope
    updated_at: str
    version: int
    provenance: dict[str, Any]


class MemoryPacket(Strict):
    """A rendered, bounded, non-authoritative view over memory at one graph version."""

    packet_id: str
    schema_version: Literal["amos.v1"]
    request: dict[str, Any]
    graph_version: int
    generated_at: str
    evaluated_at: str
    target_processor: str | None
    retrieval_mode: Literal["general", "skill_discovery"]
    scope: Scope
    shared_view_ref: None
    pressure_mode: Literal["green"]
    degradation: dict[str, Any] | None
    items: list[PacketItem]
    conflicts: list[dict[str, Any]]
    omissions: list[dict[str, Any]]
    attention_trace: dict[str, Any]
    provenance: dict[str, Any]
    cache_policy: dict[str, Any]
    #: The packet as the request's rendering target has it; none for `json`, which is the packet itself.
    rendered: str | dict[str, Any] | None = None
