"""Compare-and-swap and causality as decisions: what a conflict says (spec, "Compare-and-swap conflicts")."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from amos_graph.domain.canonical import join
from amos_graph.errors import AmosError, Fault

Action = Literal["refresh", "merge", "review", "retry"]


def version_conflict(
    at: str, ref: str, expected: int | None, actual: int, event_id: str | None, *, action: Action = "refresh"
) -> AmosError:
    """The conflict result of the spec: which part of the request, who stands in the way, and what helps."""
    if expected is not None:
        message = f"{ref} is at version {actual}, not {expected}"
    elif actual == 0:
        message = f"{ref} cannot be written under this id; choose another one"
    else:
        message = f"{ref} exists at version {actual}; name it as expected version to replace it"
    return AmosError(
        "expected_version_conflict",
        message,
        [Fault(at, message)],
        {
            "target_ref": ref,
            "expected_version": expected,
            "actual_version": actual,
            "conflicting_event_id": event_id,
            "recommended_action": action,
        },
    )


def check_expected(
    expected: Mapping[str, int], current: Mapping[str, Any], at: Mapping[str, str] | None = None
) -> None:
    """Raise `expected_version_conflict` for the first record that is not at its expected version.

    `at` names the place of an expectation that stands elsewhere than in `expected_versions`.
    `current` maps refs to records with `version` and `event_id`; a ref without one is at version 0,
    and so is one that the caller may not see: the two answers must not differ (T20).
    """
    for ref in sorted(expected):
        record = current.get(ref)
        actual = record.version if record else 0
        if actual != expected[ref]:
            place = (at or {}).get(ref) or join("expected_versions", (ref,))
            raise version_conflict(place, ref, expected[ref], actual, record.event_id if record else None)


def check_parents(asked: Sequence[str], found: Collection[str]) -> None:
    """Raise `not_found` when a causal parent is not in this shard's journal."""
    missing = [
        Fault(f"causal_parent_ids[{index}]", "no such event")
        for index, event_id in enumerate(asked)
        if event_id not in found
    ]
    if missing:
        raise AmosError("not_found", "a causal parent is not in the journal of this shard", missing)
