"""Scope through the commands: what a caller may not see cannot be touched, moved, or told from nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from tests.conftest import ContextOf
from tests.faults.journal import contents, newest
from tests.samples import belief, source_event

_CONFIDENCE = {"level": "high", "score": 0.9}


def _said(**payload: Any) -> dict[str, Any]:
    return {
        "type": "interaction_event",
        "evidence_refs": ["evd_mine"],
        "confidence": _CONFIDENCE,
        "payload": {
            "conversation_id": "c",
            "sequence": 1,
            "actor": "me",
            "role": "user",
            "content": "hi",
            **payload,
        },
    }


def _mine(**changes: Any) -> dict[str, Any]:
    return belief(evidence_refs=["evd_mine"], **changes)


#: Everything that a caller can do with an id of somebody else's record.
CALLS: dict[str, Callable[[Context, str], Any]] = {
    "get": lambda context, ref: get_atom(context, {"atom_id": ref}),
    "get everything": lambda context, ref: get_atom(
        context,
        {"atom_id": ref, "include_proposed": True, "include_archived": True, "include_superseded": True},
    ),
    "get as of": lambda context, ref: get_atom(context, {"atom_id": ref, "as_of_version": 3}),
    "archive": lambda context, ref: archive(context, {"atom_id": ref, "reason": "r"}),
    "archive at a version": lambda context, ref: archive(
        context, {"atom_id": ref, "reason": "r", "expected_version": 1}
    ),
    "replace at a version": lambda context, ref: commit(context, {"atoms": [_mine(id=ref, version=5)]}),
    "link from": lambda context, ref: commit(context, {"edges": [_edge(ref, "mine")]}),
    "link to": lambda context, ref: commit(context, {"edges": [_edge("mine", ref)]}),
    "supersede": lambda context, ref: commit(context, {"atoms": [_mine(id="new", supersedes=[ref])]}),
    "relate": lambda context, ref: commit(
        context,
        {
            "atoms": [
                _mine(
                    id="new", payload={"graph_relations": [{"relation": "rel:supports", "target_ref": ref}]}
                )
            ]
        },
    ),
    "reply to": lambda context, ref: commit(context, {"atoms": [_said(reply_to=ref)]}),
    "expect a version": lambda context, ref: commit(
        Context(
            context.graph,
            context.settings,
            context.archive,
            context.identity,
            context.scope,
            expected_versions={ref: 1},
        ),
        {"atoms": [_mine(id="new")]},
    ),
}
CITED: dict[str, Callable[[Context, str], Any]] = {
    "cite": lambda context, ref: commit(context, {"atoms": [belief(id="new", evidence_refs=[ref])]}),
    "cite in a payload": lambda context, ref: commit(context, {"atoms": [_mine(payload={"object": ref})]}),
    "cite on an edge": lambda context, ref: commit(
        context, {"edges": [{**_edge("mine", "other"), "evidence_refs": [ref]}]}
    ),
}


def _edge(source: str, target: str) -> dict[str, Any]:
    return {"source_ref": source, "target_ref": target, "relation": "rel:supports", "confidence": _CONFIDENCE}


def _answer(call: Callable[[Context, str], Any], context: Context, ref: str) -> Any:
    """What the caller gets, with the id itself taken out."""
    try:
        found = call(context, ref)
    except AmosError as error:
        return (
            error.code,
            error.message.replace(ref, "<id>"),
            str(error.details).replace(ref, "<id>"),
            [
                tuple(text.replace(ref, "<id>") for text in (fault.path, fault.message))
                for fault in error.faults
            ],
        )
    if isinstance(found, dict):
        return {name: value for name, value in found.items() if name != "graph_version"}  # pyright: ignore[reportUnknownVariableType]
    return "accepted", len(found.record["created"])


@pytest.fixture
def hidden(context_of: ContextOf) -> tuple[str, str]:
    """An atom and an evidence of another project, beside two atoms and an evidence of the caller's."""
    theirs = context_of(scope={"project_id": "theirs"})
    scope = theirs.scope.record()
    commit(
        theirs,
        {
            "events": [source_event("evd_theirs", scope=scope)],
            "atoms": [belief(id="theirs", evidence_refs=["evd_theirs"], scope=scope)],
        },
    )
    mine = context_of(scope={"project_id": "mine"})
    commit(
        mine,
        {
            "events": [source_event("evd_mine")],
            "atoms": [_mine(id=ref, payload={"object": ref}) for ref in ("mine", "other")],
        },
    )
    return "theirs", "evd_theirs"


@pytest.mark.reliability("T20")
@pytest.mark.parametrize("name", [*CALLS, *CITED])
def test_a_hidden_id_and_an_absent_one_get_the_same_answer(
    context_of: ContextOf, graph: Graph, tenant: str, hidden: tuple[str, str], name: str
) -> None:
    """Each way to use an id answers the same for a hidden record as for none, and changes neither."""
    mine = context_of(scope={"project_id": "mine"})
    call = CALLS.get(name) or CITED[name]
    there, absent = (hidden[0], "absent") if name in CALLS else (hidden[1], "evd_absent")
    before = newest(graph, f"{tenant}/w")

    answers = [_answer(call, mine, ref) for ref in (there, absent)]

    assert answers[0] == answers[1]
    after = newest(graph, f"{tenant}/w")
    assert {ref: after[ref] for ref in hidden} == {ref: before[ref] for ref in hidden}
    if not isinstance(answers[0], tuple) or answers[0][0] != "accepted":
        assert after == before


@pytest.mark.reliability("T20")
def test_a_taken_id_is_refused_without_a_word_about_its_record(
    context_of: ContextOf, graph: Graph, tenant: str, hidden: tuple[str, str]
) -> None:
    """A new record under a hidden record's id is a conflict that names no version, event or scope."""
    mine = context_of(scope={"project_id": "mine"})
    before = newest(graph, f"{tenant}/w")

    with pytest.raises(AmosError) as caught:
        commit(mine, {"atoms": [_mine(id="theirs")]})

    assert caught.value.code == "expected_version_conflict"
    assert caught.value.details["actual_version"] == 0
    assert caught.value.details["conflicting_event_id"] is None
    assert newest(graph, f"{tenant}/w") == before


@pytest.mark.case("C22")
def test_scope_is_immutable(context_of: ContextOf, tenant: str) -> None:
    """No field moves an atom: another tenant or workspace is denied, another project or user is refused."""
    scope = {"project_id": "p", "user_id": "u"}
    context = context_of(scope=scope)
    commit(
        context,
        {"events": [source_event()], "atoms": [belief(id="a", scope={**context.scope.record()})]},
    )
    read = get_atom(context, {"atom_id": "a"})["item"]["record"]

    for moved, code in (
        ({"tenant_id": "other"}, "scope_denied"),
        ({"workspace_id": "other"}, "scope_denied"),
        ({"project_id": "q"}, "schema_invalid"),
        ({"user_id": "v"}, "schema_invalid"),
        ({"session_id": "s"}, "schema_invalid"),
    ):
        with pytest.raises(AmosError) as caught:
            commit(
                context_of(scope={**scope, **{k: v for k, v in moved.items() if k == "session_id"}}),
                {"atoms": [{**read, "scope": {**read["scope"], **moved}}]},
            )
        assert caught.value.code == code, moved
    # A payload that repeats a field of the envelope or the scope cannot stand for it.
    with pytest.raises(AmosError, match=r"payload\.scope"):
        commit(context, {"atoms": [{**read, "payload": {**read["payload"], "scope": {"user_id": "v"}}}]})
    assert get_atom(context, {"atom_id": "a"})["item"]["record"] == read


@pytest.mark.case("C23")
def test_an_update_keeps_the_creator_and_records_the_updater(context_of: ContextOf, caller: Identity) -> None:
    """Ada creates, Bob updates: the history names Ada first, and Bob stands beside her as last writer."""
    ada = Identity("cli_ada", "svc:ada", "test", caller.scope, caller.capabilities)
    bob = Identity("cli_bob", "svc:bob", "test", caller.scope, caller.capabilities)
    commit(context_of(ada), {"events": [source_event()], "atoms": [belief(id="a")]})
    commit(context_of(bob), {"atoms": [belief(id="a", version=1, payload={"object": "edited"})]})

    item = get_atom(context_of(), {"atom_id": "a"})["item"]

    history = item["provenance"]["revision_history"]
    assert {entry["version"]: entry["actor"] for entry in history} == {1: "svc:ada", 2: "svc:bob"}
    assert item["record"]["last_writer"] == "svc:bob"
    # A caller's word on who wrote is not taken.
    commit(context_of(bob), {"atoms": [{**item["record"], "last_writer": "svc:eve", "salience": 0.1}]})
    assert get_atom(context_of(), {"atom_id": "a"})["item"]["record"]["last_writer"] == "svc:bob"


@pytest.mark.case("C27")
def test_reading_a_scope_that_nobody_wrote_to_makes_nothing(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """Reads of unknown tenants answer empty and leave no node behind."""
    for number in range(50):
        scope = Scope(tenant_id=f"{tenant}r{number}", workspace_id="w")
        context = context_of(Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES)))
        assert get_atom(context, {"atom_id": "a"})["found"] is False
        assert list_atoms(context, {})["items"] == []
        assert contents(graph, scope.shard) == {}
