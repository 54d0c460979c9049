"""Generated artifacts, which expire and are never memory: self-narratives (spec, "SelfNarrative")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator
from pydantic.json_schema import JsonSchemaValue

from amos_graph.domain.atoms.payload import ITEMS_MAX, AtomRefs
from amos_graph.domain.ids import ArtifactId, EntityId, Identifier
from amos_graph.domain.model import Strict
from amos_graph.domain.scope import AccessPolicy, Scope, with_spelled_scope
from amos_graph.domain.times import Timestamp
from amos_graph.domain.value_kinds import TEXT_LENGTH_MAX, check_record, fault
from amos_graph.domain.values import Condition, Name, Statement

#: Field → the types of atoms that it cites. Outcomes have no field of their own in the specification.
CITED: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "source_trace_refs": frozenset({"agentic_trace", "action_outcome"}),
        "source_self_model_refs": frozenset({"self_model"}),
        "source_capability_refs": frozenset({"capability"}),
        "source_limitation_refs": frozenset({"limitation"}),
        "source_assessment_refs": frozenset({"self_assessment"}),
    }
)
COUNTEREVIDENCE: Final = "source_counterevidence_refs"
_TEXT: Final[JsonSchemaValue] = {"type": "string", "pattern": r"\S", "maxLength": TEXT_LENGTH_MAX}


class SelfNarrative(Strict):
    """A generated account of an agent's role or recent work, told from what the store holds of it.

    It cites what it is told from, what speaks against it in `source_counterevidence_refs` (an empty list
    says that nothing was found), and says in `balance_report` how the two were weighed.
    """

    id: ArtifactId
    artifact_type: Literal["self_narrative"] = "self_narrative"
    subject_agent: EntityId
    scope: Scope | None = None
    access_policy: AccessPolicy | None = None
    narrative: Statement
    source_trace_refs: AtomRefs = Field(default_factory=list[str])
    source_self_model_refs: AtomRefs = Field(default_factory=list[str])
    source_capability_refs: AtomRefs = Field(default_factory=list[str])
    source_limitation_refs: AtomRefs = Field(default_factory=list[str])
    source_assessment_refs: AtomRefs = Field(default_factory=list[str])
    #: Atoms of any type, and evidence.
    source_counterevidence_refs: Annotated[list[Identifier], Field(max_length=ITEMS_MAX)]
    narrative_scope: Annotated[Condition, WithJsonSchema({"anyOf": [_TEXT, {"type": "object"}]})]
    rendering_target: Name = "english"
    balance_report: Annotated[dict[str, Any], Field(min_length=1), AfterValidator(check_record)]
    generated_at: Timestamp | None = None
    #: The longest life that the service allows, unless given.
    expires_at: Timestamp | None = None
    #: The version that this one is told in place of.
    version: int | None = Field(default=None, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _spellings(cls, value: Any) -> Any:
        """The specification calls the id `narrative_id`."""
        if not isinstance(value, dict):
            return value
        given = with_spelled_scope(cast("dict[str, Any]", value))
        if "narrative_id" in given and "id" not in given:
            given = {**given, "id": given["narrative_id"]}
            del given["narrative_id"]
        return given

    @model_validator(mode="after")
    def _told_from_something(self) -> SelfNarrative:
        if not any(getattr(self, field) for field in CITED):
            raise fault("a narrative is told from something: cite it", "source_trace_refs")
        return self

    def cited(self) -> Iterator[tuple[str, str]]:
        """Each ref that it cites, with the path at which it stands."""
        for field in (*CITED, COUNTEREVIDENCE):
            for index, ref in enumerate(getattr(self, field)):
                yield f"{field}[{index}]", ref


def narrative_body(
    narrative: SelfNarrative,
    scope: Scope,
    versions: Mapping[str, int],
    *,
    expires_at: str,
    now: str,
    writer: str,
) -> dict[str, Any]:
    """The record as it is stored first; `versions` are those of its sources as it was told."""
    return {
        **narrative.record(),
        "schema_version": "amos.v1",
        "scope": scope.record(),
        "source_versions": dict(sorted(versions.items())),
        "generated_at": narrative.generated_at or now,
        "expires_at": expires_at,
        "lifecycle_state": "active",
        "version": 1,
        "created_at": now,
        "updated_at": now,
        "last_writer": writer,
    }
