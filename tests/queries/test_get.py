"""Exact reference: what a read of one atom returns, now, as it was known, and as it held."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.queries.get import get_atom
from tests.conftest import ContextOf
from tests.samples import belief, source_event


def committed(context: Context, **changes: Any) -> dict[str, Any]:
    return commit(context, {"events": [source_event()], "atoms": [belief(id="b1", **changes)]}).record


def test_a_read_finds_what_the_receipt_said(context: Context) -> None:
    """Record, evidence, writer and event of the answer are those of the commit."""
    receipt = committed(context)

    item = get_atom(context, {"atom_id": "b1"})["item"]

    assert (item["version"], item["record"]["last_writer"]) == (1, "svc:test")
    assert item["record"]["last_write_event_id"] in receipt["event_ids"]
    assert [pointer["evidence_id"] for pointer in item["evidence"]] == ["evd_turn1"]
    assert [entry["version"] for entry in item["provenance"]["revision_history"]] == [1]


def test_an_empty_interval_is_kept_holds_never_and_is_warned_of(context: Context) -> None:
    """A claim that ended in the instant in which it began is found by its id, and at no instant."""
    noon = "2026-03-01T12:00:00.000000Z"
    claim = {"validity_interval": {"from": noon, "until": "2026-03-01T13:00:00+01:00"}}

    receipt = committed(context, payload=claim)

    assert receipt["warnings"] == ["atoms[0].payload.validity_interval: empty, so it holds at no instant"]
    assert get_atom(context, {"atom_id": "b1"})["found"]
    for instant in ("2026-03-01T11:59:59Z", noon, "2026-03-01T12:00:00.000001Z"):
        assert not get_atom(context, {"atom_id": "b1", "valid_at": instant})["found"]
    with pytest.raises(AmosError, match=r"atoms\[0\]\.payload\.validity_interval\.until: lies before from"):
        committed(context, payload={"validity_interval": {"from": noon, "until": "2026-03-01T11:59:59Z"}})


@pytest.mark.case("C64", "C70")
def test_a_record_that_was_read_can_be_sent_back_changed(context: Context) -> None:
    """Read, change one field, commit: the other fields stay, and the history grows by one."""
    committed(context, salience=0.9, decay_policy={"half_life_days": 30})
    record = get_atom(context, {"atom_id": "b1"})["item"]["record"]

    commit(context, {"atoms": [{**record, "utility": 0.1}]})

    changed = get_atom(context, {"atom_id": "b1"})["item"]["record"]
    assert tuple(changed[name] for name in ("version", "salience", "utility", "decay_policy")) == (
        2,
        0.9,
        0.1,
        {"half_life_days": 30},
    )


def test_what_was_known_is_read_by_graph_version(context: Context) -> None:
    """A read as of a version returns the body of that time, and only the ends of commands are versions."""
    first = committed(context)["graph_version"]
    changed = belief(id="b1", payload={"object": "ent:project:other"}, version=1)
    second = commit(context, {"atoms": [changed]}).record["graph_version"]

    def known(version: int) -> tuple[int, str | None]:
        answer = get_atom(context, {"atom_id": "b1", "as_of_version": version})
        return answer["graph_version"], answer["item"] and answer["item"]["payload"]["object"]

    assert (first, "ent:project:amos") == known(first)
    assert (second, "ent:project:other") == known(second)
    assert (first, "ent:project:amos") == known(second - 1)
    assert known(first - 1) == (0, None)
    with pytest.raises(AmosError, match=f"at graph version {second}"):
        known(second + 1)


def test_what_held_is_read_by_instant(context: Context) -> None:
    """A claim is found at the instants of its validity interval and named as not valid at others."""
    interval = {"from": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}
    committed(context, payload={"validity_interval": interval})

    def found(instant: str) -> bool:
        return get_atom(context, {"atom_id": "b1", "valid_at": instant})["found"]

    assert [
        found(instant)
        for instant in (
            "2025-12-31T23:59:59Z",
            "2026-01-01T01:00:00+01:00",
            "2026-01-31T23:59:59Z",
            "2026-02-01T00:00:00Z",
        )
    ] == [False, True, True, False]


@pytest.mark.case("C46")
def test_a_naive_instant_is_refused(context: Context) -> None:
    """A time without an offset is no instant."""
    with pytest.raises(AmosError, match="valid_at"):
        get_atom(context, {"atom_id": "b1", "valid_at": "2026-01-01T00:00:00"})


def test_suppressed_states_are_named_and_can_be_asked_for(context: Context) -> None:
    """Archived and superseded atoms are left out by name, and read on request."""
    committed(context)
    commit(context, {"atoms": [belief(id="b2", payload={"object": "ent:project:new"}, supersedes=["b1"])]})
    superseded = get_atom(context, {"atom_id": "b1"})
    assert (superseded["found"], superseded["omissions"]) == (False, [{"reason": "superseded"}])
    read = get_atom(context, {"atom_id": "b1", "include_superseded": True})
    assert read["item"]["provenance"]["superseded_by"] == ["b2"]

    archive(context, {"atom_id": "b2", "reason": "wrong after all", "expected_version": 1})
    assert get_atom(context, {"atom_id": "b2"})["omissions"] == [{"reason": "archived"}]
    assert get_atom(context, {"atom_id": "b2", "include_archived": True})["found"]


def test_proposals_are_seen_by_stewards_alone(context_of: ContextOf, caller: Identity) -> None:
    """A proposal is stored, shown to a steward who asks, and absent for everybody else."""
    steward = context_of()
    reader = Identity("cli_reader", "svc:reader", "reasoner", caller.scope, frozenset({"memory.read"}))
    receipt = propose(steward, {"events": [source_event()], "candidates": [belief()]}).record
    ref = receipt["atom_refs"][0]

    assert not get_atom(context_of(reader), {"atom_id": ref, "include_proposed": True})["found"]
    assert get_atom(steward, {"atom_id": ref})["omissions"] == [{"reason": "proposed"}]
    assert get_atom(steward, {"atom_id": ref, "include_proposed": True})["found"]


@pytest.mark.reliability("T20")
@pytest.mark.case("C20")
def test_a_hidden_atom_answers_like_an_absent_one(context_of: ContextOf, tenant: str) -> None:
    """Another project's atom, a denied atom and no atom at all give one answer."""
    inside = context_of(scope={"project_id": "p1"})
    commit(
        inside,
        {
            "events": [source_event()],
            "atoms": [
                belief(id="other-project"),
                belief(id="denied", scope=None or inside.scope.record(), access_policy=_denying("svc:test2")),
            ],
        },
    )
    stranger = Identity(
        "cli_two",
        "svc:test2",
        "reasoner",
        Scope(tenant_id=tenant, workspace_id="w"),
        frozenset({"memory.read"}),
    )
    answers = [
        get_atom(context_of(stranger, scope=scope), {"atom_id": ref})
        for ref, scope in (
            ("other-project", None),
            ("denied", {"project_id": "p1"}),
            ("absent", {"project_id": "p1"}),
        )
    ]

    assert answers[0] == answers[1] == answers[2]
    assert get_atom(context_of(stranger, scope={"project_id": "p1"}), {"atom_id": "other-project"})["found"]


def _denying(identity: str) -> dict[str, Any]:
    return {"denied_identities": [identity]}
