"""From an HTTP request to a call: whose token, which body, within which scope.

The token is looked up before a byte of the body is read, the body is counted while it is read, and
it is parsed in a worker thread by the strict parser; nothing here trusts what a body says about its
sender.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, cast

from fastapi import Depends, Request
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from amos_graph.api.envelope import (
    REQUEST_ID_HEADER,
    AmosRequest,
    ClaimedIdentity,
    answer,
    new_request_id,
    usable_request_id,
)
from amos_graph.client import REPLAYED_HEADER
from amos_graph.commands.execution import Context, Receipt
from amos_graph.domain.canonical import parse_json
from amos_graph.domain.model import validate
from amos_graph.domain.scope import SCOPE_SPELLINGS, AskedScope, Identity
from amos_graph.errors import AmosError, Fault, NoTokenError, invalid
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.clients import DENIED, identify
from amos_graph.settings import Settings

_BEARER: Final = HTTPBearer(
    auto_error=False, scheme_name="token", description="A token made by `amos token create`."
)
#: Payload fields by which the spec's contracts repeat the sender; the token decides (design §7).
_CLAIMS: Final = ("actor", "requester")
#: Fields of the envelope that a command may find fault with.
_OF_ENVELOPE: Final = ("expected_versions", "causal_parent_ids", "idempotency_key")
KEY_HEADER: Final = "Idempotency-Key"


@dataclass(frozen=True, slots=True)
class Store:
    """What the service works on."""

    graph: Graph
    settings: Settings
    archive: Archive


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose sender and scope are settled."""

    request_id: str
    context: Context
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    warnings: tuple[str, ...] = ()
    #: The name under which a record that was sent bare was put; its sender knows of no such place.
    bare: str = ""

    def command(self, act: Callable[[Context, Mapping[str, Any]], Receipt]) -> JSONResponse:
        """The answer to a command: its receipt, whole and unchanged, as the payload."""
        with below("payload", self.bare):
            receipt = act(self.context, self.payload)
        record = receipt.record
        return answer(
            self.request_id,
            record,
            graph_version=record["graph_version"],
            event_ids=record["event_ids"],
            warnings=[*self.warnings, *record["warnings"]],
            partial=bool(record["refused"]),
            headers={REPLAYED_HEADER: "true"} if receipt.replayed else None,
        )

    def read(self, act: Callable[[Context, Mapping[str, Any]], Mapping[str, Any]]) -> JSONResponse:
        """The answer to a read that was posted."""
        with below("payload"):
            found = act(self.context, self.payload)
        return self.reading(found)

    def reading(self, found: Mapping[str, Any]) -> JSONResponse:
        """The answer to a read: what was found, with the version that it was read at."""
        return answer(
            self.request_id, found, graph_version=found.get("graph_version"), warnings=self.warnings
        )


@contextmanager
def below(place: str, bare: str = "") -> Generator[None]:
    """Name faults by their place in the request: what a command calls `atoms[0]` is `payload.atoms[0]`.

    What stands below `bare` in the command stands in the place itself.

    What a command takes from the envelope stands beside the payload and keeps its name.
    """
    try:
        yield
    except AmosError as error:
        if not error.faults:
            raise
        faults = [
            fault
            if fault.path.startswith(_OF_ENVELOPE)
            else Fault(f"{place}.{_unwrapped(fault.path, bare)}".rstrip("."), fault.message)
            for fault in error.faults
        ]
        raise AmosError(error.code, error.message, faults, error.details) from error.__cause__


def _unwrapped(path: str, bare: str) -> str:
    return path.removeprefix(bare).removeprefix(".") if bare and f"{path}.".startswith(f"{bare}.") else path


def store_of(request: Request) -> Store:
    """The store that the app was created with."""
    return cast("Store", request.app.state.store)


def request_id_of(request: Request) -> str:
    """The id of this request: the body's, else the header's, else a fresh one."""
    known = getattr(request.state, "request_id", None)
    if known is None:
        known = usable_request_id(request.headers.get(REQUEST_ID_HEADER)) or new_request_id()
        request.state.request_id = known
    return cast("str", known)


def caller(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Identity:
    """Whose token this is. Raises `authorization_denied`, in the same words whatever is wrong with it."""
    if credentials is None:
        raise NoTokenError(DENIED)
    return identify(store_of(request).graph, credentials.credentials)


async def read_body(request: Request, _: Annotated[Identity, Depends(caller)]) -> bytes:
    """The bytes of a body within the limit. Raises `schema_invalid` as soon as there are too many."""
    limit = store_of(request).settings.body_bytes_max
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise invalid("", "a compressed body is not taken; send it without Content-Encoding")
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise invalid("", "the body must be sent as Content-Type: application/json")
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise invalid("", f"the body is larger than {limit} bytes (AMOS_BODY_BYTES_MAX)")
        chunks.append(chunk)
    return b"".join(chunks)


def posted(
    request: Request,
    identity: Annotated[Identity, Depends(caller)],
    raw: Annotated[bytes, Depends(read_body)],
) -> Call:
    """The call that a POST makes.

    Raises `schema_invalid`, `authorization_denied` when the body names another sender, `scope_denied`.
    """
    store = store_of(request)
    body = parse_json(raw, store.settings.depth_max)
    if not isinstance(body, dict):
        raise invalid("", "the body is not an object")
    record = cast("dict[str, Any]", body)
    if isinstance(record.get("request_id"), str) and usable_request_id(record["request_id"]):
        # Set before anything else can be wrong, so that a refusal carries the sender's own id.
        request.state.request_id = record["request_id"]
    _check_lists(record.get("payload"), store.settings)
    warnings: list[str] = []
    if isinstance(record.get("scope"), dict):
        record["scope"] = _respelled(record["scope"], "scope", warnings)
    _take_key(record, request.headers.get(KEY_HEADER))
    envelope = validate(AmosRequest, record)
    if envelope.client_identity is not None:
        _check_identity(envelope.client_identity, identity)
    payload = _without_claims(envelope.payload, identity)
    context = Context(
        graph=store.graph,
        settings=store.settings,
        archive=store.archive,
        identity=identity,
        scope=identity.within(_asked(envelope.scope)),
        idempotency_key=envelope.idempotency_key,
        expected_versions=envelope.expected_versions,
        causal_parent_ids=tuple(envelope.causal_parent_ids),
    )
    return Call(request_id_of(request), context, payload, tuple(warnings))


def _take_key(record: dict[str, Any], header: str | None) -> None:
    """Take the idempotency key from the header that other services have it in, unless the body has one."""
    if header is not None and record.setdefault("idempotency_key", header) != header:
        raise invalid("idempotency_key", f"differs from the header {KEY_HEADER}")


def queried(request: Request, identity: Annotated[Identity, Depends(caller)]) -> Call:
    """The call that a GET makes, within the whole scope of its token."""
    store = store_of(request)
    context = Context(
        graph=store.graph,
        settings=store.settings,
        archive=store.archive,
        identity=identity,
        scope=identity.scope,
    )
    return Call(request_id_of(request), context)


Posted = Annotated[Call, Depends(posted)]
Queried = Annotated[Call, Depends(queried)]


def bare(call: Call, name: str, mark: str) -> Call:
    """The call with a bare record as its payload (the spec's contracts allow it) put under its name."""
    if mark in call.payload and name not in call.payload:
        return replace(call, payload={name: dict(call.payload)}, bare=name)
    return call


def within(call: Call, asked: Mapping[str, Any], at: str = "query") -> Call:
    """The call narrowed to a scope that the request states at a place.

    Raises `scope_denied` when token or request is bound otherwise.
    """
    scope = call.context.scope.record()
    for name, part in asked.items():
        if scope.setdefault(name, part) != part:
            message = f"the request's scope does not reach that {name}"
            raise AmosError("scope_denied", message, [Fault(f"{at}.{name}", message)])
    return replace(call, context=replace(call.context, scope=call.context.identity.within(scope)))


def lift_scope(call: Call) -> Call:
    """The call with the optional `scope` of its payload taken as the scope of the whole request.

    Raises `schema_invalid` when it is malformed and as `within` does.
    """
    payload = dict(call.payload)
    value = payload.pop("scope", None)
    if value is None:
        return replace(call, payload=payload)
    warnings: list[str] = []
    if isinstance(value, dict):
        value = _respelled(cast("dict[str, Any]", value), "payload.scope", warnings)
    asked = validate(AskedScope, value, "payload.scope")
    narrowed = replace(call, payload=payload, warnings=(*call.warnings, *warnings))
    return within(narrowed, asked.record(), "payload.scope")


def _asked(scope: AskedScope | None) -> dict[str, Any]:
    return scope.record() if scope is not None else {}


def _respelled(scope: Mapping[str, Any], at: str, warnings: list[str]) -> dict[str, Any]:
    """The spec's example spellings (`tenant`) as its table spells them (`tenant_id`)."""
    respelled: dict[str, Any] = {}
    for name, value in scope.items():
        known = SCOPE_SPELLINGS.get(name, name)
        if known in respelled:
            raise invalid(f"{at}.{known.removesuffix('_id')}", f"also given as {known}")
        if known != name:
            warnings.append(f"{at}.{name}: read as {known}")
        respelled[known] = value
    return respelled


def _check_lists(payload: Any, settings: Settings) -> None:
    """Refuse an overlong list before each of its members is looked at and complained about."""
    if not isinstance(payload, dict):
        return
    longest = max(settings.atoms_max, settings.edges_max, settings.events_max, settings.dictionary_max)
    for name, value in cast("dict[str, Any]", payload).items():
        if isinstance(value, list) and len(cast("list[Any]", value)) > longest:
            raise invalid(f"payload.{name[:80]}", f"more than {longest} in one request")


def _without_claims(payload: Mapping[str, Any], identity: Identity) -> dict[str, Any]:
    """The payload without what it says about its sender, which must be what the token says."""
    kept = dict(payload)
    for name in _CLAIMS:
        claimed = kept.pop(name, None)
        if claimed is not None and claimed not in (identity.service_id, identity.client_id):
            raise _denied(f"payload.{name}")
    claimed = kept.pop("authorization_context", None)
    if claimed is not None:
        _check_identity(
            validate(ClaimedIdentity, claimed, "payload.authorization_context"),
            identity,
            "payload.authorization_context",
        )
    return kept


def _check_identity(claimed: ClaimedIdentity, identity: Identity, at: str = "client_identity") -> None:
    true = {
        **identity.scope.record(),
        "client_id": identity.client_id,
        "service_id": identity.service_id,
        "process_type": identity.process_type,
        "trust_level": identity.trust_level,
        "capabilities": sorted(identity.capabilities),
    }
    for name, value in claimed.record().items():
        same = sorted(set(value)) == true[name] if name == "capabilities" else value == true.get(name)
        if not same:
            raise _denied(f"{at}.{name}")


def _denied(path: str) -> AmosError:
    message = "differs from what the token says"
    return AmosError("authorization_denied", f"{path}: {message}", [Fault(path, message)])
