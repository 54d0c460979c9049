"""Packets of the past: what was known at a version, and what held at an instant."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.commands.outcomes import record_outcome
from amos_graph.domain.scope import Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.queries.recall import recall
from tests.conftest import ContextOf
from tests.recall.samples import edge, fact, packet, refs, store
from tests.samples import belief

_AT = "2027-01-01T00:00:00.000000Z"
_WORDS = ("harbour", "crane", "tide", "mooring", "pilot", "berth", "anchor")
_RELATIONS = ("supports", "contradicts", "causes", "inhibits", "derived_from")
_REQUESTS: tuple[dict[str, Any], ...] = (
    {"cues": ["Which crane moves at high tide?"], "include_provenance": True},
    {"cues": ["harbour pilot ent:thing:quay"], "include_superseded": True, "include_archived": True},
    {"cues": ["f3"], "attention_context": {"focus_terms": ["berth"], "suppress_terms": ["tide"]}},
    {"cues": [], "max_items": 7},
    {"cues": ["anchor mooring"], "requested_memory_types": ["belief"], "include_conflicts": False},
    {"cues": ["the quay of the pilot"], "max_items": 3, "payload_filter": {"subject": "ent:thing:quay"}},
)
#: What names the request or the moment of the answer and not what was known.
_OF_THE_ANSWER = ("packet_id", "request", "generated_at")


def _known(context: Context, request: dict[str, Any], **more: Any) -> dict[str, Any]:
    found = recall(context, {**request, "evaluated_at": _AT, **more})
    return {name: value for name, value in found.items() if name not in _OF_THE_ANSWER}


def _step(context: Context, dice: random.Random, number: int, live: list[str]) -> None:
    """A command or two of a random history: new atoms, corrections, edges, merges, archivings, outcomes."""
    if number % 3 == 2:
        found = packet(context, *dice.sample(_WORDS, 3), max_items=5)
        judged = dice.sample(refs(found), min(3, len(found["items"])))
        told = ("helpful_atom_refs", "unhelpful_atom_refs", "correction_refs")
        lists = {name: [ref] for name, ref in zip(told, judged, strict=False)}
        record_outcome(context, {"packet_id": found["packet_id"], **lists})
    said = f"the {dice.choice(_WORDS)} near the {dice.choice(_WORDS)} number {number}"
    if number % 5 == 4 and len(live) > 4:
        gone = live.pop(dice.randrange(len(live)))
        archive(context, {"atom_id": gone, "reason": "no longer of use"})
        return
    atom = fact(f"f{number}", said, salience=round(dice.random(), 2))
    if number % 3 == 1:
        about = {"subject": "ent:thing:quay", "object": f"ent:thing:{dice.choice(_WORDS)}"}
        atom = belief(id=f"f{number}", payload=about)
    if number % 4 == 3:
        atom["supersedes"] = [live.pop(dice.randrange(len(live)))]
    if number % 6 == 2:
        atom["health_status"] = "stale"
    edges = tuple(
        edge(f"f{number}", dice.choice(_RELATIONS), other, weight=round(dice.random(), 2))
        for other in dice.sample(live, min(2, len(live)))
    )
    entities = []
    if number == 10:
        entities = [
            {
                "id": "ent:thing:pier",
                "type": "thing",
                "aliases": ["the quay"],
                "merged_into": "ent:thing:quay",
            }
        ]
    store(context, atom, edges=edges, entities=entities)
    live.append(f"f{number}")


@pytest.mark.reliability("T12")
@pytest.mark.parametrize("seed", range(2))
def test_a_packet_of_a_past_version_is_the_packet_that_was_given_then(context: Context, seed: int) -> None:
    """Items, scores, paths, conflicts, lineage and omissions are the same, whatever was written since."""
    dice = random.Random(seed)  # noqa: S311 - a repeatable history, no secret
    live: list[str] = []
    given: list[tuple[int, dict[str, Any], dict[str, Any]]] = []
    for number in range(24):
        _step(context, dice, number, live)
        for request in _REQUESTS[number % 2 :: 2]:
            found = _known(context, request)
            given.append((found["graph_version"], request, found))

    assert sum(bool(found["items"]) for _, _, found in given) > 40
    for version, request, found in given:
        assert _known(context, request, as_of_version=version) == found


def test_what_was_true_then_is_told_though_it_was_superseded_since(context: Context) -> None:
    """valid_at gives the memory that held at the instant; without it, the one that holds now."""
    dates = ("2020-01-01T00:00:00Z", "2022-01-01T00:00:00Z")
    held = {"from": dates[0], "until": dates[1]}
    first = {"statement": "the harbour master is Ada", "validity_interval": held}
    second = {"statement": "the harbour master is Bo", "validity_interval": {"from": dates[1]}}
    store(context, fact("ada", "", payload=first))
    known_then = packet(context, "harbour master", valid_at="2023-01-01T00:00:00Z")["graph_version"]
    store(context, fact("bo", "", payload=second, supersedes=["ada"]))

    def at(instant: str, **more: Any) -> list[str]:
        return refs(packet(context, "harbour master", valid_at=instant, **more))

    assert refs(packet(context, "harbour master")) == ["bo"]
    assert at("2021-06-01T00:00:00Z") == ["ada"]
    assert at("2022-01-01T00:00:00Z") == ["bo"]
    assert at("2019-01-01T00:00:00Z") == []
    assert at("2023-01-01T00:00:00Z", as_of_version=known_then) == []


def test_a_superseded_memory_without_dates_held_at_no_instant_that_can_be_told(context: Context) -> None:
    """An instant that is asked for brings back dated memories alone; the flag brings all."""
    store(context, fact("old", "the gate is red"))
    store(context, fact("new", "the gate is blue", supersedes=["old"]))

    assert refs(packet(context, "gate", valid_at=_AT)) == ["new"]
    found = packet(context, "gate", valid_at=_AT, include_superseded=True)
    assert sorted(refs(found)) == ["new", "old"]


def test_who_lost_the_right_to_a_memory_lost_its_past_with_it(context_of: ContextOf, tenant: str) -> None:
    """A policy that was tightened since holds for packets of earlier versions too."""
    writer = context_of()
    reader = Identity(
        client_id="cli_other",
        service_id="svc:other",
        process_type="test",
        scope=Scope(tenant_id=tenant, workspace_id="w"),
        capabilities=frozenset({"memory.read"}),
    )
    asking = context_of(reader)
    store(writer, fact("f", "the vault is open"))
    before = packet(asking, "vault")
    assert refs(before) == ["f"]
    commit(
        writer,
        {
            "atoms": [
                fact("f", "the vault is open", version=1, access_policy={"allowed_identities": ["cli_test"]})
            ]
        },
    )

    assert refs(packet(asking, "vault", as_of_version=before["graph_version"])) == []
    assert refs(packet(writer, "vault", as_of_version=before["graph_version"])) == ["f"]


def test_a_version_that_was_not_reached_or_a_shard_that_is_too_large_is_refused(context: Context) -> None:
    """Both are named by the field; nothing is cut in silence."""
    store(context, fact("f", "the vault is open"), fact("g", "the vault is shut"))
    with pytest.raises(AmosError) as unreached:
        recall(context, {"cues": ["vault"], "as_of_version": 10_000})
    assert (unreached.value.code, unreached.value.faults[0].path) == ("schema_invalid", "as_of_version")

    with pytest.raises(AmosError) as early:
        recall(context, {"cues": ["vault"], "valid_at": _AT, "min_graph_version": 10_000})
    assert (early.value.code, early.value.faults[0].path) == (
        "expected_version_conflict",
        "min_graph_version",
    )

    small = replace(context, settings=context.settings.model_copy(update={"past_records_max": 2}))
    with pytest.raises(AmosError) as large:
        recall(small, {"cues": ["vault"], "as_of_version": 3})
    assert (large.value.code, large.value.faults[0].path) == ("capacity_limited", "as_of_version")


def test_before_the_first_write_there_was_nothing(context: Context) -> None:
    """Version 0 of any shard is empty, and asking for it makes nothing."""
    assert packet(context, "vault", as_of_version=0)["items"] == []
    store(context, fact("f", "the vault is open"))
    assert packet(context, "vault", as_of_version=0)["items"] == []
