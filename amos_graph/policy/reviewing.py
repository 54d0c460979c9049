"""Which refusals are kept, who may decide on one, and what an approval allows; decided from data alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from amos_graph.domain.refusal import KEPT
from amos_graph.domain.scope import Identity
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.risk import OPERATION_RISKS

Choice = Literal["approve", "decline", "dismiss"]


def is_kept(operation: str, code: str, details: Mapping[str, Any]) -> bool:
    """True for a refusal that the journal keeps: of high risk, for a review, or where a policy audits all."""
    if code not in KEPT:
        return False
    return (
        code == "review_required"
        or OPERATION_RISKS.get(operation) == "high"
        or details.get("risk") == "high"
        or details.get("audit_level") == "full"
    )


def status_after(refusal: Mapping[str, Any], choice: Choice, identity: Identity) -> str:
    """The status that a decision brings.

    Raises `schema_invalid` for a refusal that was decided already or that nobody can approve, and
    `authorization_denied` for whoever asked for the command in the first place.
    """
    if refusal["status"] != "open":
        message = f"it is {refusal['status']} already"
        raise AmosError("schema_invalid", f"refusal_id: {message}", [Fault("refusal_id", message)])
    if choice == "dismiss":
        return "dismissed"
    if refusal["code"] != "review_required":
        message = f"{refusal['code']} is answered by no approval; dismiss it when it has been seen to"
        raise AmosError("schema_invalid", f"decision: {message}", [Fault("decision", message)])
    if choice == "approve" and is_requester(refusal, identity):
        message = "whoever asks for a change does not approve it"
        raise AmosError("authorization_denied", message, [Fault("decision", message)])
    return "approved" if choice == "approve" else "declined"


def is_requester(refusal: Mapping[str, Any], identity: Identity) -> bool:
    """True if the token is the one that asked, or another one of the same agent or user."""
    bound = identity.scope
    return refusal["client_id"] == identity.client_id or any(
        mine is not None and refusal.get(name) == mine
        for name, mine in (("agent_id", bound.agent_id), ("user_id", bound.user_id))
    )
