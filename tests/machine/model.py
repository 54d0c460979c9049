"""What a shard must hold after each command: a second, small statement of the rules, in plain Python.

Written from the specification and `docs/`, without the code that decides in the product. Only the ids
that a record's content gives are made by the domain's own functions; which record comes to stand under
which id is decided here. A refusal is a set of codes: where a request has several faults, any of them
may be told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from amos_graph.domain.evidence import SourceEvent, evidence_id
from amos_graph.domain.scope import Scope

Json = dict[str, Any]

CONFLICT: Final = "expected_version_conflict"
KEY_CONFLICT: Final = "idempotency_conflict"
INVALID: Final = "schema_invalid"
NOT_FOUND: Final = "not_found"
NO_EVIDENCE: Final = "evidence_denied"
DENIED: Final = "authorization_denied"

SUPERSEDES: Final = "rel:supersedes"
#: Edges of these outlive the activity of their ends.
PROVENANCE: Final = frozenset({SUPERSEDES, "rel:derived_from", "rel:summarizes"})
#: Built-in edge relations that programs use, with the weight of their edges.
WEIGHTS: Final[Mapping[str, float]] = {
    "rel:supports": 0.8,
    "rel:contradicts": 0.6,
    SUPERSEDES: 0.0,
    "rel:derived_from": 0.0,
}


@dataclass(frozen=True, slots=True)
class Call:
    """One command as a caller sends it."""

    operation: str
    request: Json
    key: str | None = None
    expected: Mapping[str, int] = field(default_factory=dict[str, int])
    service: str = "svc:test"

    @property
    def meant(self) -> str:
        """What "the same request" means for a key."""
        return _text([self.request, dict(self.expected)])


@dataclass(frozen=True, slots=True)
class Refused:
    """The command changes nothing and says one of these."""

    codes: frozenset[str]


@dataclass(slots=True)
class Accepted:
    """What a receipt must say; `replayed` holds the earlier receipt, word for word."""

    created: set[str] = field(default_factory=set[str])
    updated: set[str] = field(default_factory=set[str])
    linked: set[str] = field(default_factory=set[str])
    reused: set[str] = field(default_factory=set[str])
    events: int = 0
    atom_refs: list[str] | None = None
    edge_refs: list[str] | None = None
    evidence_refs: list[str] | None = None
    replayed: Json | None = None


@dataclass
class State:
    """Records by kind and id; a record is its content and a `version`."""

    atoms: dict[str, Json] = field(default_factory=dict[str, Json])
    edges: dict[str, Json] = field(default_factory=dict[str, Json])
    evidence: dict[str, Json] = field(default_factory=dict[str, Json])
    entities: dict[str, Json] = field(default_factory=dict[str, Json])
    relations: dict[str, Json] = field(default_factory=dict[str, Json])
    clients: dict[str, Json] = field(default_factory=dict[str, Json])
    #: Conversation → how many events it has.
    streams: dict[str, int] = field(default_factory=dict[str, int])

    def kinds(self) -> dict[str, dict[str, Json]]:
        return {name: found for name, found in vars(self).items() if name != "streams"}

    def version_of(self, ref: str) -> int:
        """The version of a record that commands may name; a client is none."""
        found = (records.get(ref) for kind, records in self.kinds().items() if kind != "clients")
        return next((record["version"] for record in found if record), 0)

    def successors(self, ref: str) -> list[str]:
        return [
            edge["source_ref"]
            for edge in self.edges.values()
            if (edge["relation"], edge["target_ref"], edge["state"]) == (SUPERSEDES, ref, "active")
        ]

    def state_key(self, ref: str) -> str:
        """What ordinary recall makes of an atom."""
        atom = self.atoms[ref]
        if atom["state"] != "active":
            return atom["state"]
        if self.successors(ref):
            return "superseded"
        return "live" if atom["health"] == "healthy" else atom["health"]


class Model:
    """One shard."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.state = State()
        self.graph_version = 0
        #: Key and its scope → what was meant, and the receipt.
        self.bound: dict[str, tuple[str, Json]] = {}
        #: The end of each command that changed something → the state then.
        self.history: list[tuple[int, State]] = [(0, State())]

    def expect(self, call: Call) -> Accepted | Refused:
        """What the product must answer now; nothing is changed yet."""
        self._draft: State = deepcopy(self.state)
        faults = set(malformed(call))
        bound = self.bound.get(self._key(call)) if call.key else None
        if bound:
            if bound[0] != call.meant:
                return Refused(frozenset({KEY_CONFLICT, *faults}))
            # The token of a client is shown once, so a repeat has nothing to show.
            if call.operation == "register":
                return Refused(frozenset({KEY_CONFLICT}))
            return Accepted(replayed=bound[1])
        answer = Accepted()
        faults |= {
            CONFLICT for ref, version in call.expected.items() if self.state.version_of(ref) != version
        }
        faults |= _OPERATIONS[call.operation](self, call, answer)
        if faults:
            return Refused(frozenset(faults))
        if call.operation in ("commit", "propose", "capture"):
            self._count(answer)
        return answer

    def accept(self, call: Call, receipt: Json) -> None:
        """Take the answer that was expected."""
        if call.key:
            self.bound.setdefault(self._key(call), (call.meant, receipt))
        if receipt["graph_version"] > self.graph_version:
            self.graph_version = receipt["graph_version"]
            self.state = self._draft
            self.history.append((self.graph_version, deepcopy(self.state)))

    def evidence_ref(self, event: Mapping[str, Any]) -> str:
        """The id of a source event: its own, else the one that its content gives."""
        checked = SourceEvent.model_validate(dict(event))
        return checked.evidence_id or evidence_id(checked, self.scope)

    def _key(self, call: Call) -> str:
        return _text([call.service, call.operation, sorted(_targets(call)), call.key])

    def _count(self, answer: Accepted) -> None:
        """Parts what was touched into created, updated, linked and reused, and numbers the versions."""
        for kind, records in self._draft.kinds().items():
            before = getattr(self.state, kind)
            for ref, record in records.items():
                if not record.pop("touched", False):
                    continue
                old = before.get(ref)
                if old == record:
                    answer.reused.add(ref)
                    continue
                record["version"] = old["version"] + 1 if old else 1
                answer.events += 1
                active = kind == "edges" and record["state"] == "active"
                if active and (old is None or old["state"] != "active"):
                    answer.linked.add(ref)
                else:
                    (answer.updated if old else answer.created).add(ref)

    # --- the operations ----------------------------------------------------------------------

    def capture(self, call: Call, answer: Accepted) -> set[str]:
        return self.sources(call.request["events"], answer)

    def sources(self, events: Iterable[Mapping[str, Any]], answer: Accepted) -> set[str]:
        """Evidence never changes: the same id says the same, or is refused."""
        faults: set[str] = set()
        refs: dict[str, None] = {}
        for event in events:
            ref = self.evidence_ref(event)
            content = {"source_ref": event["source_ref"], "text": event["payload"]["text"]}
            known = self.state.evidence.get(ref)
            if known and {**content, "version": 1} != known:
                faults.add(CONFLICT)
            self._draft.evidence[ref] = {**content, "version": 1, "touched": True}
            refs[ref] = None
        answer.evidence_refs = list(refs)
        return faults

    def archive(self, call: Call, answer: Accepted) -> set[str]:
        """The atom leaves ordinary recall, and its associations are detached with it."""
        ref = call.request["atom_id"]
        faults = self._put(call, answer, "active", "archived")
        if not answer.updated:
            return faults
        for edge_ref, edge in self._draft.edges.items():
            at_it = ref in (edge["source_ref"], edge["target_ref"]) and edge["state"] == "active"
            if at_it and edge["relation"] not in PROVENANCE:
                edge.update(state="detached", version=edge["version"] + 1)
                answer.updated.add(edge_ref)
        self._reason(ref, "archive_reason", call, answer)
        return faults

    def restore(self, call: Call, answer: Accepted) -> set[str]:
        """The atom is back, and with it the associations whose other end is active."""
        ref = call.request["atom_id"]
        faults = self._put(call, answer, "archived", "active")
        if not answer.updated:
            return faults
        for edge_ref, edge in self._draft.edges.items():
            ends = (edge["source_ref"], edge["target_ref"])
            back = all(self._draft.atoms[end]["state"] == "active" for end in ends)
            if ref in ends and back and edge["state"] == "detached":
                edge.update(state="active", version=edge["version"] + 1)
                answer.updated.add(edge_ref)
        self._reason(ref, "restore_reason", call, answer)
        return faults

    def _put(self, call: Call, answer: Accepted, was: str, to: str) -> set[str]:
        """The atom in its other state, if it is there and in the one before."""
        ref = call.request["atom_id"]
        atom = self._draft.atoms.get(ref)
        stated = call.request.get("expected_version")
        faults = {CONFLICT} if stated is not None and self.state.version_of(ref) != stated else set[str]()
        if atom is None:
            return faults | {NOT_FOUND}
        if atom["state"] != was:
            return faults | {DENIED if atom["state"] == "proposed" else INVALID}
        atom.update(state=to, version=atom["version"] + 1)
        answer.updated.add(ref)
        return faults

    def _reason(self, ref: str, source_type: str, call: Call, answer: Accepted) -> None:
        """The reason is evidence, once."""
        said = call.request["reason"]
        note = {"source_type": source_type, "source_ref": f"atom:{ref}", "payload": {"reason": said}}
        note_ref = self.evidence_ref(note)
        if note_ref not in self._draft.evidence:
            content = {"source_ref": note["source_ref"], "text": said, "version": 1}
            self._draft.evidence[note_ref] = content
            answer.created.add(note_ref)
        answer.events = 1 + len(answer.created)
        answer.atom_refs, answer.evidence_refs = [ref], [note_ref]

    def register(self, call: Call, answer: Accepted) -> set[str]:
        ref = call.request["id"]
        if ref in self._draft.clients:
            return {CONFLICT}
        self._draft.clients[ref] = {"version": 1, "revoked": False}
        answer.created, answer.events = {ref}, 1
        return set()

    def revoke(self, call: Call, answer: Accepted) -> set[str]:
        client = self._draft.clients.get(call.request["client_id"])
        if client is None:
            return {NOT_FOUND}
        if client["revoked"]:
            answer.reused = {call.request["client_id"]}
        else:
            client.update(revoked=True, version=2)
            answer.updated, answer.events = {call.request["client_id"]}, 1
        return set()

    def commit(self, call: Call, answer: Accepted) -> set[str]:
        # Written apart, since it has most of the rules.
        from tests.machine.committing import Committing  # noqa: PLC0415 - the two modules know each other

        return Committing(self, self._draft, call, answer).faults()


_OPERATIONS: Final = {
    "capture": Model.capture,
    "commit": Model.commit,
    "propose": Model.commit,
    "archive": Model.archive,
    "restore": Model.restore,
    "register": Model.register,
    "revoke": Model.revoke,
}


def malformed(call: Call) -> Iterable[str]:
    """What is wrong with a request whatever the shard holds."""
    for edge in call.request.get("edges", ()):
        if edge["source_ref"] == edge["target_ref"]:
            yield INVALID
    for entity in call.request.get("entities", ()):
        if entity["id"] in (entity.get("merged_into"), *entity.get("split_into", ())):
            yield INVALID
    said: dict[str, Any] = {}
    for event in call.request.get("events", ()):
        ref = event.get("evidence_id")
        if ref is not None and said.setdefault(ref, event) != event:
            yield INVALID


def _targets(call: Call) -> list[str]:
    """The ids that the caller itself names as what the command is about; a key is bound beside them."""
    request = call.request
    if call.operation == "capture":
        return list({event["evidence_id"] for event in request["events"] if "evidence_id" in event})
    named = [request.get(name) for name in ("atom_id", "client_id", "id")]
    for group, name in (("atoms", "id"), ("candidates", "id"), ("edges", "edge_id")):
        named += [entry.get(name) for entry in request.get(group, ())]
    for group in ("entities", "relations"):
        named += [entry["id"] for entry in request.get(group, ())]
    return [ref for ref in named if ref is not None]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
