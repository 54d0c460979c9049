"""Who may supersede whom: one successor at a time, no circles, and nothing hidden from its readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from amos_graph.domain.scope import Scope
from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.policy.conflict import version_conflict
from amos_graph.policy.submission import Case

SUPERSEDES: Final = "rel:supersedes"


def check_succession(case: Case, source_ref: str, target_ref: str, edge_ref: str, at: str) -> None:
    """Decide whether a supersession that is not there yet may be entered.

    Raises `expected_version_conflict` when another atom was first: of two corrections of one atom one
    wins. Raises `schema_invalid` for a circle, and for a successor that some readers of the
    superseded atom could not see: it would be taken from them and nothing put in its place.
    """
    standing = case.state.visible.get(edge_ref)
    if standing is not None and standing.body["lifecycle_state"] == "active":
        return
    stored = case.state.visible.get(target_ref)
    if (stored is not None and stored.superseded) or _has_successor(case, target_ref):
        version = stored.version if stored else 0
        expected = case.submission.expected_versions.get(target_ref, version)
        event_id = stored.event_id if stored else None
        conflict = version_conflict(at, target_ref, expected, version, event_id, action="merge")
        message = f"{at}: {target_ref} has a successor already"
        raise AmosError(conflict.code, message, [Fault(at, "superseded already")], conflict.details)
    origin = case.state.visible.get(source_ref)
    if (origin is not None and origin.superseded) or _leads_to(case, target_ref, source_ref):
        raise invalid(at, "a superseded atom supersedes nothing; this would go in a circle")
    source, target = case.atom_body(source_ref), case.atom_body(target_ref)
    if source is not None and target is not None and not _as_visible(source, target):
        raise invalid(at, "some who see the superseded atom could not see what supersedes it")


def _has_successor(case: Case, target_ref: str) -> bool:
    """True if this very request lets another atom supersede the target."""
    return any(
        edge.body["relation"] == SUPERSEDES
        and edge.body["target_ref"] == target_ref
        and edge.body["lifecycle_state"] == "active"
        for edge in case.decision.edges.values()
    )


def _leads_to(case: Case, start: str, goal: str) -> bool:
    """True if the supersessions of this very request lead from one atom to the other."""
    reached, pending = {start}, [start]
    while pending:
        current = pending.pop()
        for edge in case.decision.edges.values():
            body = edge.body
            follows = body["relation"] == SUPERSEDES and body["source_ref"] == current
            if follows and body["target_ref"] not in reached:
                reached.add(body["target_ref"])
                pending.append(body["target_ref"])
    return goal in reached


def _as_visible(source: Mapping[str, Any], target: Mapping[str, Any]) -> bool:
    """True if whoever may see the target may see the source too, as far as scope and policy say."""
    wide = Scope.model_validate(target["scope"]).covers(Scope.model_validate(source["scope"]))
    policy = source.get("access_policy")
    return wide and (not policy or policy == target.get("access_policy"))
