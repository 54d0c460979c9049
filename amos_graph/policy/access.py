"""Who may read what: one pure function over identity, scope and policy (spec, "Authorization precedence")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amos_graph.domain.scope import AccessPolicy, Identity, Scope


def may_read(
    identity: Identity, asked: Scope, scope: Scope, policy: AccessPolicy | None, processor: str | None = None
) -> bool:
    """True if a caller who asks within `asked` meets a record of this scope and policy.

    The scope rule comes first (design §5), then explicit denial, then the allow lists: each list
    that is not empty must name the caller. `processor` is the target of a packet, if there is one.
    Who the caller is, the token alone says: a request may narrow its scope, never borrow a name.
    """
    if not asked.covers(scope):
        return False
    if policy is None:
        return True
    bound = identity.scope
    names = {identity.client_id, identity.service_id, *filter(None, (bound.agent_id, bound.user_id))}
    if names & set(policy.denied_identities) or identity.capabilities & set(policy.denied_capabilities):
        return False
    if policy.allowed_identities and not names & set(policy.allowed_identities):
        return False
    if policy.allowed_capabilities and not identity.capabilities & set(policy.allowed_capabilities):
        return False
    seen_by = set(policy.processor_visibility)
    return not seen_by or "all" in seen_by or processor is None or processor in seen_by


def may_read_body(
    identity: Identity, asked: Scope, body: Mapping[str, Any], processor: str | None = None
) -> bool:
    """`may_read` for a stored body; dictionaries and entities without a scope belong to their whole shard."""
    policy = body.get("access_policy")
    scope = body.get("scope")
    return scope is None or may_read(
        identity,
        asked,
        Scope.model_validate(scope),
        AccessPolicy.model_validate(policy) if policy else None,
        processor,
    )
