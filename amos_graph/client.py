"""The Python client: typed calls over HTTP, with bounded retries that never write twice."""

from __future__ import annotations

import copy
import hashlib
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, cast

import httpx

from amos_graph.domain.canonical import check_json
from amos_graph.domain.ids import derived_id
from amos_graph.errors import STATUS, AmosError, Fault

Json = Mapping[str, Any]

#: What `remember` assumes of a sentence that somebody just said.
REMEMBERED: Final[Json] = {"confidence": {"level": "medium"}}
#: The header by which the service says that it answers with an earlier receipt.
REPLAYED_HEADER: Final = "Idempotent-Replayed"
UNREACHABLE: Final = "the service cannot be reached"
FOREIGN: Final = "no answer of the service"
#: What tells an AmosResponse from other people's JSON.
_ENVELOPED: Final = frozenset({"request_id", "errors", "payload"})
#: Statuses by which a proxy says that the service behind it does not answer it now.
_PROXY_AWAY: Final = (502, 503, 504)
#: Fields of the envelope that a call may set by keyword.
_ENVELOPE: Final = (
    "scope",
    "idempotency_key",
    "expected_versions",
    "causal_parent_ids",
    "consistency_requirement",
    "request_id",
)
_FIRST_PAUSE_S: Final = 0.1
_PAUSE_S_MAX: Final = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service answered: the payload, and the envelope around it."""

    payload: dict[str, Any]
    request_id: str
    result_status: str
    graph_version: int | None
    event_ids: tuple[str, ...]
    warnings: tuple[str, ...]
    #: True when an earlier, equal request had been carried out, and this is its receipt.
    replayed: bool

    def __getitem__(self, name: str) -> Any:
        return self.payload[name]


class Amos:
    """A connection to the service with one token.

    Every refusal is raised as AmosError with the service's own code. Only answers that say
    `retryable`, and connections that fail, are tried again, with the same idempotency key.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        token: str = "",
        *,
        scope: Json | None = None,
        attempts_max: int = 5,
        timeout_s: float = 90.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(timeout_s, connect=5.0),
            transport=transport,
            # A proxy of the environment has no business with the token.
            trust_env=False,
        )
        self._scope = dict(scope or {})
        self._mark = hashlib.sha256(token.encode()).hexdigest()
        self._attempts_max = attempts_max

    def capture(self, *events: Json, **envelope: Any) -> Answer:
        """Capture source events as evidence."""
        return self._post("/v1/events:capture", {"events": list(events)}, envelope, writes=True)

    def commit(
        self,
        atoms: Sequence[Json] = (),
        *,
        edges: Sequence[Json] = (),
        entities: Sequence[Json] = (),
        relations: Sequence[Json] = (),
        enums: Sequence[Json] = (),
        events: Sequence[Json] = (),
        **envelope: Any,
    ) -> Answer:
        """Commit a batch as a whole; its atoms can cite the `events` that it captures."""
        lists = {
            "atoms": atoms,
            "edges": edges,
            "entities": entities,
            "relations": relations,
            "enums": enums,
            "events": events,
        }
        payload = {name: list(records) for name, records in lists.items() if records}
        return self._post("/v1/atoms:commit", payload, envelope, writes=True)

    def propose(self, candidates: Sequence[Json], *, events: Sequence[Json] = (), **envelope: Any) -> Answer:
        """Store candidates as proposals."""
        payload = {"candidates": list(candidates), "events": list(events)}
        return self._post("/v1/atoms:propose", payload, envelope, writes=True)

    def archive(
        self, atom_id: str, reason: str, *, expected_version: int | None = None, **envelope: Any
    ) -> Answer:
        """Archive an atom, and detach its live edges."""
        return self._put("/v1/atoms:archive", atom_id, reason, expected_version, envelope)

    def restore(
        self, atom_id: str, reason: str, *, expected_version: int | None = None, **envelope: Any
    ) -> Answer:
        """Make an archived atom active again, with the edges that were detached with it."""
        return self._put("/v1/atoms:restore", atom_id, reason, expected_version, envelope)

    def govern(
        self,
        atom_id: str,
        reason: str,
        *,
        access_policy: Json | None = None,
        retention_class: str | None = None,
        expected_version: int | None = None,
        **envelope: Any,
    ) -> Answer:
        """Give an atom another access policy or retention class, as `user_pinned`; its content stays."""
        payload: dict[str, Any] = {
            "access_policy": access_policy,
            "retention_class": retention_class,
            "expected_version": expected_version,
        }
        stated = {name: value for name, value in payload.items() if value is not None}
        asked = {"atom_id": atom_id, "reason": reason, **stated}
        return self._post("/v1/atoms:govern", asked, envelope, writes=True)

    def ratify(self, proposal_ref: str, adjudication_ref: str, version: int, **envelope: Any) -> Answer:
        """Adopt a proposal, as it is at this version, by its author's adjudication."""
        return self._judged("/v1/proposals:ratify", proposal_ref, adjudication_ref, version, envelope)

    def resolve(self, proposal_ref: str, adjudication_ref: str, version: int, **envelope: Any) -> Answer:
        """Dispose of a proposal that its author's adjudication does not adopt."""
        return self._judged("/v1/proposals:resolve", proposal_ref, adjudication_ref, version, envelope)

    def _judged(
        self, path: str, proposal_ref: str, adjudication_ref: str, version: int, envelope: dict[str, Any]
    ) -> Answer:
        payload = {
            "proposal_ref": proposal_ref,
            "adjudication_ref": adjudication_ref,
            "expected_version": version,
        }
        return self._post(path, payload, envelope, writes=True)

    def refusals(self, *, scope: Json | None = None, **filters: Any) -> Answer:
        """List what was refused and waits: reviews, conflicts of high risk, rejections."""
        return self._get("/v1/refusals", {**self._asked(scope), **filters})

    def decide(self, refusal_id: str, decision: str, **envelope: Any) -> Answer:
        """Approve, decline or dismiss what was refused."""
        asked = {"refusal_id": refusal_id, "decision": decision}
        return self._post("/v1/refusals:decide", asked, envelope, writes=True)

    def get(self, atom_id: str, *, scope: Json | None = None, **options: Any) -> Answer:
        """Get one atom by its id; options are those of `POST /v1/atoms:get`."""
        return self._post("/v1/atoms:get", {"atom_id": atom_id, **options}, {"scope": scope})

    def provenance(self, atom_ref: str, *, scope: Json | None = None, **options: Any) -> Answer:
        """Tell what an atom rests on; options are those of `POST /v1/provenance:analyze`."""
        return self._post("/v1/provenance:analyze", {"atom_ref": atom_ref, **options}, {"scope": scope})

    def record_artifact(self, artifact: Json, **envelope: Any) -> Answer:
        """Record a generated artifact, such as a self-narrative, which cites its sources and expires."""
        return self._post("/v1/artifacts:record", {"artifact": artifact}, envelope, writes=True)

    def get_artifact(self, artifact_id: str, *, scope: Json | None = None, **options: Any) -> Answer:
        """Get an artifact while it is current; options are those of `POST /v1/artifacts:get`."""
        return self._post("/v1/artifacts:get", {"artifact_id": artifact_id, **options}, {"scope": scope})

    def expire_artifacts(self, limit: int = 100, **envelope: Any) -> Answer:
        """Put away the artifacts whose time has passed."""
        return self._post("/v1/artifacts:expire", {"limit": limit}, envelope, writes=True)

    def list(self, *, scope: Json | None = None, **filters: Any) -> Answer:
        """List one page of atoms; filters are those of `GET /v1/atoms`."""
        return self._get("/v1/atoms", {**self._asked(scope), **filters})

    def recall(self, *cues: str, scope: Json | None = None, **options: Any) -> Answer:
        """Retrieve a packet of memories for cues; options are those of `POST /v1/packets:retrieve`."""
        return self._post("/v1/packets:retrieve", {"cues": list(cues), **options}, {"scope": scope})

    def outcome(self, packet: Json | Answer | str, *, scope: Json | None = None, **told: Any) -> Answer:
        """Tell what became of a packet, by the packet itself or by its id.

        `told` are fields of `POST /v1/retrieval-outcomes`: `helpful_atom_refs`, `outcome_labels` … The same
        told twice counts once.
        """
        found = packet.payload if isinstance(packet, Answer) else packet
        known = (
            {"packet_id": found}
            if isinstance(found, str)
            else {name: found[name] for name in ("packet_id", "request", "graph_version")}
        )
        return self._post("/v1/retrieval-outcomes", {**known, **told}, {"scope": scope})

    def verify(self, **options: Any) -> Answer:
        """Verify the shard's journal and projection."""
        return self._get("/v1/verify", options)

    def health(self, *, scope: Json | None = None) -> Answer:
        """Count memories by type, state and health."""
        return self._get("/v1/health/memory", self._asked(scope))

    def ready(self) -> bool:
        """Whether the service can serve now."""
        try:
            return self._http.get("/ready").status_code == 200
        except httpx.TransportError:
            return False

    def remember(self, text: str, *, source_ref: str = "note", **defaults: Any) -> Answer:
        """Remember a sentence: a `semantic` atom, and the note that it comes from, in one commit.

        Further fields of the atom (`confidence`, `salience`, `scope` …) override the defaults. The same
        sentence remembered twice is one memory.
        """
        envelope = {name: defaults.pop(name) for name in _ENVELOPE if name in defaults}
        note = {"source_type": "note", "source_ref": source_ref, "payload": {"text": text}}
        # Of one token's notes the same is one evidence; two tokens may not see each other's.
        mark = derived_id("evd_", [note, self._asked(envelope.get("scope")), self._mark])
        atom = {
            "type": "semantic",
            "payload": {"statement": text},
            "evidence_refs": [mark],
            **REMEMBERED,
            **defaults,
        }
        return self.commit([atom], events=[{"evidence_id": mark, **note}], **envelope)

    def within(self, scope: Json) -> Amos:
        """The same connection, narrowed to a scope; calls of the two do not disturb each other."""
        narrowed = copy.copy(self)
        narrowed._scope = self._asked(scope)  # noqa: SLF001 - our own copy
        return narrowed

    def close(self) -> None:
        """Close the connection, also for those that were narrowed from it."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _asked(self, scope: Json | None) -> dict[str, Any]:
        return {**self._scope, **(scope or {})}

    def _put(
        self, path: str, atom_id: str, reason: str, expected_version: int | None, envelope: Json
    ) -> Answer:
        """Take an atom out of ordinary recall, or back into it."""
        payload: dict[str, Any] = {"atom_id": atom_id, "reason": reason}
        if expected_version is not None:
            payload["expected_version"] = expected_version
        return self._post(path, payload, envelope, writes=True)

    def _post(self, path: str, payload: Json, envelope: Json, *, writes: bool = False) -> Answer:
        unknown = sorted(set(envelope) - set(_ENVELOPE))
        if unknown:
            raise TypeError(f"no such argument: {', '.join(unknown)}")
        body = {name: value for name, value in envelope.items() if value is not None}
        body["payload"] = payload
        body["scope"] = self._asked(envelope.get("scope"))
        if writes:
            # One key for all attempts of this call: the second one finds what the first one did.
            body.setdefault("idempotency_key", f"key_{uuid.uuid4().hex}")
        # What no body can carry is refused here, in the service's own words.
        check_json(body)
        return self._send("POST", path, json=body)

    def _get(self, path: str, params: Json) -> Answer:
        return self._send("GET", path, params=_as_text(params))

    def _send(self, method: str, path: str, **request: Any) -> Answer:
        for attempt in range(1, self._attempts_max + 1):
            try:
                response = self._http.request(method, path, **request)
            except httpx.TransportError as error:
                failure = AmosError("unavailable", f"{UNREACHABLE}: {type(error).__name__}")
                failure.__cause__ = error
            else:
                answered = _answered(response)
                if isinstance(answered, Answer):
                    return answered
                failure = answered
            if not failure.retryable or attempt == self._attempts_max:
                raise failure
            time.sleep(_pause(attempt))
        raise AmosError("unavailable", UNREACHABLE)


def _pause(attempt: int) -> float:
    """Exponential backoff with jitter, so that many clients do not come back at once."""
    longest = min(_PAUSE_S_MAX, _FIRST_PAUSE_S * 2**attempt)
    return random.uniform(longest / 2, longest)  # noqa: S311 - spreads load; no secret


def _as_text(params: Json) -> dict[str, Any]:
    """Query parameters: true and false as JSON writes them, a list as one parameter for each entry."""
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in params.items()
        if value is not None
    }


def _answered(response: httpx.Response) -> Answer | AmosError:
    """What came back: an answer, the service's refusal, or what something between us and it said."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or not _ENVELOPED.issubset(cast("dict[str, Any]", body)):
        code = "unavailable" if response.status_code in _PROXY_AWAY else "internal"
        return AmosError(
            code, f"{FOREIGN}: HTTP {response.status_code}; a proxy before it, or another service, answered"
        )
    record = cast("dict[str, Any]", body)
    return _failure(record) if record["errors"] else _answer(record, response)


def _answer(body: Mapping[str, Any], response: httpx.Response) -> Answer:
    return Answer(
        payload=body["payload"],
        request_id=body["request_id"],
        result_status=body["result_status"],
        graph_version=body["graph_version"],
        event_ids=tuple(body["event_ids"]),
        warnings=tuple(body["warnings"]),
        replayed=response.headers.get(REPLAYED_HEADER) == "true",
    )


def _failure(body: Mapping[str, Any]) -> AmosError:
    """The service's refusal as the error that it was there."""
    entries: list[dict[str, Any]] = body["errors"]
    first = entries[0]
    # A newer service may know more codes than this client.
    code = first["code"] if first["code"] in STATUS else "internal"
    faults = [Fault(entry["path"], entry["message"]) for entry in entries if entry["path"]]
    message = f"{first['path']}: {first['message']}" if first["path"] else first["message"]
    return AmosError(code, message, faults, first["details"])
