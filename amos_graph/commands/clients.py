"""Register and revoke clients: journaled like every other change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.state import Mentions
from amos_graph.commands.view import View
from amos_graph.domain.client import ClientRecord, new_token, token_hash
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.model import validate
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.conflict import version_conflict


@dataclass(frozen=True, slots=True)
class Registered:
    """A new client and its token, which is shown this once."""

    client_id: str
    token: str
    receipt: Receipt


def register_client(context: Context, request: Mapping[str, Any]) -> Registered:
    """Register a client with a fresh token.

    Nobody grants more than they have: scope and capabilities must lie within the caller's own.
    Raises `schema_invalid`, `scope_denied`, `authorization_denied` and `expected_version_conflict`.
    """
    record = validate(ClientRecord, {"scope": context.scope.record(), **request})
    context.writable(record.scope, "scope")
    if not record.scope.covers(context.identity.scope):
        raise AmosError("scope_denied", "a token cannot be wider than the one that makes it")
    excess = sorted(set(record.capabilities) - context.identity.capabilities)
    if excess:
        raise AmosError("authorization_denied", f"this token cannot grant {', '.join(excess)}")
    if record.trust_level > context.identity.trust_level:
        refusal = f"this token is trusted at level {context.identity.trust_level} and grants no more"
        raise AmosError("authorization_denied", refusal, [Fault("trust_level", refusal)])
    token = new_token()
    digest = token_hash(token)
    command = Command(
        operation="register_client",
        capability="token.manage",
        payload=dict(request),
        target_refs=(record.id,),
        mentions=Mentions(refs=(record.id,)),
    )

    def decided(view: View, moment: Moment) -> Plan:
        for current in view.records([record.id]):
            raise version_conflict("id", record.id, 0, current.version, current.event_id)
        body = record.body(digest, now=moment.now, writer=moment.writer)
        return Plan(
            drafts=(_draft("client_registered", record.id, body),),
            created=(record.id,),
            result={"client_id": record.id},
        )

    receipt = execute(context, command, decided)
    if receipt.replayed:
        raise AmosError("idempotency_conflict", "this client was registered before; its token is not kept")
    return Registered(record.id, token, receipt)


def revoke_client(context: Context, client_id: str) -> Receipt:
    """Revoke a client's token for good; the next call with it is denied. Raises `not_found`."""
    command = Command(
        operation="revoke_client",
        capability="token.manage",
        payload={"client_id": client_id},
        target_refs=(client_id,),
    )

    def decided(view: View, moment: Moment) -> Plan:
        found = view.records([client_id]) if client_id.startswith("cli_") else []
        if not found:
            raise AmosError("not_found", "no such client", [Fault("client_id", "no such client")])
        current = found[0]
        if "revoked_at" in current.body:
            return Plan(reused=(client_id,), result={"client_id": client_id})
        body = {
            **current.body,
            "revoked_at": moment.now,
            "updated_at": moment.now,
            "version": current.version + 1,
            "last_writer": moment.writer,
        }
        return Plan(
            drafts=(_draft("client_revoked", client_id, body),),
            updated=(client_id,),
            result={"client_id": client_id},
        )

    return execute(context, command, decided)


def _draft(event_type: str, ref: str, body: Mapping[str, Any]) -> Draft:
    return Draft(
        event_type=event_type,
        operation="register_client" if event_type == "client_registered" else "revoke_client",
        writes=(Write("client", ref, body["version"], body),),
        extra={"client_id": ref},
    )
