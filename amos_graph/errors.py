"""Every refusal and failure that a caller can meet, with its one HTTP status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

#: Code → HTTP status. The codes are the spec's (section "Error codes"), plus
#: `not_found`, `unavailable` and `internal`. Adding a code means adding it here,
#: a test, and a row of docs/errors.md.
STATUS: Final[Mapping[str, int]] = {
    "schema_invalid": 422,
    "authorization_denied": 403,
    "scope_denied": 403,
    "evidence_denied": 403,
    "not_found": 404,
    "idempotency_conflict": 409,
    "expected_version_conflict": 409,
    "review_required": 409,
    "retention_policy_denied": 409,
    "capacity_limited": 429,
    "projection_failed": 500,
    "internal": 500,
    "derived_index_stale": 503,
    "unavailable": 503,
}

#: Only these may be sent again unchanged (with the same idempotency key).
RETRYABLE: Final = frozenset({"derived_index_stale", "unavailable"})


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, at one place of the input (`payload.subject`, `atoms[2].id`)."""

    path: str
    message: str


class AmosError(Exception):
    """A refusal with a stable code; the message is for people and never decides anything."""

    def __init__(
        self,
        code: str,
        message: str,
        faults: Sequence[Fault] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        if code not in STATUS:
            raise ValueError(f"unknown error code {code!r}")
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.faults = tuple(faults)
        self.details: dict[str, Any] = dict(details or {})

    @property
    def status(self) -> int:
        return STATUS[self.code]

    @property
    def retryable(self) -> bool:
        return self.code in RETRYABLE

    def entries(self) -> list[dict[str, Any]]:
        """The `errors` list of an AmosResponse: one entry per fault, or one for the whole."""
        faults = self.faults or (Fault("", self.message),)
        return [
            {"code": self.code, "message": fault.message, "path": fault.path, "details": self.details}
            for fault in faults
        ]


class NoTokenError(AmosError):
    """No valid token: `authorization_denied` too, but with 401, by which HTTP clients know to log in."""

    def __init__(self, message: str) -> None:
        super().__init__("authorization_denied", message)

    @property
    def status(self) -> int:
        return 401


def invalid(path: str, message: str) -> AmosError:
    """The `schema_invalid` refusal of one field."""
    return AmosError("schema_invalid", f"{path}: {message}" if path else message, [Fault(path, message)])
