"""One packet is of one graph version, also while writers write."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Identity, Scope
from amos_graph.graph.transactions import Graph
from amos_graph.queries import steady
from amos_graph.queries.recall import packet as packets
from amos_graph.queries.recall.packet import Reading, touches
from tests.administrator import run
from tests.conftest import ContextOf
from tests.recall.samples import edge, fact, packet, refs, store
from tests.samples import source_event


def _writer(context: Context, name: str, stop: threading.Event, counts: dict[int, int]) -> Callable[[], None]:
    """Supersede one chain again and again: each command ends the last member and adds the next."""

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            new = fact(f"{name}-{number}", f"ledger {name} {number}", supersedes=[f"{name}-{number - 1}"])
            twin = fact(
                f"{name}twin-{number}", f"ledger twin {number}", supersedes=[f"{name}twin-{number - 1}"]
            )
            receipt = commit(context, {"atoms": [new, twin]})
            counts[receipt.graph_version] = number

    return write


@pytest.mark.reliability("T12")
def test_a_packet_under_writers_shows_exactly_one_version(context_of: ContextOf) -> None:
    """Each packet holds one member of every chain, twins agree, and both are those of its version."""
    chains = ("red", "blue")
    store(
        context_of(),
        *(fact(f"{name}{twin}-0", f"ledger {name} 0") for name in chains for twin in ("", "twin")),
    )
    stop = threading.Event()
    counts: dict[str, dict[int, int]] = {name: {} for name in chains}
    threads = [threading.Thread(target=_writer(context_of(), name, stop, counts[name])) for name in chains]
    for thread in threads:
        thread.start()
    try:
        found = [packet(context_of(), "ledger", max_items=50) for _ in range(25)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()

    assert len({entry["graph_version"] for entry in found}) > 5
    for entry in found:
        numbers = {ref.rpartition("-")[0]: int(ref.rpartition("-")[2]) for ref in refs(entry)}
        assert len(refs(entry)) == len(numbers) == 4, refs(entry)
        for name in chains:
            until = [number for at, number in counts[name].items() if at <= entry["graph_version"]]
            assert numbers[name] == numbers[f"{name}twin"] == max(until, default=0)


def test_under_the_lock_a_packet_is_the_same_and_nothing_is_written(
    context_of: ContextOf, caller: Identity, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last resort reads what an ordinary read reads, moves no version, and makes no shard."""
    store(context_of(), fact("a1", "Amos."), fact("a2", "Amos too."), edges=(edge("a1", "supports", "a2"),))
    asked = {"evaluated_at": "2099-01-01T00:00:00Z"}
    plain = packet(context_of(), "amos", **asked)
    stranger = Identity(
        "cli_x",
        "svc:x",
        "test",
        Scope(tenant_id=f"{caller.scope.tenant_id}x", workspace_id="w"),
        caller.capabilities,
    )

    monkeypatch.setattr(steady, "READS_MAX", 0)
    held = packet(context_of(), "amos", **asked)
    nothing = packet(context_of(stranger), "amos")

    assert {**held, "generated_at": ""} == {**plain, "generated_at": ""}
    assert (nothing["graph_version"], nothing["items"]) == (0, [])
    shards = "MATCH (j:Journal) WHERE j.shard STARTS WITH $tenant RETURN j.shard AS shard"
    assert run(graph, shards, tenant=caller.scope.tenant_id) == [{"shard": caller.scope.shard}]


@pytest.fixture
def reading(context: Context, monkeypatch: pytest.MonkeyPatch) -> Reading:
    """A reading of a small graph, as recall makes it."""
    kept: list[Reading] = []
    settled = packets.settled

    def keep(*given: Any) -> Reading:
        kept.append(settled(*given))
        return kept[-1]

    store(
        context,
        fact("a1", "Amos.", supersedes=[]),
        fact("a2", "Far."),
        fact("a3", "Against."),
        fact("old", "Amos old.", health_status="stale"),
        edges=(
            edge("a1", "supports", "a2", edge_id="edge_1"),
            edge("a3", "contradicts", "a1", edge_id="edge_2"),
        ),
    )
    monkeypatch.setattr(packets, "settled", keep)
    packet(context, "amos", include_provenance=True)
    return kept[0]


def change(ref: str, version: int = 1, relation: str | None = None, *ends: str) -> dict[str, Any]:
    """A record that was written while a packet was read."""
    source, target = ends or (None, None)
    return {
        "ref": ref,
        "version": version,
        "relation": relation,
        "source_ref": source,
        "target_ref": target,
        "scored": False,
    }


@pytest.mark.parametrize(
    ("written", "touched"),
    [
        (change("new"), False),
        (change("edge_9", 1, "rel:supports", "new", "newer"), False),
        (change("new", 2), True),
        (change("a2"), True),
        (change("old"), True),
        (change("evd_turn1"), True),
        (change("edge_1"), True),
        (change("edge_2"), True),
        (change("edge_9", 1, "rel:supports", "new", "a2"), True),
        (change("edge_9", 1, "rel:supersedes", "new", "newer"), True),
        ({**change("scr_new", 2, None, "new", "new"), "scored": True}, False),
        ({**change("scr_a2", 2, None, "a2", "a2"), "scored": True}, True),
    ],
)
def test_only_additions_apart_from_what_was_read_leave_it_valid(
    reading: Reading, written: dict[str, Any], touched: bool
) -> None:
    """Later versions, supersessions, and additions at what was read make a packet be read again."""
    assert touches(reading, [change("other"), written]) is touched


def test_too_many_changes_count_as_touching(reading: Reading) -> None:
    """What was not compared is not taken for harmless."""
    many = [change(f"n{number}") for number in range(steady.CHANGES_MAX)]

    assert steady.may_touch(touches, reading, many)
    assert not steady.may_touch(touches, reading, many[:-1])
    assert not steady.may_touch(touches, reading, [])


def test_the_next_packet_sees_every_write(context: Context) -> None:
    """What a command has acknowledged is recalled at once, and what it archived is gone at once."""
    commit(context, {"events": [source_event()]})
    for number in range(10):
        receipt = commit(context, {"atoms": [fact(f"a{number}", f"amos {number}")]})
        found = packet(context, "amos", max_items=50, min_graph_version=receipt.graph_version)
        assert len(refs(found)) == number + 1
    for number in range(5):
        archive(context, {"atom_id": f"a{number}", "reason": "test"})
        assert len(refs(packet(context, "amos", max_items=50))) == 9 - number


def test_packet_ids_follow_their_content(context: Context) -> None:
    """The same content has the same id; another version has another one."""
    store(context, fact("a1", "Amos."))
    asked = {"evaluated_at": "2099-01-01T00:00:00Z"}
    first, same = (packet(context, "amos", **asked)["packet_id"] for _ in range(2))
    store(context, fact("a2", "Zebra."))

    assert re.fullmatch(r"pkt_[0-9a-f]{40}", first)
    assert first == same != packet(context, "amos", **asked)["packet_id"]
