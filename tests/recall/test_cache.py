"""A packet that is given out again is the packet that would be made, or was made, and to nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Identity
from amos_graph.graph.packet_cache import Kept, PacketCache, Stand
from amos_graph.queries.recall import cache, recall
from amos_graph.queries.recall import packet as packets
from tests.conftest import ContextOf
from tests.recall.samples import fact, refs, store, without_cache

AT = {"cues": ["amos"], "evaluated_at": "2099-01-01T00:00:00.000000Z"}
Count = Callable[[], int]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Count:
    """How many packets were really made."""
    readings: list[Any] = []

    def counted(read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*given: Any) -> Any:
            readings.append(given)
            return read(*given)

        return reading

    for name in ("settled", "read_back"):
        monkeypatch.setattr(packets, name, counted(getattr(packets, name)))
    return lambda: len(readings)


def text(found: dict[str, Any]) -> str:
    """A packet, byte for byte but for the moment at which it was made."""
    return json.dumps({**found, "generated_at": ""})


@pytest.mark.parametrize("more", [{}, {"as_of_version": 2}, {"rendering_target": "graph"}])
def test_a_hit_equals_its_miss_byte_for_byte(context: Context, made: Count, more: dict[str, Any]) -> None:
    """The moment of making included, and without the cache all but that moment is the same."""
    store(context, fact("a1", "Amos.", salience=1.0), fact("a2", "Amos too."))
    first = recall(context, {**AT, **more})

    again = recall(context, {**AT, **more})

    assert (json.dumps(again), made()) == (json.dumps(first), 1)
    assert text(recall(without_cache(context), {**AT, **more})) == text(first)
    assert made() == 2


def test_a_hit_is_a_copy_of_its_own(context: Context) -> None:
    """Who changes what was handed out changes nobody else's packet."""
    store(context, fact("a1", "Amos."))
    first = recall(context, AT)
    recall(context, AT)["items"].clear()

    assert recall(context, AT) == first


def test_a_hit_is_one_round_trip(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads where the journal stands; a packet that was never made costs no read more."""
    store(context, fact("a1", "Amos."))
    flows: list[str] = []
    read = context.graph.read

    def traced(flow: str, *given: Any) -> Any:
        flows.append(flow)
        return read(flow, *given)

    monkeypatch.setattr(context.graph, "read", traced)
    recall(context, AT)
    assert "recall_kept" not in flows
    flows.clear()
    recall(context, AT)

    assert flows == ["recall_kept"]


def test_a_write_invalidates(context: Context, made: Count) -> None:
    """The next packet is made anew, also of what has nothing to do with the write."""
    store(context, fact("a1", "Amos."))
    recall(context, AT)
    store(context, fact("b1", "Amos as well."))

    assert set(refs(recall(context, AT))) == {"a1", "b1"}
    assert made() == 2


def test_who_archives_leaves_no_copy_behind(context: Context, context_of: ContextOf) -> None:
    """Before the archiving is acknowledged the process has forgotten the shard's packets."""
    store(context, fact("a1", "Amos."))
    recall(context, AT)
    before = context.graph.packets.size_bytes

    archive(context_of(), {"atom_id": "a1", "reason": "gone"})

    assert context.graph.packets.size_bytes < before
    assert refs(recall(context, AT)) == []


@pytest.mark.reliability("T20")
@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "cli_other"},
        {"service_id": "svc:other"},
        {"process_type": "planner"},
        {"trust_level": 5},
        {"capabilities": frozenset({"memory.read"})},
    ],
)
def test_another_caller_never_gets_it(
    context: Context, context_of: ContextOf, caller: Identity, made: Count, changes: dict[str, Any]
) -> None:
    """A packet is kept for one identity with its grants."""
    store(context, fact("a1", "Amos."))
    recall(context, AT)

    recall(context_of(replace(caller, **changes)), AT)

    assert made() == 2


@pytest.mark.parametrize(
    "other",
    [
        {"evaluated_at": "2098-01-01T00:00:00.000000Z"},
        {"cues": ["amos", "amos"]},
        {"scope": {"project_id": "p"}},
        {"max_items": 9},
        {"target_processor": "planner"},
        {"request_id": "r2"},
    ],
)
def test_another_request_never_gets_it(context: Context, made: Count, other: dict[str, Any]) -> None:
    """Every field of a request counts, and the packet repeats the request that it answers."""
    store(context, fact("a1", "Amos."))
    recall(context, AT)

    found = recall(context, {**AT, **other})

    assert made() == 2
    assert {name: found["request"][name] for name in other if name != "scope"} == {
        name: value for name, value in other.items() if name != "scope"
    }


def test_without_an_instant_a_packet_is_given_again_for_a_moment(
    context: Context, made: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AMOS_PACKET_CACHE_AGE_S bounds how old its evaluated_at may be; the packet says which it is."""
    store(context, fact("a1", "Amos."))
    patient = replace(context, settings=context.settings.model_copy(update={"packet_cache_age_s": 600}))
    first = recall(patient, {"cues": ["amos"]})

    assert recall(patient, {"cues": ["amos"]}) == first
    monkeypatch.setattr(cache, "now", lambda: "2099-01-01T00:00:00.000000Z")
    assert recall(patient, {"cues": ["amos"]})["evaluated_at"] > first["evaluated_at"]
    assert made() == 2


def test_a_clock_that_went_back_gives_nothing_again(
    context: Context, made: Count, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A packet from the future is not handed out."""
    store(context, fact("a1", "Amos."))
    recall(context, {"cues": ["amos"]})
    monkeypatch.setattr(cache, "now", lambda: "2001-01-01T00:00:00.000000Z")
    recall(context, {"cues": ["amos"]})

    assert made() == 2


@pytest.mark.parametrize("setting", ["packet_cache_bytes_max", "packet_cache_age_s"])
def test_zero_turns_it_off(context: Context, made: Count, setting: str) -> None:
    """Without bytes nothing is kept; without age, nothing for requests that name no instant."""
    store(context, fact("a1", "Amos."))
    off = replace(context, settings=context.settings.model_copy(update={setting: 0}))
    for _ in range(2):
        recall(off, {"cues": ["amos"]})

    assert made() == 2


def test_a_counter_of_the_settings_counts(context: Context) -> None:
    """AMOS_TOKEN_COUNTER names who counts, and the packet says so."""
    store(context, fact("a1", "Amos."))
    settings = context.settings.model_copy(update={"token_counter": "tests.domain.test_budget:Letters"})
    asked = {**AT, "token_or_byte_budget": {"tokens": 100_000}}

    found = recall(replace(context, settings=settings), asked)

    assert found["provenance"]["budget"]["counter"] == "letters"
    assert recall(context, asked)["provenance"]["budget"]["counter"] == "estimate.1"


def kept(size: int) -> Kept:
    return Kept(b"x" * size, 0.0)


ONE, TWO = Stand(1, "one"), Stand(2, "two")


def test_the_least_lately_used_packet_leaves_first() -> None:
    """All together are never larger than the bound; one that is larger alone is not kept."""
    store_ = PacketCache()
    store_.put("s", ONE, "a", kept(40), 100)
    store_.put("t", ONE, "b", kept(40), 100)
    store_.get("s", ONE, "a")
    store_.put("s", ONE, "c", kept(40), 100)
    store_.put("s", ONE, "large", kept(101), 100)

    assert store_.size_bytes == 80
    assert [store_.holds(*which) for which in (("s", "a"), ("t", "b"), ("s", "c"))] == [True, False, True]
    assert not store_.holds("s", "large")


def test_packets_of_an_older_stand_leave_and_stay_out() -> None:
    """The same version of another history is another stand; nothing from before a deletion is added."""
    store_ = PacketCache()
    store_.put("s", ONE, "a", kept(1), 100)
    assert store_.get("s", Stand(1, "other"), "a") is None
    store_.put("s", TWO, "b", kept(1), 100)
    store_.put("s", ONE, "c", kept(1), 100)
    assert (store_.holds("s", "a"), store_.holds("s", "c")) == (False, False)

    store_.purge("s", 3)
    store_.put("s", TWO, "d", kept(1), 100)
    store_.put("s", Stand(3, "three"), "e", kept(1), 100)
    assert (store_.size_bytes, store_.holds("s", "e")) == (1, True)
