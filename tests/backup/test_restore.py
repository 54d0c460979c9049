"""A journal file restores to the same store: chain, bodies, graph, receipts and payloads (T29)."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from amos_graph.commands.capture import capture
from amos_graph.commands.commit import commit
from amos_graph.commands.dictionary import SYSTEM_SCOPE, prepare
from amos_graph.commands.execution import Context
from amos_graph.domain.journal_file import JournalEvent
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.digest import graph_digest
from amos_graph.queries.get import get_atom
from amos_graph.queries.journal import demand_head, journal_head
from amos_graph.queries.verify import checkpoint_of, foreign_faults, verify
from amos_graph.upkeep import rebuilding
from amos_graph.upkeep.export import all_shards, export
from amos_graph.upkeep.reading import shard_entries, shard_start
from amos_graph.upkeep.rebuilding import Prefix, Rebuilt, Writer
from amos_graph.upkeep.restore import check_file, restore
from tests.administrator import run, wipe
from tests.backup.conftest import LINE_BYTES_MAX, Told
from tests.conftest import ContextOf
from tests.samples import belief, source_event
from tests.server import Server


def restored(file: Path, there: Context) -> Rebuilt:
    (rebuilt,) = restore(there.graph, there.archive, file, line_bytes_max=LINE_BYTES_MAX)
    return rebuilt


def again(there: Context, folder: Path, name: str = "again.jsonl") -> bytes:
    """Another export, of what was restored."""
    shards = [there.scope.shard]
    export(there.graph, there.archive, shards, folder / name, line_bytes_max=LINE_BYTES_MAX)
    return (folder / name).read_bytes()


#: What a store makes of its own memories and reads: the index, and the log of packets.
OWN = ["Embedding", "IndexMark", "TermStatistics", "PacketManifest", "RetrievalOutcome", "Usage"]


def counted(graph: Graph, shard: str) -> list[tuple[str, int]]:
    """Nodes and relationships of a shard by label and type, but for those that each store makes itself."""
    rows = run(
        graph,
        """
        MATCH (n {shard: $shard}) WHERE none(label IN labels(n) WHERE label IN $own)
        RETURN labels(n)[0] AS what, count(*) AS number
        UNION ALL
        MATCH (n {shard: $shard})-[r]->() WHERE none(label IN labels(n) WHERE label IN $own)
        RETURN type(r) AS what, count(*) AS number
        """,
        shard=shard,
        own=OWN,
    )
    return sorted((row["what"], row["number"]) for row in rows)


@pytest.mark.reliability("T29", "T11")
def test_a_restored_shard_is_the_same_in_every_way(told: Told, there: Context) -> None:
    """No fault, the digest of its graph, each node and link, and another export of it byte for byte."""
    file = told.export()
    rebuilt = restored(file, there)

    assert [fault.record() for fault in verify(there.graph, told.shard).faults] == []
    assert foreign_faults(there.graph) == []
    assert (rebuilt.outcome, rebuilt.before, rebuilt.events) == ("written", 0, rebuilt.graph_version)
    assert again(there, told.folder) == file.read_bytes()
    assert counted(there.graph, told.shard) == counted(told.context.graph, told.shard)
    here, copy = graph_digest(told.context.graph, told.shard), graph_digest(there.graph, told.shard)
    assert copy == here
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.reliability("T29")
def test_restoring_twice_adds_nothing(told: Told, there: Context) -> None:
    """The second run finds everything there."""
    file = told.export()
    restored(file, there)
    before = counted(there.graph, told.shard)
    second = restored(file, there)

    assert (second.outcome, second.events, second.before) == ("present", 0, second.graph_version)
    assert counted(there.graph, told.shard) == before
    assert again(there, told.folder) == file.read_bytes()


@pytest.mark.reliability("T02", "T29")
def test_a_restored_store_answers_a_repeated_key_with_the_original_receipt(
    told: Told, there: Context, context_of: ContextOf
) -> None:
    """Also a command that changed nothing has its receipt."""
    request = {"events": [source_event("evd_receipt")]}
    first = capture(context_of(idempotency_key="kept"), request)
    unchanged = capture(context_of(idempotency_key="kept too"), request)
    restored(told.export(), there)
    repeated = capture(replace(there, idempotency_key="kept"), request)
    without_events = capture(replace(there, idempotency_key="kept too"), request)

    assert (repeated.record, repeated.replayed) == (first.record, True)
    assert (without_events.record, without_events.replayed) == (unchanged.record, True)
    other = source_event("evd_receipt", payload={"text": "another one"})
    with pytest.raises(AmosError, match="another payload"):
        capture(replace(there, idempotency_key="kept"), {"events": [other]})


@pytest.mark.reliability("T29")
def test_a_restored_store_goes_on(told: Told, there: Context) -> None:
    """Commands find their records, versions, streams and payloads, and leave a store without a fault."""
    restored(told.export(), there)
    said = belief(id="b5", payload={"object": "more"}, version=2)
    receipt = commit(there, {"atoms": [said], "events": [source_event("evd_after")]})

    assert receipt.graph_version == demand_head(told.context.graph, told.shard).graph_version + 2
    assert get_atom(there, {"atom_id": "b5"})["item"]["payload"]["object"] == "more"
    assert verify(there.graph, told.shard).ok


@pytest.mark.reliability("T29")
@pytest.mark.parametrize("size", [1, 4, 9])
def test_a_restore_that_was_cut_leaves_a_sound_prefix_and_goes_on(
    told: Told, there: Context, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Cut after any batch: what is there verifies, ends with a command, and the next run completes it."""
    monkeypatch.setattr(rebuilding, "EVENTS_PER_BATCH", size)
    monkeypatch.setattr(rebuilding, "RECEIPTS_PER_BATCH", size)
    context = told.context
    file = told.export()
    start = shard_start(told.shard, demand_head(context.graph, told.shard))
    entries = list(shard_entries(context.graph, context.archive, start))
    ends: set[int] = {
        entry.event["payload"]["command"]["last"] for entry in entries if isinstance(entry, JournalEvent)
    }
    seen: set[int] = set()
    for cut in range(0, len(entries), 17):
        # A process that dies loses the batch that it was gathering, and nothing else.
        writer = Writer(there.graph, there.archive, Prefix(there.graph, start))
        for entry in entries[:cut]:
            writer.take(entry)
        found = journal_head(there.graph, told.shard)
        if found is not None and found.graph_version not in seen:
            seen.add(found.graph_version)
            assert found.graph_version in ends
            assert [fault.record() for fault in verify(there.graph, told.shard).faults] == []
    assert len(seen) >= 3

    assert restored(file, there).graph_version == start.graph_version
    assert again(there, told.folder) == file.read_bytes()
    assert graph_digest(there.graph, told.shard) == graph_digest(context.graph, told.shard)


@pytest.mark.reliability("T29", "T14")
def test_a_restore_that_is_killed_goes_on(
    told: Told, there: Context, second_server: Server, tmp_path: Path
) -> None:
    """SIGKILL in the middle: the store is a sound prefix, and the same command completes it."""
    for group in range(4):
        atoms = [belief(id=f"n{group}-{n}", payload={"object": f"{group} {n}"}) for n in range(200)]
        commit(told.context, {"atoms": atoms})
    file = told.export()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AMOS_")},
        "AMOS_HOME": str(tmp_path / "second"),
        "AMOS_NEO4J_URI": second_server.uri,
        "AMOS_NEO4J_USER": second_server.user,
        "AMOS_NEO4J_PASSWORD": second_server.password,
    }
    command = [sys.executable, "-m", "amos_graph", "restore", str(file), "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    # Past the lock, which the next batch would hold until it is there.
    reached = "MATCH (j:Journal {shard: $shard}) WHERE j.graph_version > 0 RETURN j.graph_version AS at"
    while not run(there.graph, reached, shard=told.shard):
        assert time.monotonic() < deadline
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    killed = demand_head(there.graph, told.shard).graph_version
    assert verify(there.graph, told.shard).ok
    subprocess.run(command, env=environment, check=True, timeout=240, stdout=subprocess.DEVNULL)

    assert 0 < killed < demand_head(there.graph, told.shard).graph_version
    assert again(there, told.folder) == file.read_bytes()


def refusal(file: Path, there: Context) -> str:
    """Why a restore was refused; it has written nothing."""
    before = counted(there.graph, there.scope.shard)
    with pytest.raises(AmosError) as refused:
        restored(file, there)
    assert refused.value.code == "expected_version_conflict"
    assert counted(there.graph, there.scope.shard) == before
    return refused.value.message


@pytest.mark.reliability("T10", "T29")
def test_a_store_that_went_another_way_is_refused(told: Told, there: Context) -> None:
    """A fork, a store that is ahead, and another history are told from one another, with both versions."""
    file = told.export()
    at = restored(file, there).graph_version
    capture(there, {"events": [source_event("evd_there")]})
    assert f"the store is at {at + 1}, the copy at {at}: the store is ahead" in refusal(file, there)

    capture(told.context, {"events": [source_event("evd_here")]})
    capture(told.context, {"events": [source_event("evd_here_too")]})
    newer = told.export("newer.jsonl")
    told_by = refusal(newer, there)
    assert f"the store is at {at + 1}, the copy at {at + 2}: they part ways at event {at + 1}" in told_by

    wipe(there.graph, told.shard)
    capture(there, {"events": [source_event("evd_turn1")]})
    assert "the store has a history of its own there" in refusal(newer, there)


@pytest.mark.reliability("T29")
def test_a_writer_beside_a_restore_is_told_and_loses_nothing(
    told: Told, there: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes to a half restored shard keeps what was accepted; the restore stops."""
    monkeypatch.setattr(rebuilding, "EVENTS_PER_BATCH", 10)
    context = told.context
    start = shard_start(told.shard, demand_head(context.graph, told.shard))
    writer = Writer(there.graph, there.archive, Prefix(there.graph, start))
    meddled = False

    def meddling() -> None:
        nonlocal meddled
        for entry in shard_entries(context.graph, context.archive, start):
            writer.take(entry)
            if not meddled and journal_head(there.graph, told.shard):
                capture(there, {"events": [source_event("evd_meddled")]})
                meddled = True

    with pytest.raises(AmosError, match="somebody wrote to it meanwhile"):
        meddling()
    assert meddled
    assert verify(there.graph, told.shard).ok


@pytest.mark.reliability("T29")
def test_the_system_shard_is_restored_where_there_is_none_and_kept_where_there_is_one(
    told: Told, there: Context
) -> None:
    """A store that was never served becomes the same store; one with a dictionary of its own keeps it."""
    system = SYSTEM_SCOPE.shard
    context, folder = told.context, told.folder
    file = folder / "both.jsonl"
    shards = [system, told.shard]
    assert set(shards) <= set(all_shards(context.graph))
    export(context.graph, context.archive, shards, file, line_bytes_max=LINE_BYTES_MAX)
    wipe(there.graph, system)
    written = restore(there.graph, there.archive, file, line_bytes_max=LINE_BYTES_MAX)
    assert [(r.shard, r.outcome) for r in written] == [(system, "written"), (told.shard, "written")]
    assert checkpoint_of(there.graph, system) == checkpoint_of(context.graph, system)
    assert verify(there.graph, system).ok
    # An upgrade makes a store's own dictionary longer than that of an older file.
    shorter = shard_start(system, demand_head(there.graph, system)).model_copy(update={"graph_version": 10})
    assert Prefix(there.graph, shorter).kept

    wipe(there.graph, system)
    wipe(there.graph, told.shard)
    prepare(there.graph, there.settings)
    own = checkpoint_of(there.graph, system)
    kept = restore(there.graph, there.archive, file, line_bytes_max=LINE_BYTES_MAX)
    assert [(r.shard, r.outcome) for r in kept] == [(system, "kept"), (told.shard, "written")]
    assert checkpoint_of(there.graph, system) == own
    assert verify(there.graph, told.shard).ok


@pytest.mark.reliability("T12", "T29")
def test_an_export_beside_writers_is_of_one_version(
    told: Told, there: Context, context_of: ContextOf, tmp_path: Path
) -> None:
    """The file ends with a command, is sound by itself, and restores to a prefix of what went on."""
    stop, wrote = threading.Event(), threading.Event()
    crashes: list[BaseException] = []

    def write(name: int) -> None:
        number = 0
        try:
            while not stop.is_set():
                atom = belief(payload={"object": f"{name} {number}"})
                commit(context_of(), {"atoms": [atom], "events": [source_event(f"evd_{name}_{number}")]})
                number += 1
                wrote.set()
        except BaseException as error:
            crashes.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    try:
        files: list[Path] = []
        for number in range(3):
            files.append(told.export(f"{number}.jsonl"))
            # However slow the writers are, something is new before the next one.
            wrote.clear()
            assert wrote.wait(60)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert crashes == []
    for file in files:
        check_file(file, line_bytes_max=LINE_BYTES_MAX)
    heads = [restored(file, there) for file in files]
    assert verify(there.graph, told.shard).ok
    assert heads[0].graph_version < heads[-1].graph_version
    checkpoint = checkpoint_of(there.graph, told.shard)
    assert verify(told.context.graph, told.shard, checkpoint=checkpoint).ok


def refused_export(told: Told) -> AmosError:
    """Why an export failed; it has left nothing behind."""
    before = sorted(path.name for path in told.folder.iterdir())
    with pytest.raises(AmosError) as refused:
        told.exported("failed.jsonl")
    assert sorted(path.name for path in told.folder.iterdir()) == before
    return refused.value


@pytest.mark.reliability("T29", "T07")
def test_an_export_stops_at_the_first_fault_and_leaves_nothing(tampered: Told) -> None:
    """A journal that was tampered with is no backup: the fault is named, and there is no file."""
    context = tampered.context
    run(
        context.graph,
        "MATCH (e:Event {shard: $shard, graph_version: 7}) SET e.actor = 'svc:evil'",
        shard=tampered.shard,
    )
    refused = refused_export(tampered)

    assert refused.code == "internal"
    assert f"{tampered.shard}, event 7: wrong_hash" in refused.message
    assert refused.details["graph_version"] == 7


@pytest.mark.reliability("T29")
def test_an_export_tells_which_payload_the_archive_lost(told: Told) -> None:
    """A payload that is not there, or was altered, is named with its record."""
    (path,) = [path for path in told.context.settings.archive_folder.rglob("*") if path.is_file()][:1]
    content = path.read_bytes()
    path.write_bytes(content + b"x")
    assert "an archived payload differs from its digest" in refused_export(told).message
    path.unlink()
    refused = refused_export(told)
    assert "the archived payload is not there" in refused.message
    assert "evd_" in refused.message
    path.write_bytes(content)
    told.export()


def test_an_event_larger_than_a_line_may_be_is_told(told: Told) -> None:
    """The limit holds for the writer as for the reader, and the sentence names the setting."""
    context = told.context
    with pytest.raises(AmosError, match="AMOS_JOURNAL_LINE_BYTES_MAX") as refused:
        export(context.graph, context.archive, [told.shard], told.folder / "x", line_bytes_max=10_000)
    assert refused.value.code == "capacity_limited"
    assert not (told.folder / "x").exists()


def test_a_shard_that_nobody_wrote_to_has_nothing_to_export(context: Context, tmp_path: Path) -> None:
    """There is no file, and one that was there stays."""
    file = tmp_path / "kept.jsonl"
    file.write_text("kept")
    with pytest.raises(AmosError) as refused:
        export(context.graph, context.archive, [context.scope.shard], file, line_bytes_max=LINE_BYTES_MAX)
    assert refused.value.code == "not_found"
    assert file.read_text() == "kept"
    file = tmp_path / "no" / "x"
    with pytest.raises(AmosError, match="cannot be written"):
        export(context.graph, context.archive, [], file, line_bytes_max=LINE_BYTES_MAX)
