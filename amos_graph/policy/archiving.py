"""What archiving an atom does to it and to the edges at it (spec, "AssociationEdge"; design §3)."""

from __future__ import annotations

from collections.abc import Iterable

from amos_graph.domain.dictionary import PROVENANCE_RELATIONS
from amos_graph.domain.events import Write
from amos_graph.domain.lifecycle import transition
from amos_graph.domain.state import Current
from amos_graph.errors import AmosError, Fault


def archive_writes(atom: Current, edges: Iterable[Current], *, now: str, writer: str) -> list[Write]:
    """The new versions: the atom archived, its associative edges detached, provenance untouched.

    Raises `schema_invalid` for a state that cannot be archived and `authorization_denied` where only
    a guarded operation may (a proposal).
    """
    guard = transition(atom.body["lifecycle_state"], "archived", "atom_id")
    if guard is not None:
        message = f"a proposal is put away by {guard}, not by a generic archive"
        raise AmosError("authorization_denied", message, [Fault("atom_id", message)])
    return [
        _next(atom, "archived", now, writer),
        *(
            _next(edge, "detached", now, writer)
            for edge in edges
            if edge.body["relation"] not in PROVENANCE_RELATIONS
        ),
    ]


def _next(record: Current, lifecycle_state: str, now: str, writer: str) -> Write:
    body = {
        **record.body,
        "lifecycle_state": lifecycle_state,
        "version": record.version + 1,
        "updated_at": now,
        "last_writer": writer,
    }
    return Write(record.kind, record.ref, record.version + 1, body)
