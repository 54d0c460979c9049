"""What became of a packet, as its reader tells it (spec, "POST /v1/retrieval-outcomes")."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field, model_validator

from amos_graph.domain.canonical import canonical_text, digest
from amos_graph.domain.ids import AtomId, PacketId
from amos_graph.domain.model import Strict
from amos_graph.domain.scope import Scope
from amos_graph.domain.value_kinds import fault

#: References of one list; a packet has no more items.
REFS_MAX: Final = 500
LABELS_MAX: Final = 20
CUES_MAX: Final = 20
CUE_LENGTH_MAX: Final = 200

#: How the task went for which the packet was read, and what is wrong with the memories that did harm.
OutcomeLabel = Literal[
    "observed",
    "succeeded",
    "partial",
    "failed",
    "blocked",
    "corrected",
    "mis_scoped",
    "confounding",
    "stale",
    "overgeneralized",
    "contradicted",
    "low_utility",
]
#: Why a memory is to be looked at again (spec, "flagged for possible repair").
REPAIRS: Final = frozenset(
    {"mis_scoped", "confounding", "stale", "overgeneralized", "contradicted", "low_utility"}
)
UseStatus = Literal["used", "context_only", "ignored", "unused"]
#: Statuses of a packet that changed nothing: its memories were seen, and neither helped nor harmed.
NEUTRAL: Final = frozenset({"context_only", "ignored", "unused"})
OUTCOME_LABELS: Final[tuple[str, ...]] = get_args(OutcomeLabel)
USE_STATUSES: Final[tuple[str, ...]] = get_args(UseStatus)

#: Lists that judge memories, and so demand that the packet was used → the judgment.
JUDGMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "helpful_atom_refs": "helpful",
        "unhelpful_atom_refs": "unhelpful",
        "correction_refs": "corrected",
    }
)
_LISTS: Final = ("used_item_refs", *JUDGMENTS)

Refs = Annotated[list[AtomId], Field(max_length=REFS_MAX)]
Cue = Annotated[str, Field(min_length=1, max_length=CUE_LENGTH_MAX)]


class OutcomeRequest(Strict):
    """What is told of a packet; every reference is of an item of exactly that packet."""

    packet_id: PacketId
    #: The request that the packet answered. With the packet's own, its `evaluated_at` included, and its
    #: graph version, a packet that the service has no note of is worked out again.
    request: dict[str, Any] | None = None
    graph_version: int | None = Field(default=None, ge=0)
    outcome_labels: Annotated[list[OutcomeLabel], Field(max_length=LABELS_MAX)] = Field(
        default_factory=list[OutcomeLabel]
    )
    #: Unless given: `used` if any memory is said to have been used or judged, else `context_only`.
    use_status: UseStatus | None = None
    used_item_refs: Refs = Field(default_factory=list[str])
    helpful_atom_refs: Refs = Field(default_factory=list[str])
    correction_refs: Refs = Field(default_factory=list[str])
    unhelpful_atom_refs: Refs = Field(default_factory=list[str])
    #: What the caller missed; kept with the raw outcome for people who audit, and acted on by nobody.
    missing_capability_cues: Annotated[list[Cue], Field(max_length=CUES_MAX)] = Field(
        default_factory=list[str]
    )

    @model_validator(mode="after")
    def _judges_once_and_only_what_was_used(self) -> OutcomeRequest:
        judged: dict[str, str] = {}
        for name in JUDGMENTS:
            refs: list[str] = getattr(self, name)
            if refs and self.use_status in NEUTRAL:
                raise fault(f"judges memories of a packet that was {self.use_status}", name)
            for index, ref in enumerate(refs):
                if judged.setdefault(ref, name) != name:
                    raise fault(f"is also among {judged[ref]}", name, index)
        return self

    def told(self) -> dict[str, Any]:
        """The outcome in one spelling: lists in order and without repeats, defaults filled in."""
        return {
            "packet_id": self.packet_id,
            "outcome_labels": sorted(set(self.outcome_labels) or {"observed"}),
            "use_status": self.use_status or ("used" if self._uses() else "context_only"),
            **{name: sorted(set(getattr(self, name))) for name in _LISTS},
            "missing_capability_cues": sorted(set(self.missing_capability_cues)),
        }

    def named(self) -> list[tuple[str, str]]:
        """Every reference with its path."""
        return [(f"{name}[{index}]", ref) for name in _LISTS for index, ref in enumerate(getattr(self, name))]

    def _uses(self) -> bool:
        return any(getattr(self, name) for name in _LISTS)


def outcome_id(client_id: str, told: Mapping[str, Any]) -> str:
    """The id of an outcome: the same one for the same words of the same client on the same packet."""
    return f"rto_{uuid.uuid5(uuid.NAMESPACE_OID, digest([client_id, told])).hex}"


@dataclass(frozen=True, slots=True)
class Held:
    """One item of a packet: the atom at its version, and the edges along which activation came to it."""

    ref: str
    version: int
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a packet held and to whom it was given."""

    id: str
    client_id: str
    graph_version: int
    evaluated_at: str
    request_digest: str
    scope: Scope
    held: tuple[Held, ...]

    @property
    def items(self) -> Mapping[str, Held]:
        return {held.ref: held for held in self.held}

    @property
    def task_context(self) -> str | None:
        """The narrowest part of the scope that was asked in: which task, session or project it was."""
        for name in ("task_id", "session_id", "project_id"):
            value = getattr(self.scope, name)
            if value is not None:
                return f"{name.removesuffix('_id')}:{value}"
        return None

    def properties(self) -> dict[str, Any]:
        """The native properties of its node."""
        return {
            "id": self.id,
            "client_id": self.client_id,
            "graph_version": self.graph_version,
            "evaluated_at": self.evaluated_at,
            "request_digest": self.request_digest,
            "scope": canonical_text(self.scope.record()),
            "atom_refs": [held.ref for held in self.held],
            "atom_versions": [held.version for held in self.held],
            "paths": canonical_text([list(held.path) for held in self.held]),
            "title": f"{len(self.held)} memories at version {self.graph_version}",
        }


def request_digest(record: Mapping[str, Any]) -> str:
    """The digest of a request as the packet repeats it."""
    return digest(record)


def manifest_of(packet: Mapping[str, Any], client_id: str) -> Manifest:
    """The manifest of a packet as recall returns it."""
    return Manifest(
        id=packet["packet_id"],
        client_id=client_id,
        graph_version=packet["graph_version"],
        evaluated_at=packet["evaluated_at"],
        request_digest=request_digest(packet["request"]),
        scope=Scope.model_validate(packet["scope"]),
        held=tuple(map(_held, packet["items"])),
    )


def _held(item: Mapping[str, Any]) -> Held:
    return Held(
        item["atom_ref"],
        item["version"],
        tuple(step["edge_id"] for step in item["activation_path"] if "edge_id" in step),
    )


def manifest_from(properties: Mapping[str, Any]) -> Manifest:
    """The manifest that native properties stand for; the inverse of `Manifest.properties`."""
    paths: Sequence[Sequence[str]] = json.loads(properties["paths"])
    held = zip(properties["atom_refs"], properties["atom_versions"], paths, strict=True)
    return Manifest(
        **{name: properties[name] for name in ("id", "client_id", "graph_version", "evaluated_at")},
        request_digest=properties["request_digest"],
        scope=Scope.model_validate(json.loads(properties["scope"])),
        held=tuple(Held(ref, version, tuple(path)) for ref, version, path in held),
    )
