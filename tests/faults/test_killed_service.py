"""A service that dies between any two statements leaves all of a command or nothing of it (T14)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.recall import recall
from amos_graph.queries.verify import verify
from amos_graph.upkeep.export import export
from amos_graph.upkeep.restore import check_file
from tests.administrator import run
from tests.faults.journal import checked_journal, newest
from tests.faults.service import Service, Store, carry_out, running
from tests.samples import belief, interaction, source_event
from tests.server import Server

Json = dict[str, Any]
LINE_BYTES_MAX = 10_000_000
_CONFIDENCE = {"score": 0.5}


@pytest.fixture
def store(server: Server, tenant: str, tmp_path: Path) -> Store:
    return Store(server, tmp_path, tenant)


@pytest.fixture(scope="module")
def process(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One process for all tests here; what dies are its children."""
    with running(Store(server, tmp_path_factory.mktemp("service"), "none")) as found:
        yield found


@pytest.fixture
def service(process: Service, store: Store) -> Service:
    process.store = store
    return process


@dataclass(frozen=True, slots=True)
class Sweep:
    """Where a command was killed, and what stood there then."""

    store: Store
    service: Service
    graph: Graph

    @property
    def shard(self) -> str:
        return f"{self.store.tenant}/w"

    def run(self, call: Json) -> Json:
        """The same command by a service that lives."""
        return carry_out(self.store.context(self.graph, call), call)

    def killed(self, call_of: Callable[[int], Json], **also: Any) -> int:
        """Kill a fresh command after its first statement, its second, until one ends; how often it died.

        After each kill nothing of the command is there, and its key carries it out, once.
        """
        position = 0
        while True:
            position += 1
            call = call_of(position)
            before = self.stands()
            answer = self.service.run(calls=[call], dies_after=position, **also)
            if "outcomes" in answer:
                assert "receipt" in answer["outcomes"][0], answer
                self.retried(call, answer["outcomes"][0]["receipt"])
                return position - 1
            assert answer == {"died": True}
            assert self.stands() == before, f"half of {call} is there after statement {position}"
            self.settled(call)

    def settled(self, call: Json) -> Json:
        """The key of a command that was not carried out carries it out; a second time it only tells."""
        done = self.run(call)
        assert "receipt" in done, done
        assert not done["replayed"]
        self.retried(call, done["receipt"])
        return done["receipt"]

    def retried(self, call: Json, receipt: Json) -> None:
        """The same key gives the same receipt and changes nothing."""
        before = self.stands()
        if call["operation"] == "register":
            # A token is shown once, so there is nothing to show again.
            assert self.run(call)["code"] == "idempotency_conflict"
        else:
            assert self.run(call) == {"receipt": receipt, "replayed": True}
        assert self.stands() == before

    def stands(self) -> dict[str, int]:
        return {ref: body["version"] for ref, body in newest(self.graph, self.shard).items()}

    def sound(self) -> None:
        """The chain, the graph and the archive are without a fault, and what is exported is whole."""
        checked_journal(self.graph, self.shard)
        assert [fault.record() for fault in verify(self.graph, self.shard).faults] == []
        file = self.store.home / "journal.jsonl"
        archive = Archive(self.store.home / "archive")
        (exported,) = export(self.graph, archive, [self.shard], file, line_bytes_max=LINE_BYTES_MAX)
        assert check_file(file, line_bytes_max=LINE_BYTES_MAX).shards == (exported.end,)


@pytest.fixture
def sweep(store: Store, service: Service, graph: Graph) -> Sweep:
    found = Sweep(store, service, graph)
    start = {
        "events": [source_event()],
        "atoms": [belief(id="ground", payload={"object": "ground"})],
    }
    assert "receipt" in found.run({"operation": "commit", "request": start})
    return found


def _commit(position: int) -> Json:
    """Evidence in the archive, a new entity and relation, three atoms of two kinds, edges of both kinds."""
    name = f"n{position}"
    asked = [{"relation": "rel:supports", "target_ref": "ground"}]
    request = {
        "events": [source_event(f"evd_{name}", payload={"text": name * 5_000})],
        "relations": [{"id": f"rel:{name}", "kind": "edge", "description": name}],
        "entities": [{"id": f"ent:thing:{name}", "aliases": [name]}],
        "atoms": [
            belief(id=f"{name}:a", payload={"object": f"ent:thing:{name}", "graph_relations": asked}),
            belief(id=f"{name}:b", payload={"object": name}, evidence_refs=[f"evd_{name}"]),
            belief(id=f"{name}:c", payload={"object": f"{name} c"}, supersedes=[f"{name}:b"]),
            interaction(name, 1, id=f"{name}:said"),
        ],
        "edges": [
            {
                "source_ref": f"{name}:a",
                "target_ref": f"{name}:c",
                "relation": "rel:depends_on",
                "confidence": _CONFIDENCE,
            }
        ],
    }
    return {"operation": "commit", "request": request, "key": name}


def _capture(position: int) -> Json:
    events = [
        source_event(f"evd_c{position}", payload={"text": f"{position} " * 5_000}),
        source_event(f"evd_d{position}", payload={"text": f"short {position}"}),
    ]
    return {"operation": "capture", "request": {"events": events}, "key": f"c{position}"}


def _register(position: int) -> Json:
    request = {"id": f"cli_n{position}", "service_id": "svc:new", "capabilities": ["memory.read"]}
    return {"operation": "register", "request": request, "key": f"r{position}"}


@pytest.mark.reliability("T14")
def test_a_commit_killed_after_any_statement_is_whole_or_absent(sweep: Sweep) -> None:
    """Archived payload, relation, entity, atoms, edges, supersession and stream, killed at each step."""
    died = sweep.killed(_commit)

    assert died >= 9
    sweep.sound()


@pytest.mark.reliability("T14")
def test_a_capture_killed_after_any_statement_is_whole_or_absent(sweep: Sweep) -> None:
    """A file in the archive that no record names is in nobody's way, and its command can come again."""
    died = sweep.killed(_capture)
    half = _capture(1000)
    before = sweep.stands()
    assert sweep.service.run(calls=[half], dies_in_archive=True) == {"died": True}
    assert sweep.stands() == before
    left = [path for path in (sweep.store.home / "archive").rglob("tmp*") if path.is_file()]
    sweep.settled(half)

    assert died >= 3
    assert len(left) == 1, "the kill did not fall into the writing of the file"
    sweep.sound()


@pytest.mark.reliability("T14")
def test_an_archive_killed_after_any_statement_is_whole_or_absent(sweep: Sweep) -> None:
    """The atom and the edges at it leave together, with the reason, or stay together."""

    def call_of(position: int) -> Json:
        name = f"n{position}"
        assert "receipt" in sweep.run(_commit(position))
        request = {"atom_id": f"{name}:a", "reason": f"done with {name}"}
        return {"operation": "archive", "request": request, "key": f"archive {name}"}

    died = sweep.killed(call_of)

    assert died >= 5
    bodies = newest(sweep.graph, sweep.shard)
    at_it = [b for b in bodies.values() if "edge_id" in b and b["source_ref"].endswith(":a")]
    assert len(at_it) == 2 * (died + 1)
    assert {body["lifecycle_state"] for body in at_it} == {"detached"}
    sweep.sound()


@pytest.mark.reliability("T14")
def test_a_registration_killed_after_any_statement_is_whole_or_absent(sweep: Sweep) -> None:
    """A client is there with its token's digest, or not at all and can be registered."""
    died = sweep.killed(_register)

    assert died >= 3
    sweep.sound()


@pytest.mark.reliability("T14")
def test_an_outcome_killed_after_any_statement_counts_once(sweep: Sweep) -> None:
    """Scores, counters and receipt are there together or not at all; the same key then counts it, once."""
    context = sweep.store.context(sweep.graph, {})
    position, answer = 0, {}
    while "outcomes" not in answer:
        position += 1
        asked = {"cues": ["ground"], "evaluated_at": f"2027-01-01T00:00:{position:02}Z"}
        found = recall(context, asked)
        assert sweep.graph.outbox.flush()
        request = {"packet_id": found["packet_id"], "helpful_atom_refs": ["ground"]}
        call = {"operation": "outcome", "request": request, "key": f"o{position}"}
        answer = sweep.service.run(calls=[call], dies_after=position)
        done = sweep.run(call)
        assert done["receipt"]["updated"] == ["ground"]
        sweep.retried(call, done["receipt"])
        counted = run(
            sweep.graph,
            "MATCH (u:Usage {shard: $shard, ref: 'ground'}) RETURN u.helpful_count AS n, u.access_count AS m",
            shard=sweep.shard,
        )
        assert counted == [{"n": position, "m": position}]
        assert newest(sweep.graph, sweep.shard)["scr_ground"]["version"] == position

    assert position > 5
    sweep.sound()


@pytest.mark.reliability("T14")
def test_a_group_killed_after_any_statement_is_whole_or_absent(sweep: Sweep) -> None:
    """Commands that are committed together are there together or not at all; each key then gives its one."""

    def group_of(position: int) -> list[Json]:
        name = f"g{position}"
        opener = {"operation": "capture", "request": {"events": [source_event(f"evd_{name}_opener")]}}
        changed = belief(id="shared", version=position - 1, payload={"object": name})
        requests: list[Json] = [
            {"events": [source_event(f"evd_{name}")], "atoms": [changed]},
            {"atoms": [belief(id=f"{name}:own", payload={"object": f"{name} own"})]},
            # It asks for what the first of the group wrote, so that the group writes in two parts.
            {"atoms": [belief(id=f"{name}:next", payload={"object": name})], "edges": [_edge(name)]},
        ]
        calls = [
            {"operation": "commit", "request": request, "key": f"{name} {index}"}
            for index, request in enumerate(requests)
        ]
        return [opener, *calls]

    position = 0
    while True:
        position += 1
        calls = group_of(position)
        before = sweep.stands()
        answer = sweep.service.run(calls=calls, dies_after=position)
        after = sweep.stands()
        if "outcomes" in answer:
            for call, outcome in zip(calls[1:], answer["outcomes"][1:], strict=True):
                sweep.retried(call, outcome["receipt"])
            break
        assert after == {**before, f"evd_g{position}_opener": 1}, "half of a group is there"
        for call in calls[1:]:
            sweep.settled(call)

    assert answer["statements"].count("journal/append_events") == 2, "they did not make one group"
    assert answer["statements"].count("journal/lock_shard") == 1
    sweep.sound()


def _edge(name: str) -> Json:
    return {
        "source_ref": f"{name}:next",
        "target_ref": "shared",
        "relation": "rel:supports",
        "confidence": _CONFIDENCE,
    }


@pytest.mark.reliability("T14", "T05")
@pytest.mark.parametrize("call_of", [_commit, _capture, _register], ids=["commit", "capture", "register"])
def test_a_service_killed_before_it_answers_has_done_it_once(
    sweep: Sweep, call_of: Callable[[int], Json]
) -> None:
    """The commit is done and nobody heard of it: the same key tells the outcome, nothing is done again."""
    call = call_of(1)
    before = sweep.stands()
    assert sweep.service.run(calls=[call], dies_unheard=True) == {"died": True}
    after = sweep.stands()
    told = sweep.run(call)

    assert after != before
    assert told.get("replayed") or told["code"] == "idempotency_conflict"
    sweep.retried(call, told.get("receipt", {}))
    assert sweep.stands() == after
    sweep.sound()
