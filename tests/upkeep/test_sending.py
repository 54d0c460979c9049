"""Loading through the service is loading in this process: one `send`, the same records."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from amos_graph import Amos
from amos_graph.api.app import create_app
from amos_graph.commands.clients import register_client
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.list import list_atoms
from amos_graph.settings import Settings
from amos_graph.upkeep.chat import load_chat
from amos_graph.upkeep.demo import run
from amos_graph.upkeep.sending import in_process, through
from tests.api.conftest import serving
from tests.samples import belief, source_event
from tests.upkeep.test_chat import RUN, conversation, written


@pytest.fixture
def amos(graph: Graph, settings: Settings, context: Context) -> Iterator[Amos]:
    """A client with every capability in the test's tenant."""
    record = {"id": "cli_loader", "service_id": "svc:loader", "capabilities": list(CAPABILITIES)}
    token = register_client(context, record).token
    with (
        serving(create_app(graph, settings, Archive(settings.archive_folder))) as url,
        Amos(url, token) as client,
    ):
        yield client


@pytest.mark.case("C01", "C68")
def test_a_file_is_loaded_through_the_service(amos: Amos, context: Context, tmp_path: Path) -> None:
    """Records, refusals and replays are those of a load in this process."""
    hostile = conversation("hostile", "👨‍👩‍👧 \u0000 \u202e", "a\u0301")
    path = written(tmp_path, RUN, b'{"run": "bad"}', hostile)
    first = load_chat(through(amos), path)
    second = load_chat(through(amos), path)

    assert first.created == {"evidence": 7, "atoms": 8, "entities": 1, "edges": 5}
    assert [(refusal.line, refusal.path) for refusal in first.refusals] == [(2, "messages")]
    assert (second.replayed, sum(second.created.values())) == (2, 0)
    assert len(list_atoms(context, {"limit": 200})["items"]) == 8


def test_a_file_loaded_both_ways_is_there_once(amos: Amos, context: Context, tmp_path: Path) -> None:
    """Another writer's load finds every record already there, since ids come from the content."""
    path = written(tmp_path, RUN)
    load_chat(in_process(context), path)
    report = load_chat(through(amos), path)

    assert report.ok
    assert sum(report.created.values()) == 0


def test_the_demo_runs_through_the_service(amos: Amos) -> None:
    """`amos demo`: story, questions, history and verification over REST, with exit code 0."""
    page = io.StringIO()

    assert run(amos, Console(file=page, width=100)) == 0, page.getvalue()


@pytest.mark.parametrize("way", ["process", "service"])
def test_each_operation_returns_its_receipt(amos: Amos, context: Context, way: str) -> None:
    """Capture, commit and archive say what they did, and whether they had been done before."""
    send = in_process(context) if way == "process" else through(amos)
    captured = send("capture", {"events": [source_event()]}, "k1")
    committed = send("commit", {"atoms": [belief(id="a1")]}, "k2")
    archive: dict[str, Any] = {"atom_id": "a1", "reason": "no longer needed"}
    archived = send("archive", archive, "k3", {"a1": 1})

    assert captured["evidence_refs"] == ["evd_turn1"]
    assert committed["atom_refs"] == archived["atom_refs"] == ["a1"]
    assert not archived["replayed"]
    assert send("archive", archive, "k3", {"a1": 1})["replayed"]
    with pytest.raises(AmosError, match="expected_version_conflict"):
        send("archive", archive, "k4", {"a1": 1})
