"""Programs of commands against one shard, each answer and each state compared with the model's."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from amos_graph.commands.execution import Context
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph, Observer
from amos_graph.queries.clients import list_clients
from amos_graph.queries.digest import graph_digest
from amos_graph.queries.verify import verify
from amos_graph.upkeep.export import export
from amos_graph.upkeep.restore import restore
from tests.faults.journal import checked_journal
from tests.faults.service import Service, Store, carry_out
from tests.machine.comparing import check_answer, check_atom, check_atoms, check_records
from tests.machine.model import Accepted, Call, Json, Model
from tests.server import Server

LINE_BYTES_MAX: Final = 10_000_000
_OWN_IDS: Final = ("a1", "a2", "a3", "a4")
_KEYS: Final = st.sampled_from([None, None, "k1", "k2"])
_SERVICES: Final = st.sampled_from(["svc:test", "svc:test", "svc:other"])
_EVIDENCE: Final = ("evd_1", "evd_2", "evd_3")
#: The last one is too large for the graph and goes to the archive.
_TEXTS: Final = ("one", "two", "x" * 9_000)


def _source(ref: str | None, text: str) -> Json:
    named = {"evidence_id": ref} if ref else {}
    about = {"source_type": "conversation_turn", "source_ref": "session/1", "payload": {"text": text}}
    return named | about


_EVENTS = st.builds(_source, st.sampled_from([*_EVIDENCE, None]), st.sampled_from(_TEXTS))
_CITED = st.lists(st.sampled_from([*_EVIDENCE[:2] * 6, "evd_3", "evd_none"]), min_size=1, max_size=2)
_SCORES = st.sampled_from([0.5, 0.5, 0.8])
#: What a caller says of the version that it replaces; resolved when the command is made.
_VERSIONS = st.sampled_from(["right", "right", "right", "expected", "none", "stale", "zero"])
#: Which atom is meant: the n-th of those that the program knows.
_REASONS = st.sampled_from(["old", "wrong"])
_NTH = st.integers(0, 7)
_JOINING: Final = ("rel:supports", "rel:supports", "rel:contradicts", "rel:derived_from", "rel:mine")


def _seldom(several: st.SearchStrategy[Any], most: int = 1) -> st.SearchStrategy[list[Any]]:
    return st.one_of(st.just([]), st.just([]), st.lists(several, min_size=1, max_size=most))


_BELIEFS = st.fixed_dictionaries(
    {
        "kind": st.just("belief"),
        "id": st.one_of(st.none(), st.sampled_from(_OWN_IDS), _NTH),
        "object": st.sampled_from(["plain", "other", "ent:thing:x", "ent:thing:z"]),
        "evidence": _CITED,
        "score": _SCORES,
        "health": st.sampled_from(["healthy", "healthy", "healthy", "stale"]),
        "version": _VERSIONS,
        "asked": _seldom(st.tuples(st.sampled_from(_JOINING), _NTH), 2),
        "supersedes": _seldom(_NTH),
    }
)
_TURNS = st.fixed_dictionaries(
    {
        "kind": st.just("interaction_event"),
        "id": st.sampled_from([None, None, "said1", "said2"]),
        "conversation": st.sampled_from(["c1", "c2"]),
        "sequence": st.sampled_from(["next", "next", "next", "1", "3"]),
        "evidence": st.just(["evd_1"]),
    }
)
_EDGES = st.fixed_dictionaries(
    {
        "source": _NTH,
        "target": _NTH,
        "relation": st.sampled_from([*_JOINING, "rel:supersedes"]),
        "evidence": st.lists(st.sampled_from(_EVIDENCE[:2]), max_size=1),
        "score": _SCORES,
    }
)
_RELATIONS = st.fixed_dictionaries(
    {
        "text": st.sampled_from(["of ours", "of ours too"]),
        "weight": st.sampled_from([0.5, 0.25]),
        "version": _VERSIONS,
    }
)
_ENTITIES = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["ent:thing:x", "ent:thing:y", "ent:user:primary"]),
        "aliases": st.sampled_from([["it"], ["that"]]),
        "becomes": st.sampled_from(
            [
                {},
                {},
                {"merged_into": "ent:thing:z"},
                {"merged_into": "ent:thing:x"},
                {"split_into": ["ent:thing:z", "ent:user:primary"]},
            ]
        ),
        "version": _VERSIONS,
    }
)


_COMMITS = st.fixed_dictionaries(
    {
        "events": _seldom(_EVENTS, 2),
        "atoms": st.lists(st.one_of(_BELIEFS, _BELIEFS, _BELIEFS, _TURNS), max_size=3),
        "edges": _seldom(_EDGES, 2),
        "relations": _seldom(_RELATIONS),
        "entities": _seldom(_ENTITIES),
    }
)


@dataclass(frozen=True, slots=True)
class World:
    """Where programs run, and where their journals are rebuilt."""

    server: Server
    folder: Path
    observer: Observer
    elsewhere: Graph
    wipe: Callable[[Graph, str], None]
    #: Commands are carried out by a process of their own, and a restart kills it.
    in_a_process: bool = False


class Programs(RuleBasedStateMachine):
    """One program: a shard of its own, and a model beside it."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        tenant = f"m{uuid.uuid4().hex[:12]}"
        self.store = Store(self.world.server, self.world.folder / tenant, tenant)
        self.graph = self.store.graph(self.world.observer)
        self.service = Service(self.store) if self.world.in_a_process else None
        self.model = Model(self.context().scope)
        self.sent: list[Call] = []
        # Something to stand on, so that not all first commands are refused.
        mine = {"id": "rel:mine", "kind": "edge", "description": "ours", "spread_weight": 0.5}
        atoms = [_stated("plain", id="a1"), _stated("other", id="a2")]
        atoms.append(_stated("ent:thing:z", ["rel:mine", "a1"]))
        ground = {"events": [_source(ref, "one") for ref in _EVIDENCE[:2]], "relations": [mine]}
        self._send(Call("commit", {**ground, "atoms": atoms}), 0)

    def context(self) -> Context:
        return self.store.context(self.graph, {})

    # --- commands ----------------------------------------------------------------------------

    @rule(nth=_NTH, belief=_BELIEFS, key=_KEYS)
    def update(self, nth: int, belief: Json, key: str | None) -> None:
        """One atom replaced whole, its own edges with it, by somebody who knows its version."""
        atom = self._belief({**belief, "id": nth, "version": "right"}, {})
        self._send(Call("commit", {"atoms": [atom]}, key), nth)

    @rule(belief=_BELIEFS, key=_KEYS, pick=_NTH)
    def state(self, belief: Json, key: str | None, pick: int) -> None:
        """One claim without an id: new, or said before."""
        self._send(Call("commit", {"atoms": [self._belief({**belief, "id": None}, {})]}, key), pick)

    @rule(edges=st.lists(_EDGES, min_size=1, max_size=2), key=_KEYS)
    def link(self, edges: list[Json], key: str | None) -> None:
        """Edges alone."""
        request = {"edges": [self._edge(edge) for edge in edges]}
        self._send(Call("commit", request, key), edges[0]["target"])

    @rule(turns=st.lists(_TURNS, min_size=1, max_size=2), key=_KEYS, pick=_NTH)
    def say(self, turns: list[Json], key: str | None, pick: int) -> None:
        """Events of conversations."""
        self._send(Call("commit", {"atoms": self._atoms(turns, {})}, key), pick)

    @rule(recipe=_COMMITS, key=_KEYS, service=_SERVICES, pick=_NTH)
    def commit(self, recipe: Json, key: str | None, service: str, pick: int) -> None:
        """Atoms, edges, entities, relations and their evidence in one command."""
        if not any(recipe.values()):
            return
        expected: dict[str, int] = {}
        request = {
            "events": recipe["events"],
            "atoms": self._atoms(recipe["atoms"], expected),
            "edges": [self._edge(edge) for edge in recipe["edges"]],
            "relations": [self._relation(entry, expected) for entry in recipe["relations"]],
            "entities": [self._entity(entry, expected) for entry in recipe["entities"]],
        }
        request = {name: entries for name, entries in request.items() if entries}
        self._send(Call("commit", request, key, expected, service), pick)

    @rule(atoms=st.lists(_BELIEFS, min_size=1, max_size=2), key=_KEYS, service=_SERVICES, pick=_NTH)
    def propose(self, atoms: list[Json], key: str | None, service: str, pick: int) -> None:
        """Candidates, which join nothing."""
        expected: dict[str, int] = {}
        request = {"candidates": self._atoms(atoms, expected)}
        self._send(Call("propose", request, key, expected, service), pick)

    @rule(events=st.lists(_EVENTS, min_size=1, max_size=3), key=_KEYS, pick=_NTH)
    def capture(self, events: list[Json], key: str | None, pick: int) -> None:
        """Evidence alone."""
        self._send(Call("capture", {"events": events}, key), pick)

    @rule(nth=_NTH, reason=_REASONS, version=_VERSIONS, key=_KEYS, pick=_NTH)
    def archive(self, nth: int, reason: str, version: str, key: str | None, pick: int) -> None:
        """An atom out of ordinary recall."""
        self._put("archive", self._nth(nth), reason, version, (key, pick))

    @rule(nth=_NTH, reason=_REASONS, version=_VERSIONS, key=_KEYS, pick=_NTH)
    def restore(self, nth: int, reason: str, version: str, key: str | None, pick: int) -> None:
        """An atom back into it."""
        self._put("restore", self._nth(nth), reason, version, (key, pick))

    def _put(self, operation: str, ref: str, reason: str, version: str, sent: tuple[str | None, int]) -> None:
        expected: dict[str, int] = {}
        request: Json = {"atom_id": ref, "reason": reason}
        stated = self._version(ref, version, expected)
        if stated:
            request["expected_version"] = stated
        key, pick = sent
        self._send(Call(operation, request, key, expected), pick)

    @rule(
        name=st.sampled_from(["cli_1", "cli_2"]),
        operation=st.sampled_from(["register", "register", "revoke"]),
        key=_KEYS,
    )
    def client(self, name: str, operation: str, key: str | None) -> None:
        """A client with a token, or the end of its token."""
        request = {"client_id": name}
        if operation == "register":
            request = {"id": name, "service_id": "svc:new", "capabilities": ["memory.read"]}
        self._send(Call(operation, request, key), 0)

    # --- what befalls a service --------------------------------------------------------------

    @precondition(lambda self: self.sent)
    @rule(nth=_NTH, pick=_NTH)
    def again(self, nth: int, pick: int) -> None:
        """The same request once more, with its key if it has one."""
        self._send(self.sent[-1 - nth % len(self.sent)], pick)

    @precondition(lambda self: any(call.key for call in self.sent))
    @rule(nth=_NTH, pick=_NTH)
    def altered(self, nth: int, pick: int) -> None:
        """The same key for another payload about the same records."""
        keyed = [call for call in self.sent if call.key]
        call = keyed[-1 - nth % len(keyed)]
        other = {"expected": {**call.expected, "evd_1": 3}}
        if call.operation in ("archive", "restore"):
            other = {"request": {**call.request, "reason": "for another reason"}}
        if call.operation in ("register", "revoke"):
            other = {"request": {**call.request, "process_type": "other"}}
        if call.operation == "revoke":
            return
        self._send(replace(call, **other), pick)

    @rule()
    def restart(self) -> None:
        """The service ends and another one starts: nothing that matters was in its memory."""
        self.graph.close()
        self.graph = self.store.graph(self.world.observer)
        if self.service:
            self.service.kill()

    # --- sending and comparing ---------------------------------------------------------------

    def _send(self, call: Call, pick: int) -> None:
        expected = self.model.expect(call)
        record = {
            "operation": call.operation,
            "request": call.request,
            "key": call.key,
            "expected": dict(call.expected),
            "service": call.service,
        }
        context = self.store.context(self.graph, record)
        told = self.service.run(call=record) if self.service else carry_out(context, record)
        check_answer(expected, told, self.model)
        if isinstance(expected, Accepted):
            self.model.accept(call, told["receipt"])
        self.sent.append(call)
        check_atoms(self.context(), self.model)
        check_records(self.context(), self.model)
        check_atom(self.context(), self.model, self._nth(pick), pick)

    def teardown(self) -> None:
        """The whole shard verifies, and its journal gives the same graph elsewhere."""
        if self.service:
            self.service.kill()
        try:
            if self.model.graph_version:
                self._rebuilt_elsewhere()
        finally:
            self.graph.close()

    def _rebuilt_elsewhere(self) -> None:
        shard, elsewhere = self.context().scope.shard, self.world.elsewhere
        assert len(checked_journal(self.graph, shard)) == self.model.graph_version
        assert [fault.record() for fault in verify(self.graph, shard).faults] == []
        clients = {row.client_id: row.revoked_at is not None for row in list_clients(self.graph, shard)}
        assert clients == {ref: client["revoked"] for ref, client in self.model.state.clients.items()}
        here = graph_digest(self.graph, shard)
        file = self.store.home / "journal.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        export(self.graph, self.context().archive, [shard], file, line_bytes_max=LINE_BYTES_MAX)
        copy = Archive(self.store.home / "elsewhere")
        try:
            restore(elsewhere, copy, file, line_bytes_max=LINE_BYTES_MAX)
            assert graph_digest(elsewhere, shard) == here
            assert [fault.record() for fault in verify(elsewhere, shard).faults] == []
            there = replace(self.context(), graph=elsewhere, archive=copy)
            check_atoms(there, self.model)
            check_records(there, self.model)
        finally:
            self.world.wipe(elsewhere, shard)

    # --- recipes into requests ---------------------------------------------------------------

    def _nth(self, nth: int) -> str:
        """An atom that is there, in the order of their coming; the last is one that is not."""
        known = [*self.model.state.atoms, "absent"]
        return known[nth % len(known)]

    def _version(self, ref: str, said: str, expected: dict[str, int]) -> int | None:
        """The version that a caller states for a record, in the record or beside it."""
        now = self.model.state.version_of(ref)
        if said == "expected":
            expected[ref] = now
        return {"right": now, "stale": now + 3, "zero": 0}.get(said)

    def _atoms(self, recipes: Sequence[Json], expected: dict[str, int]) -> list[Json]:
        ends = dict(self.model.state.streams)
        return [
            self._belief(recipe, expected) if recipe["kind"] == "belief" else self._turn(recipe, ends)
            for recipe in recipes
        ]

    def _belief(self, recipe: Json, expected: dict[str, int]) -> Json:
        asked = ([relation, self._nth(nth)] for relation, nth in recipe["asked"])
        atom = _stated(
            recipe["object"],
            *asked,
            evidence_refs=recipe["evidence"],
            confidence={"score": recipe["score"]},
            health_status=recipe["health"],
        )
        if recipe["supersedes"]:
            atom["supersedes"] = [self._nth(nth) for nth in recipe["supersedes"]]
        if recipe["id"] is not None:
            named = recipe["id"]
            atom["id"] = named if isinstance(named, str) else self._nth(named)
            _versioned(atom, self._version(atom["id"], recipe["version"], expected))
        return atom

    def _turn(self, recipe: Json, ends: dict[str, int]) -> Json:
        conversation, said = recipe["conversation"], recipe["sequence"]
        sequence = ends.get(conversation, 0) + 1 if said == "next" else int(said)
        ends[conversation] = max(sequence, ends.get(conversation, 0))
        payload = {"conversation_id": conversation, "sequence": sequence, "role": "user"}
        return {
            **({"id": recipe["id"]} if recipe["id"] else {}),
            "type": "interaction_event",
            "payload": {**payload, "actor": "ent:user:primary", "content": "hello"},
            "evidence_refs": recipe["evidence"],
            "confidence": {"score": 1.0},
        }

    def _edge(self, recipe: Mapping[str, Any]) -> Json:
        return {
            "source_ref": self._nth(recipe["source"]),
            "target_ref": self._nth(recipe["target"]),
            "relation": recipe["relation"],
            "evidence_refs": recipe["evidence"],
            "confidence": {"score": recipe["score"]},
        }

    def _relation(self, recipe: Json, expected: dict[str, int]) -> Json:
        entry = {"id": "rel:mine", "kind": "edge", "description": recipe["text"]}
        entry["spread_weight"] = recipe["weight"]
        return _versioned(entry, self._version("rel:mine", recipe["version"], expected))

    def _entity(self, recipe: Json, expected: dict[str, int]) -> Json:
        entry: Json = {"id": recipe["id"], "aliases": recipe["aliases"], **recipe["becomes"]}
        return _versioned(entry, self._version(recipe["id"], recipe["version"], expected))


def _stated(what: str, *asked: Sequence[str], **changes: Any) -> Json:
    """A belief, and the edges that it asks for."""
    payload: Json = {"subject": "ent:user:primary", "relation": "rel:working_on", "object": what}
    if asked:
        payload["graph_relations"] = [
            {"relation": relation, "target_ref": target} for relation, target in asked
        ]
    ground = {"type": "belief", "evidence_refs": ["evd_1"], "confidence": {"score": 0.5}}
    return {**ground, "payload": payload, **changes}


def _versioned(record: Json, version: int | None) -> Json:
    if version is not None:
        record["version"] = version
    return record
