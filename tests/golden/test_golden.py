"""The store of every released version is read by this one, and is the same graph (T16)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.graph.archive import Archive
from amos_graph.graph.migrations import status
from amos_graph.graph.transactions import Graph
from amos_graph.queries.digest import graph_digest
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.queries.verify import verify
from amos_graph.upkeep.export import export
from amos_graph.upkeep.restore import check_file, restore
from tests.administrator import wipe
from tests.faults.journal import checked_journal
from tests.faults.service import Store
from tests.golden.make import FOLDER, LINE_BYTES_MAX, SHARD, TENANT
from tests.samples import belief
from tests.server import Server

VERSIONS = sorted(path.parent.name for path in FOLDER.glob("*/journal.jsonl"))


@pytest.fixture
def golden(second: Graph) -> Iterator[Graph]:
    """A store without the golden shard, before and after."""
    wipe(second, SHARD)
    yield second
    wipe(second, SHARD)


def expected_of(version: str) -> dict[str, Any]:
    """What the store of that version was when its file was written."""
    return json.loads((FOLDER / version / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.reliability("T16", "T29")
@pytest.mark.parametrize("version", VERSIONS)
def test_a_released_store_is_restored_and_is_the_same(golden: Graph, version: str, tmp_path: Path) -> None:
    """No fault, the digest and the head of that day, and the file again, byte for byte."""
    file, expected = FOLDER / version / "journal.jsonl", expected_of(version)
    archive = Archive(tmp_path / "archive")
    (rebuilt,) = restore(golden, archive, file, line_bytes_max=LINE_BYTES_MAX)
    report = verify(golden, SHARD, checkpoint=expected["checkpoint"])
    export(golden, archive, [SHARD], tmp_path / "again.jsonl", line_bytes_max=LINE_BYTES_MAX)

    assert (rebuilt.outcome, rebuilt.head_hash) == ("written", expected["checkpoint"]["head_hash"])
    assert [fault.record() for fault in report.faults] == []
    assert dict(report.records) == expected["records"]
    assert graph_digest(golden, SHARD).digest == expected["digest"]
    assert len(checked_journal(golden, SHARD)) == expected["checkpoint"]["graph_version"]
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()
    assert status(golden).pending == ()


@pytest.mark.reliability("T16")
@pytest.mark.parametrize("version", VERSIONS)
def test_a_released_store_is_read_and_written_on(
    golden: Graph, server: Server, version: str, tmp_path: Path
) -> None:
    """Every atom is listed, the past is told, and a new command is appended to the old chain."""
    store = Store(server, tmp_path, TENANT)
    context = store.context(golden, {})
    restore(golden, context.archive, FOLDER / version / "journal.jsonl", line_bytes_max=LINE_BYTES_MAX)
    listed = list_atoms(context, {"lifecycle_states": [], "limit": 200})["items"]
    last = expected_of(version)["checkpoint"]["graph_version"]

    states = Counter(item["state_key"] for item in listed)
    assert set(states) == {"live", "superseded", "archived", "proposed", "stale"}
    assert get_atom(context, {"atom_id": "b1"})["omissions"] == [{"reason": "archived"}]
    assert get_atom(context, {"atom_id": "b1", "as_of_version": last - 5})["found"]
    receipt = commit(context, {"atoms": [belief(id="b5", payload={"object": "since"}, supersedes=["b3"])]})
    assert receipt.graph_version == last + len(receipt.record["event_ids"])
    assert verify(golden, SHARD).ok


@pytest.mark.reliability("T31")
def test_there_is_a_golden_store_of_this_format() -> None:
    """Each is a sound file by itself, without any store."""
    assert VERSIONS
    for version in VERSIONS:
        checked = check_file(FOLDER / version / "journal.jsonl", line_bytes_max=LINE_BYTES_MAX)
        end = checked.shards[0].end
        assert end.head_hash == expected_of(version)["checkpoint"]["head_hash"]
