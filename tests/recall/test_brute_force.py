"""Scopes and filters equal a look at every memory, in every combination; the irrelevant moves nothing."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Any

import pytest

from amos_graph.commands.execution import Context
from amos_graph.queries.recall import recall
from tests.recall.samples import edge, fact, packet, refs, store
from tests.samples import belief

_SCOPED = ("user_id", "agent_id", "session_id")
_WORDS = ("harbour", "crane", "tide", "pilot")
_HEALTH = ("healthy", "healthy", "healthy", "stale", "confounding", "low_utility", "contradicted")
_HELD = frozenset({"stale", "confounding"})
_DATES = ("2020-01-01T00:00:00Z", "2022-01-01T00:00:00Z", "2024-01-01T00:00:00Z")
#: From here on memories are superseded; those belong to the whole workspace, as their successor does.
_LAST = 220
_MODALITIES = ("observed", "inferred")


@dataclass(frozen=True, slots=True)
class Memory:
    """One stored memory, as the rules look at it."""

    ref: str
    type: str
    words: frozenset[str]
    scope: dict[str, str]
    health: str
    begins: str | None
    ends: str | None
    modality: str | None
    superseded: bool = False


def _memories() -> list[Memory]:
    dice = random.Random(5)  # noqa: S311 - a repeatable sample, no secret
    found: list[Memory] = []
    for number in range(240):
        begins, ends = sorted(dice.sample(range(3), 2)) if dice.random() < 0.5 else (None, None)
        kind = dice.choice(["semantic", "belief"])
        found.append(
            Memory(
                ref=f"m{number:03}",
                type=kind,
                words=frozenset(dice.sample(_WORDS, 1)),
                scope={
                    name: dice.choice(["one", "two"])
                    for name in _SCOPED
                    if number < _LAST and dice.random() < 0.4
                },
                health=dice.choice(_HEALTH),
                begins=_DATES[begins] if begins is not None and dice.random() < 0.8 else None,
                ends=_DATES[ends] if ends is not None and dice.random() < 0.8 else None,
                modality=dice.choice(_MODALITIES) if kind == "belief" else None,
                superseded=number >= _LAST,
            )
        )
    return found


def _atom(context: Context, memory: Memory) -> dict[str, Any]:
    interval = {"from": memory.begins, "until": memory.ends}
    dated = {"validity_interval": {k: v for k, v in interval.items() if v}} if any(interval.values()) else {}
    common = {"scope": {**context.scope.record(), **memory.scope}, "health_status": memory.health}
    said = f"{' '.join(sorted(memory.words))} {memory.ref}"
    if memory.type == "semantic":
        return fact(memory.ref, said, payload=dated, **common)
    payload = {"subject": f"sub {memory.ref}", "relation": "rel:uses", "object": said, **dated}
    return belief(id=memory.ref, payload={**payload, "modality": memory.modality}, **common)


@pytest.fixture(scope="module")
def loaded(module_context: Context) -> tuple[Context, list[Memory]]:
    """A few hundred memories of every combination, a tenth of them superseded by one memory of all."""
    memories = _memories()
    store(module_context, *(_atom(module_context, memory) for memory in memories))
    gone = [memory.ref for memory in memories if memory.superseded]
    store(module_context, fact("successor", "gulls", supersedes=gone))
    return module_context, memories


def _enters(memory: Memory, cue: str, asked: dict[str, Any]) -> bool:
    """The rules, as plainly as can be."""
    at, scope = asked["evaluated_at"], asked.get("scope", {})
    types, wanted = asked.get("requested_memory_types"), asked.get("payload_filter", {})
    history, low = asked.get("include_superseded", False), asked.get("include_low_health", False)
    if memory.superseded:
        standing = history
    else:
        standing = memory.health not in _HELD or low or (memory.health == "stale" and history)
    holds = (memory.begins is None or memory.begins <= at) and (memory.ends is None or at < memory.ends)
    return (
        cue in memory.words
        and all(scope.get(name) == value for name, value in memory.scope.items())
        and (not types or memory.type in types)
        and (not wanted or memory.modality == wanted["modality"])
        and standing
        and (holds or memory.superseded)
        and (memory.health != "contradicted" or asked.get("include_conflicts", True))
    )


_SCOPES: tuple[dict[str, str], ...] = (
    {},
    {"user_id": "one"},
    {"user_id": "two", "agent_id": "one"},
    {"user_id": "one", "agent_id": "two", "session_id": "one"},
)
_FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"requested_memory_types": ["semantic"]},
    {"payload_filter": {"modality": "inferred"}},
    {"requested_memory_types": ["belief"], "payload_filter": {"modality": "observed"}},
)
_FLAGS: tuple[dict[str, Any], ...] = (
    {},
    {"include_low_health": True},
    {"include_superseded": True},
    {"include_conflicts": False},
    {"include_low_health": True, "include_superseded": True, "include_conflicts": False},
)


@pytest.mark.case("C20")
@pytest.mark.case("C24")
@pytest.mark.case("C26")
@pytest.mark.case("C45")
@pytest.mark.parametrize("scope", _SCOPES, ids=lambda scope: "+".join(scope) or "whole")
def test_scopes_filters_flags_and_instants_equal_the_rules(
    loaded: tuple[Context, list[Memory]], scope: dict[str, str]
) -> None:
    """Every combination finds exactly the memories that the rules let in, in whatever order."""
    context, memories = loaded
    instants = ("2019-06-01T00:00:00Z", _DATES[1], "2023-06-01T00:00:00Z")
    for number, (wanted, flags) in enumerate(itertools.product(_FILTERS, _FLAGS)):
        cue = _WORDS[number % len(_WORDS)]
        asked = {"scope": scope, "evaluated_at": instants[number % 3], "max_items": 100, **wanted, **flags}
        expected = {memory.ref for memory in memories if _enters(memory, cue, asked)}
        # Nearness of meaning and succession bring others, which share no word with the cue.
        items = recall(context, {"cues": [cue], **asked})["items"]
        said = {item["atom_ref"] for item in items if item["score_components"]["direct_cue_match"]}
        assert said == expected, asked


def test_the_generated_memories_make_the_filters_matter(loaded: tuple[Context, list[Memory]]) -> None:
    """Each scope, filter and flag lets in some and keeps out others."""
    _, memories = loaded
    plain = {"evaluated_at": _DATES[1]}

    def count(**more: Any) -> int:
        return sum(_enters(memory, "crane", {**plain, **more}) for memory in memories)

    whole = count()
    assert 5 < whole < 60
    assert all(count(scope=scope) > whole for scope in _SCOPES[1:])
    assert all(0 < count(**wanted) < whole for wanted in _FILTERS[1:])
    assert all(count(**flags) > whole for flags in _FLAGS[1:3])
    assert count(**_FLAGS[3]) < whole


def test_stale_memory_comes_with_history_and_other_low_health_does_not(context: Context) -> None:
    """Timeline and history are what stale memory is good for; a confounding one must be asked for."""
    store(
        context,
        fact("old", "the crane moves", health_status="stale"),
        fact("odd", "the crane sings", health_status="confounding"),
        fact("new", "the crane rests"),
    )

    assert refs(packet(context, "crane")) == ["new"]
    assert refs(packet(context, "crane", include_superseded=True)) == ["new", "old"]
    assert sorted(refs(packet(context, "crane", include_low_health=True))) == ["new", "odd", "old"]
    assert refs(packet(context, "crane", valid_at="2090-01-01T00:00:00Z")) == ["new", "old"]


def test_irrelevant_memory_changes_nothing(context: Context) -> None:
    """Whatever is added that shares no word, no entity and no edge with what a cue finds: order, scores
    and ways of the rest stay."""
    store(
        context,
        *(
            fact(f"a{n}", f"the {word} near the quay {'by night ' * (n % 2)}")
            for n, word in enumerate(_WORDS * 2)
        ),
        belief(id="b", payload={"subject": "ent:thing:quay", "relation": "rel:likes", "object": "the tide"}),
        edges=(edge("a0", "supports", "a1"), edge("a2", "contradicts", "a3"), edge("a4", "inhibits", "a5")),
    )
    requests: tuple[dict[str, Any], ...] = (
        {"cues": ["Which crane is near the quay at night?"]},
        {"cues": ["ent:thing:quay tide"], "max_items": 3},
        {"cues": ["harbour"], "attention_context": {"focus_terms": ["pilot"], "novelty_preference": 0.5}},
    )

    def items() -> list[Any]:
        at = {"evaluated_at": "2099-01-01T00:00:00Z"}
        packets = [recall(context, {**request, **at}) for request in requests]
        return [
            [
                (item["atom_ref"], item["score"], item["score_components"], item["activation_path"])
                for item in found["items"]
                if item["atom_ref"][0] in "ab"
            ]
            for found in packets
        ]

    before = items()
    for number in range(3):
        store(
            context,
            *(fact(f"z{number}{n}", f"zebra {n} grazes") for n in range(20)),
            belief(id=f"y{number}", payload={"subject": f"ent:animal:z{number}", "object": "grass"}),
            edges=(
                edge(f"z{number}0", "supports", f"z{number}1"),
                edge(f"z{number}2", "inhibits", f"y{number}"),
            ),
        )
        assert items() == before
