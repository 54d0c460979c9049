"""The envelope `amos.context-compaction.v1`: what a summary of a conversation stands for, and how far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from amos_graph.domain.atoms.payload import ITEMS_MAX
from amos_graph.domain.canonical import INTEGER_MAX
from amos_graph.domain.ids import AtomId, Identifier
from amos_graph.domain.model import Strict
from amos_graph.domain.value_kinds import fault
from amos_graph.domain.values import ValueRecord

#: The field of a semantic atom's payload that carries the envelope.
FIELD: Final = "context_compaction"
_DIGEST_LENGTH: Final = 64


def _checksum(text: str) -> str:
    kind, _, digits = text.partition(":")
    if kind != "sha256" or len(digits) != _DIGEST_LENGTH or set(digits) - set("0123456789abcdef"):
        raise ValueError("not a checksum (sha256:<64 hexadecimal digits, lower case>)")
    return text


Checksum = Annotated[str, AfterValidator(_checksum)]
Sequence = Annotated[int, Field(ge=1, le=INTEGER_MAX)]


class Partition(Strict):
    """The part of the interactions that is covered: one conversation of the atom's own scope."""

    kind: Literal["interaction_stream"]
    key: Identifier


class Coverage(Strict):
    """From which event of the partition to which, and what its sources said when they were read."""

    from_sequence: Sequence
    through_sequence: Sequence
    through_ref: AtomId
    source_count: int = Field(ge=1, le=ITEMS_MAX)
    source_digest: Checksum
    #: The declaration that the raw sources stay canonical and the summary takes the place of none.
    raw_sources_retained: Literal[True]

    @model_validator(mode="after")
    def _ordered(self) -> Coverage:
        if self.through_sequence < self.from_sequence:
            raise fault("lies before from_sequence", "through_sequence")
        return self


class ContextCompaction(Strict):
    """What binds a segment or a rolling summary to the events that it was made from.

    Source: spec, "the application-neutral amos.context-compaction.v1 envelope".
    """

    profile: Literal["amos.context-compaction.v1"]
    mode: Literal["segment", "rolling"]
    partition: Partition
    coverage: Coverage
    source_refs: Annotated[list[AtomId], Field(min_length=1, max_length=ITEMS_MAX)]
    facets: ValueRecord | None = None

    @model_validator(mode="after")
    def _exact(self) -> ContextCompaction:
        if len(set(self.source_refs)) != len(self.source_refs):
            raise fault("names a source twice", "source_refs")
        if self.coverage.source_count != len(self.source_refs):
            raise fault(f"{len(self.source_refs)} sources are named", "coverage", "source_count")
        if self.coverage.through_ref not in self.source_refs:
            raise fault("is none of the sources", "coverage", "through_ref")
        return self


def summarized(payload: Mapping[str, Any]) -> list[str]:
    """The atoms that a payload's record declares to be summarized by its own atom (`rel:summarizes`)."""
    envelope: Mapping[str, Any] = payload.get(FIELD) or {}
    return list(envelope.get("source_refs", ()))
