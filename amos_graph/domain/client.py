"""Clients: the services that may call, each with a token of which only the hash is kept."""

from __future__ import annotations

import hashlib
import secrets
from typing import Annotated, Any, Final, cast

from pydantic import Field, field_validator, model_validator

from amos_graph.domain.ids import Identifier
from amos_graph.domain.model import Strict
from amos_graph.domain.roles import ROLES
from amos_graph.domain.scope import CAPABILITIES, TRUST_MAX, Scope
from amos_graph.domain.times import Timestamp

TOKEN_PREFIX: Final = "amos_"  # noqa: S105 - tells tokens apart in logs; no secret


class ClientRecord(Strict):
    """A client as it is registered (spec, ClientIdentity)."""

    id: Annotated[str, Field(pattern=r"^cli_[A-Za-z0-9_\-]{1,60}$")]
    service_id: Identifier
    process_type: Identifier = "agent"
    scope: Scope
    capabilities: list[str] = Field(min_length=1, max_length=len(CAPABILITIES))
    trust_level: int = Field(default=1, ge=0, le=TRUST_MAX)
    expires_at: Timestamp | None = None

    @model_validator(mode="before")
    @classmethod
    def _as_its_role(cls, value: Any) -> Any:
        """A process type that is a role brings the role's capabilities and trust where none are stated."""
        if not isinstance(value, dict):
            return value
        stated = cast("dict[str, Any]", value)
        kind = stated.get("process_type")
        role = ROLES.get(kind) if isinstance(kind, str) else None
        if role is None:
            return stated
        return {"capabilities": sorted(role.capabilities), "trust_level": role.trust_level, **stated}

    @field_validator("capabilities")
    @classmethod
    def _known(cls, value: list[str]) -> list[str]:
        for capability in value:
            if capability not in CAPABILITIES:
                raise ValueError(f"{capability!r} is not one of {', '.join(CAPABILITIES)}")
        return sorted(set(value))

    def body(self, token_hash: str, *, now: str, writer: str) -> dict[str, Any]:
        """The record as it is stored."""
        return {
            **self.record(),
            "token_hash": token_hash,
            "created_at": now,
            "updated_at": now,
            "version": 1,
            "last_writer": writer,
        }


def new_token() -> str:
    """A fresh bearer token: 256 random bits, shown once and never stored."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """What is kept of a token. It is random, so a fast digest cannot be guessed backwards."""
    return hashlib.sha256(token.encode()).hexdigest()
