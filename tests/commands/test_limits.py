"""Limits: each setting takes effect exactly at its value and on every way in."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.capture import capture
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.list import list_atoms
from tests.conftest import ContextOf
from tests.faults.journal import contents, newest
from tests.samples import belief, source_event

_CONFIDENCE = {"level": "high", "score": 0.9}


def _limited(context: Context, **changes: Any) -> Context:
    return replace(context, settings=context.settings.model_copy(update=changes))


def _beliefs(count: int) -> list[dict[str, Any]]:
    return [belief(id=f"b{n}", payload={"object": f"{n}"}) for n in range(count)]


def _sources(count: int) -> list[dict[str, Any]]:
    return [source_event(f"evd_turn{n + 1}") for n in range(count)]


def _edges(count: int) -> list[dict[str, Any]]:
    return [
        {"source_ref": "b0", "target_ref": f"b{n + 1}", "relation": "rel:supports", "confidence": _CONFIDENCE}
        for n in range(count)
    ]


def _relations(count: int) -> list[dict[str, Any]]:
    return [{"id": f"rel:own_{n}", "kind": "edge", "description": "d"} for n in range(count)]


#: Setting → each way in that it limits, as a call with so many.
COUNTED: dict[str, list[Callable[[Context, int], Any]]] = {
    "atoms_max": [
        lambda context, n: commit(context, {"events": _sources(1), "atoms": _beliefs(n)}),
        lambda context, n: propose(context, {"events": _sources(1), "candidates": _beliefs(n)}),
        lambda context, n: commit(
            context, {"events": _sources(1), "atom": _beliefs(1)[0], "atoms": _beliefs(n)[1:]}
        ),
    ],
    "edges_max": [
        lambda context, n: commit(context, {"events": _sources(1), "atoms": _beliefs(5), "edges": _edges(n)})
    ],
    "events_max": [
        lambda context, n: commit(context, {"events": _sources(n), "atoms": _beliefs(1)}),
        lambda context, n: propose(context, {"events": _sources(n), "candidates": _beliefs(1)}),
        lambda context, n: capture(context, {"events": _sources(n)}),
    ],
    "dictionary_max": [
        lambda context, n: commit(context, {"relations": _relations(n)}),
        lambda context, n: commit(
            context, {"enums": [{"id": f"enum:own:v{i}", "description": "d"} for i in range(n)]}
        ),
        lambda context, n: commit(
            context, {"entities": [{"id": f"ent:own:v{i}", "type": "own"} for i in range(n)]}
        ),
    ],
}


@pytest.mark.case("C66", "C65")
@pytest.mark.parametrize(
    ("setting", "way"), [(name, way) for name, ways in COUNTED.items() for way in range(len(ways))]
)
def test_a_count_is_limited_on_every_way_in(
    context_of: ContextOf, graph: Graph, tenant: str, setting: str, way: int
) -> None:
    """As many as the setting says are taken; one more is `schema_invalid`, and nothing is cut off."""
    call = COUNTED[setting][way]
    context = _limited(context_of(), **{setting: 3})

    with pytest.raises(AmosError) as caught:
        call(context, 4)

    assert caught.value.code == "schema_invalid"
    assert "more than 3" in caught.value.message
    assert contents(graph, f"{tenant}/w") == {}
    call(context, 3)


@pytest.mark.case("C66", "C65")
@pytest.mark.parametrize("way", ["commit", "propose"])
def test_payload_bytes_max_counts_canonical_bytes(context_of: ContextOf, way: str) -> None:
    """A payload of exactly the limit is taken and one byte more is refused, as a commit and as a proposal."""
    size = len('{"modality":"observed","object":"","relation":"rel:working_on","subject":"ent:user:primary"}')
    context = _limited(context_of(), payload_bytes_max=size + 100)

    def send(text: str) -> Any:
        atom = belief(payload={"object": text})
        if way == "commit":
            return commit(context, {"events": _sources(1), "atoms": [atom]})
        return propose(context, {"events": _sources(1), "candidates": [atom]})

    place = "atoms" if way == "commit" else "candidates"
    for text in ("x" * 101, "é" * 51):
        with pytest.raises(AmosError, match=rf"{place}\[0\]\.payload: larger than {size + 100} bytes"):
            send(text)
    send("x" * 100)


@pytest.mark.case("C66", "C65")
@pytest.mark.parametrize("way", ["capture", "commit", "propose"])
@pytest.mark.parametrize("depth_max", [32, 200])
def test_depth_max_holds_for_callers_in_process_too(context_of: ContextOf, way: str, depth_max: int) -> None:
    """What is nested as deeply as a body may be is taken; one level more is refused with its path."""
    context = _limited(context_of(), depth_max=depth_max)

    def send(levels: int) -> Any:
        nested: Any = 0
        for _ in range(levels):
            nested = [nested]
        events = [source_event(payload={"text": nested})]
        if way == "capture":
            return capture(context, {"events": events})
        if way == "commit":
            return commit(context, {"events": events, "atoms": [belief()]})
        return propose(context, {"events": events, "candidates": [belief()]})

    # The body, its payload, the list, the event and its payload are the five levels around it.
    most = depth_max - 5
    with pytest.raises(AmosError, match=f"nested deeper than {depth_max - 1} levels") as caught:
        send(most + 1)
    assert caught.value.faults[0].path == "events[0].payload.text" + "[0]" * most
    send(most)


@pytest.mark.case("C66", "C65")
@pytest.mark.parametrize("way", ["capture", "commit", "propose"])
def test_evidence_bytes_max_holds_on_every_way_in(context_of: ContextOf, way: str) -> None:
    """Evidence of exactly the limit is taken and one byte more is refused, whichever command brings it."""
    context = _limited(context_of(), evidence_bytes_max=1_011)

    def send(length: int) -> Any:
        events = [source_event(payload={"text": "x" * length})]
        if way == "capture":
            return capture(context, {"events": events})
        if way == "commit":
            return commit(context, {"events": events, "atoms": [belief()]})
        return propose(context, {"events": events, "candidates": [belief()]})

    with pytest.raises(AmosError, match=r"events\[0\]\.payload: larger than 1011 bytes"):
        send(1_001)
    send(1_000)


@pytest.mark.case("C66")
def test_evidence_inline_bytes_max_parts_graph_and_archive(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """Up to the limit a payload lies in the graph; one byte more and it lies in the archive."""
    context = _limited(context_of(), evidence_inline_bytes_max=111)
    events = [source_event(f"evd_{n}", payload={"text": "x" * n}) for n in (100, 101)]

    capture(context, {"events": events})

    bodies = newest(graph, f"{tenant}/w")
    assert bodies["evd_100"]["payload"] == {"text": "x" * 100}
    pointer = bodies["evd_101"]["payload"]
    assert pointer["size_bytes"] == 112
    assert context.archive.get(f"{tenant}/w", pointer["sha256"]) == b'{"text":"' + b"x" * 101 + b'"}'


@pytest.mark.case("C66")
def test_detached_edges_max_limits_one_archive(context_of: ContextOf, graph: Graph, tenant: str) -> None:
    """An atom with more live edges than the limit is not archived, and the answer names the setting."""
    commit(context_of(), {"events": _sources(1), "atoms": _beliefs(5), "edges": _edges(4)})
    before = newest(graph, f"{tenant}/w")

    with pytest.raises(AmosError, match=r"capacity_limited: .*AMOS_DETACHED_EDGES_MAX"):
        archive(_limited(context_of(), detached_edges_max=3), {"atom_id": "b0", "reason": "r"})

    assert newest(graph, f"{tenant}/w") == before
    archive(_limited(context_of(), detached_edges_max=4), {"atom_id": "b0", "reason": "r"})
    assert "[SUPPORTS]" not in contents(graph, f"{tenant}/w")


@pytest.mark.case("C66")
def test_page_max_limits_a_page(context_of: ContextOf) -> None:
    """A page may ask for as many as the limit, and for no more."""
    context = _limited(context_of(), page_max=2)
    commit(context, {"events": _sources(1), "atoms": _beliefs(3)})

    with pytest.raises(AmosError, match="limit: at most 2"):
        list_atoms(context, {"limit": 3})
    assert len(list_atoms(context, {"limit": 2})["items"]) == 2


@pytest.mark.case("C66")
def test_archive_names_the_folder_of_large_payloads(context_of: ContextOf, tenant: str) -> None:
    """Archived payloads lie in the folder of the setting, below `home` unless it is given."""
    context = context_of()
    assert context.settings.archive_folder == context.settings.home / "archive"
    elsewhere = context.settings.model_copy(update={"archive": context.settings.home / "elsewhere"})
    moved = replace(context, settings=elsewhere, archive=Archive(elsewhere.archive_folder))

    capture(moved, {"events": [source_event(payload={"text": "x" * 10_000})]})

    assert [path for path in (context.settings.home / "elsewhere").rglob("*") if path.is_file()]


@pytest.mark.case("C66")
@pytest.mark.reliability("T26")
def test_a_transaction_ends_at_its_time_limit(context_of: ContextOf, graph: Graph, tenant: str) -> None:
    """A command that waits for a held shard longer than the limit is `unavailable`, and can be sent again."""
    hasty = Graph(graph.driver, graph.database, timeout_s=0.3)
    context = replace(context_of(idempotency_key="k"), graph=hasty)
    with graph.driver.session() as session, session.begin_transaction() as holding:  # pyright: ignore[reportUnknownMemberType]
        holding.run(
            "MERGE (j:Journal {shard: $shard}) SET j.lock_token = 'held'", shard=f"{tenant}/w"
        ).consume()
        started = time.monotonic()
        with pytest.raises(AmosError) as caught:
            commit(context, {"events": _sources(1)})
        waited = time.monotonic() - started
        holding.rollback()

    assert (caught.value.code, caught.value.status, caught.value.retryable) == ("unavailable", 503, True)
    assert waited < 25
    assert not commit(context_of(idempotency_key="k"), {"events": _sources(1)}).replayed


@pytest.mark.case("C69")
def test_a_batch_takes_time_in_proportion(context_of: ContextOf) -> None:
    """Four times the atoms take about four times as long, since nothing on the write path is quadratic."""
    context = context_of()
    commit(context, {"events": _sources(1), "atoms": _beliefs(1)})
    taken: dict[int, float] = {}
    for count in (150, 600):
        atoms = [belief(payload={"object": f"{count} {n}"}) for n in range(count)]
        started = time.monotonic()
        commit(context, {"atoms": atoms})
        taken[count] = time.monotonic() - started

    # Generous, because the machine is shared; quadratic work would take sixteen times as long.
    assert taken[600] < 10 * taken[150] + 1
