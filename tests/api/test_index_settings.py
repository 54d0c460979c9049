"""AMOS_ENCODER and AMOS_INDEX_INTERVAL_S, from the environment to what they change (C66)."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amos_graph.api import serve
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.encoding import open_encoder
from amos_graph.graph.transactions import Graph
from amos_graph.queries.recall import recall
from amos_graph.settings import Settings
from amos_graph.upkeep.indexing import keep_indexing
from tests.samples import belief, source_event


class Waits(threading.Event):
    """Stops whoever waits for it, and remembers for how long they would have."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.asked.append(timeout)
        self.set()
        return True


@pytest.mark.case("C66")
def test_the_interval_is_what_the_worker_waits(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service hands the interval of the environment to its worker, which pauses for it."""
    monkeypatch.setenv("AMOS_INDEX_INTERVAL_S", "7.5")
    monkeypatch.setenv("AMOS_HOME", str(tmp_path))
    waits, kept = Waits(), list[Any]()

    def keep(graph: Graph, encoder: Any, interval_s: float, stopping: threading.Event) -> None:
        kept.append((encoder.model.key, interval_s))
        keep_indexing(graph, encoder, interval_s, stopping)

    monkeypatch.setattr(serve, "keep_indexing", keep)

    serve._prepare(graph, Settings(), waits)  # pyright: ignore[reportPrivateUsage]

    assert kept == [(open_encoder("hashed").model.key, 7.5)]
    assert waits.asked == [7.5]


@pytest.mark.case("C66")
@pytest.mark.parametrize("name", ["hashed", "wordllama"])
def test_the_encoder_is_the_one_that_packets_name(
    context: Context, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A packet is made with the model of the environment, and says with which."""
    monkeypatch.setenv("AMOS_ENCODER", name)
    commit(context, {"events": [source_event()], "atoms": [belief(id="b1")]})
    settings = context.settings.model_copy(update={"encoder": Settings().encoder})

    packet = recall(replace(context, settings=settings), {"cues": ["amos"]})

    assert packet["provenance"]["encoder"] == open_encoder(name).model.key
    assert [item["atom_ref"] for item in packet["items"]] == ["b1"]
