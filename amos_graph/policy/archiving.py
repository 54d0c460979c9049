"""What archiving and restoring do to an atom and the edges at it (spec, "AssociationEdge"; design §3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

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
    _check(atom, "archived", "a generic archive")
    return [
        _next(atom, "archived", now, writer),
        *(
            _next(edge, "detached", now, writer)
            for edge in edges
            if edge.body["relation"] not in PROVENANCE_RELATIONS
        ),
    ]


def restore_writes(
    atom: Current, edges: Iterable[Current], active: Collection[str], *, now: str, writer: str
) -> list[Write]:
    """The new versions: the atom active again, and the detached edges whose other end is active with it.

    `active` are those of the edges' ends that are; an edge to another one waits for that one's return.
    Raises `schema_invalid` for a state that cannot be restored and `authorization_denied` where only a
    guarded operation may (a proposal).
    """
    _check(atom, "active", "a restore")
    ends = {*active, atom.ref}
    return [
        _next(atom, "active", now, writer),
        *(
            _next(edge, "active", now, writer)
            for edge in edges
            if {edge.body["source_ref"], edge.body["target_ref"]} <= ends
        ),
    ]


def _check(atom: Current, state: str, by: str) -> None:
    guard = transition(atom.body["lifecycle_state"], state, "atom_id")
    if guard is not None:
        message = f"a proposal is decided by {guard}, not by {by}"
        raise AmosError("authorization_denied", message, [Fault("atom_id", message)])


def _next(record: Current, lifecycle_state: str, now: str, writer: str) -> Write:
    body = {
        **record.body,
        "lifecycle_state": lifecycle_state,
        "version": record.version + 1,
        "updated_at": now,
        "last_writer": writer,
    }
    return Write(record.kind, record.ref, record.version + 1, body)
