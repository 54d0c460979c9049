"""Source events and the evidence records that keep them (spec, "SourceEvent", "EvidenceRecord")."""

from __future__ import annotations

from typing import Any, Final, cast

from pydantic import Field, model_validator

from amos_graph.domain.canonical import digest
from amos_graph.domain.ids import EvidenceId, derived_id
from amos_graph.domain.model import Strict
from amos_graph.domain.scope import AccessPolicy, Scope, with_spelled_scope
from amos_graph.domain.times import Timestamp

SOURCE_TYPE = r"^[a-z][a-z0-9_]{0,63}$"


class SourceEvent(Strict):
    """Something that happened in the source world: a turn, a tool call, a document, a commit."""

    evidence_id: EvidenceId | None = None
    source_type: str = Field(pattern=SOURCE_TYPE)
    source_ref: str = Field(min_length=1, max_length=2000)
    payload: dict[str, Any] = Field(default_factory=dict[str, Any])
    scope: Scope | None = None
    access_policy: AccessPolicy | None = None
    captured_at: Timestamp | None = None

    @model_validator(mode="before")
    @classmethod
    def _spellings(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return with_spelled_scope(cast("dict[str, Any]", value))


#: Ids of the evidence that an identity's constitution was founded; nobody captures under them.
GENESIS_PREFIX: Final = "evd_genesis_"


def evidence_id(event: SourceEvent, scope: Scope) -> str:
    """The id that the content determines, so that the same event captured twice is one evidence."""
    return derived_id(
        "evd_",
        {
            "source_type": event.source_type,
            "source_ref": event.source_ref,
            "payload": event.payload,
            "scope": scope.record(),
            "access_policy": event.access_policy.record() if event.access_policy else {},
        },
    )


def evidence_body(event: SourceEvent, ref: str, scope: Scope, *, now: str, writer: str) -> dict[str, Any]:
    """The evidence record with its payload inline."""
    record: dict[str, Any] = {
        "evidence_id": ref,
        "schema_version": "amos.v1",
        "source_type": event.source_type,
        "source_ref": event.source_ref,
        "payload": event.payload,
        "captured_at": event.captured_at or now,
        "checksum": "sha256:" + digest(event.payload),
        "scope": scope.record(),
        "version": 1,
        "last_writer": writer,
    }
    if event.access_policy is not None:
        record["access_policy"] = event.access_policy.record()
    return record
