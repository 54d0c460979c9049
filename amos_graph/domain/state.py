"""What a decision sees of the store: read under the shard's lock, handed over as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amos_graph.domain.ids import RecordKind


@dataclass(frozen=True, slots=True)
class Current:
    """A record at its newest version."""

    kind: RecordKind
    ref: str
    version: int
    event_id: str
    body: Mapping[str, Any]
    #: An atom that another one has taken the place of, whatever its lifecycle state.
    superseded: bool = False
    #: What the record itself last stated of the numbers that outcomes moved since; `body` has them moved.
    stated: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class StreamHead:
    """Where an interaction stream stands; version 0 is a stream without events."""

    version: int
    head_ref: str | None


@dataclass(frozen=True, slots=True)
class State:
    """The part of a shard that one command mentions."""

    #: Records that the caller may see, by ref.
    visible: Mapping[str, Current] = field(default_factory=dict[str, Current])
    #: Refs that exist but that the caller may not see. Answers never tell them from absent ones.
    hidden: frozenset[str] = frozenset()
    #: Content digest → the live atom that already says this.
    same_content: Mapping[str, str] = field(default_factory=dict[str, str])
    streams: Mapping[str, StreamHead] = field(default_factory=dict[str, StreamHead])
    #: Atom id → active edges that come from the atom's own record.
    own_edges: Mapping[str, tuple[Current, ...]] = field(default_factory=dict[str, tuple[Current, ...]])
    #: Atoms that these edges supersede, also such as the caller may not see: one may come to stand alone.
    superseded: Mapping[str, Current] = field(default_factory=dict[str, Current])
