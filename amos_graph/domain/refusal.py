"""A command that was not carried out: why, and what became of it (spec, "conflict queues", "review status").

Three queues are one kind of record: what waits for somebody else's approval, conflicts of high risk that
are never tried again in silence, and rejections that an audit must find.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from amos_graph.domain.ids import derived_id

PREFIX: Final = "rfs_"
Status = Literal["open", "approved", "declined", "dismissed", "used"]
STATUSES: Final[tuple[Status, ...]] = ("open", "approved", "declined", "dismissed", "used")
#: The codes of refusals that are kept.
KeptCode = Literal[
    "authorization_denied",
    "scope_denied",
    "evidence_denied",
    "expected_version_conflict",
    "retention_policy_denied",
    "review_required",
]
KEPT: Final[frozenset[str]] = frozenset(get_args(KeptCode))
#: Attempts at one and the same command that are counted; further ones leave no trace.
ATTEMPTS_MAX: Final = 100


def refusal_id(operation: str, client_id: str, scope: Mapping[str, Any], payload: Any) -> str:
    """The id of the refusal of one command of one client: the same command sent again has the same."""
    return derived_id(PREFIX, [operation, client_id, dict(scope), payload])


def refusal_body(
    ref: str,
    *,
    code: str,
    details: Mapping[str, Any],
    operation: str,
    risk: str,
    client: Mapping[str, Any],
    scope: Mapping[str, Any],
    payload: Any,
    now: str,
    writer: str,
) -> dict[str, Any]:
    """The first version of a refusal; only what waits for a review keeps what was asked for."""
    target = details.get("target_ref")
    return {
        "id": ref,
        "schema_version": "amos.v1",
        "code": code,
        "reason_code": details.get("rule") or code,
        "operation": operation,
        "risk": risk,
        "target_refs": [target] if target else [],
        "client_id": client["client_id"],
        **{name: client[name] for name in ("agent_id", "user_id") if client.get(name)},
        "scope": dict(scope),
        "status": "open",
        "attempts": 1,
        **({"request": payload} if code == "review_required" else {}),
        "created_at": now,
        "updated_at": now,
        "version": 1,
        "last_writer": writer,
    }


def next_refusal(body: Mapping[str, Any], *, now: str, writer: str, **changes: Any) -> dict[str, Any]:
    """The next version of a refusal."""
    return {
        **body,
        **changes,
        "updated_at": now,
        "version": body["version"] + 1,
        "last_writer": writer,
    }
