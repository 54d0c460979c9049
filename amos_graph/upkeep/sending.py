"""One way to write for everything that loads: in this process, or through the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from amos_graph.commands.archive import archive
from amos_graph.commands.capture import capture
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context

Json = Mapping[str, Any]

#: Operations that a loader may ask for, by the names of the client's methods.
OPERATIONS: Final = ("commit", "capture", "archive")


class Send(Protocol):
    """Carry out one command and return its receipt, with `replayed` telling whether it was one before."""

    def __call__(
        self,
        operation: str,
        payload: Json,
        idempotency_key: str,
        expected_versions: Mapping[str, int] | None = None,
        /,
    ) -> dict[str, Any]: ...


class Received(Protocol):
    """An answer of the service, as far as a loader looks at it."""

    @property
    def payload(self) -> dict[str, Any]: ...
    @property
    def replayed(self) -> bool: ...


class Client(Protocol):
    """The writing methods of `amos_graph.client.Amos`, which this layer may not import."""

    def commit(self, atoms: Any = (), **parts: Any) -> Received: ...
    def capture(self, *events: Json, **envelope: Any) -> Received: ...
    def archive(self, atom_id: str, reason: str, **envelope: Any) -> Received: ...


def in_process(context: Context) -> Send:
    """Write through the commands of this process."""
    operations = {"commit": commit, "capture": capture, "archive": archive}

    def send(
        operation: str,
        payload: Json,
        idempotency_key: str,
        expected_versions: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        own = replace(
            context, idempotency_key=idempotency_key, expected_versions=dict(expected_versions or {})
        )
        receipt = operations[operation](own, payload)
        return {**receipt.record, "replayed": receipt.replayed}

    return send


def through(client: Client) -> Send:
    """Write through the service, with the client's bounded retries."""

    def send(
        operation: str,
        payload: Json,
        idempotency_key: str,
        expected_versions: Mapping[str, int] | None = None,
    ) -> dict[str, Any]:
        envelope: dict[str, Any] = {
            "idempotency_key": idempotency_key,
            "expected_versions": dict(expected_versions or {}),
        }
        if operation == "capture":
            answer = client.capture(*payload["events"], **envelope)
        elif operation == "archive":
            answer = client.archive(**payload, **envelope)
        else:
            answer = client.commit(**payload, **envelope)
        return {**answer.payload, "replayed": answer.replayed}

    return send
