"""Isolation: what a caller may not see has no effect on any answer, and reading leaves no trace."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import Identity, Scope
from amos_graph.graph.transactions import Graph
from amos_graph.queries.recall import recall
from tests.administrator import run
from tests.conftest import ContextOf
from tests.recall.samples import edge, fact, packet, refs, store
from tests.samples import source_event

SECRET = {"project_id": "secret"}
LATE = "2099-01-01T00:00:00Z"
CUES: tuple[list[str], ...] = (
    ["amos memory"],
    ["falcon"],
    ["Captain Nemo"],
    ["a1"],
    ["amos memory", "falcon and tea"],
    [],
)


def _visible(context: Context) -> None:
    store(
        context,
        fact("a1", "Amos stores memory."),
        fact("a2", "Memory of Amos lasts."),
        fact("a3", "Tea is warm."),
        fact("a4", "Tea is hot."),
        edges=(
            edge("a1", "supports", "a3", edge_id="edge_1"),
            edge("a3", "contradicts", "a4", edge_id="edge_2"),
        ),
    )


def _hidden(context: Context, words: str, name: str) -> None:
    """Seven records that only the secret project sees: atoms, edges to visible ones, an entity."""
    commit(
        context,
        {
            "events": [source_event("evd_secret")],
            "entities": [
                {
                    "id": f"ent:person:{name}",
                    "type": "person",
                    "canonical_name": name,
                    "aliases": ["Captain Nemo"] if name == "nemo" else ["Somebody Else"],
                }
            ],
            "atoms": [
                fact(
                    f"h{n}",
                    f"{words} {n}",
                    evidence_refs=["evd_secret"],
                    health_status=health,
                    payload={"topic": f"ent:person:{name}"},
                )
                for n, health in enumerate(("healthy", "stale", "contradicted"))
            ],
            "edges": [
                edge("a1", "supports", "h0", edge_id="edge_h0", scope=context.scope.record()),
                edge("a1", "contradicts", "a2", edge_id="edge_h1", scope=context.scope.record()),
            ]
            if name == "nemo"
            else [
                edge("h0", "supports", "h1", edge_id="edge_h0", scope=context.scope.record()),
                edge("h0", "supports", "h2", edge_id="edge_h1", scope=context.scope.record()),
            ],
        },
    )


def _comparable(found: dict[str, Any], tenant: str) -> str:
    """The packet without what no two worlds share: times, event ids and the name of the tenant."""
    text = json.dumps(found, sort_keys=True).replace(tenant, "TENANT")
    text = re.sub(r'"(updated_at|created_at|captured_at|generated_at)": "[^"]+"', r'"\1": ""', text)
    text = re.sub(r'"age_days": [0-9.e+-]+', '"age_days": 0', text)
    return re.sub(r"(evt|pkt)_[0-9a-f]+", r"\1", text)


@pytest.mark.reliability("T19")
@pytest.mark.case("C20")
def test_hidden_records_change_no_byte_of_any_packet(
    context_of: ContextOf, caller: Identity, tenant: str
) -> None:
    """A world with hidden matches answers like one with hidden trifles: items, scores, counts, conflicts."""
    answers: list[list[str]] = []
    for world, words, name in ((f"{tenant}a", "amos memory falcon", "nemo"), (f"{tenant}b", "zzz", "other")):
        scope = Scope(tenant_id=world, workspace_id="w")
        identity = Identity(caller.client_id, caller.service_id, "test", scope, caller.capabilities)
        _visible(context_of(identity))
        _hidden(context_of(identity, scope=SECRET), words, name)
        reader = context_of(identity)
        flags = {"include_low_health": True, "include_provenance": True}
        packets = [packet(reader, *cues, evaluated_at=LATE, **more) for cues in CUES for more in ({}, flags)]
        answers.append([_comparable(found, world) for found in packets])

    assert answers[0] == answers[1]


@pytest.mark.reliability("T20")
def test_a_hidden_id_is_answered_like_one_that_does_not_exist(context_of: ContextOf, tenant: str) -> None:
    """Atom and entity ids in cues, and scopes that hide them, tell nothing."""
    _visible(context_of())
    _hidden(context_of(scope=SECRET), "falcon", "nemo")
    reader = context_of()

    for hidden, absent in (("h0", "h9"), ("ent:person:nemo", "ent:person:nobody"), ("edge_h0", "edge_h9")):
        told = [
            _comparable(packet(reader, cue, evaluated_at=LATE), tenant)
            .replace(cue, "CUE")
            .replace(cue.rpartition(":")[2], "NAME")
            for cue in (hidden, absent)
        ]
        assert told[0] == told[1]
    assert refs(packet(context_of(scope=SECRET), "h0"))[0] == "h0"


@pytest.mark.case("C25")
def test_two_sessions_do_not_see_each_other(context_of: ContextOf) -> None:
    """One query in each of two sessions gives that session's memory and what belongs to no session."""
    for session in ("s1", "s2"):
        store(context_of(scope={"session_id": session}), fact(f"a-{session}", "Amos was here."))
    store(context_of(), fact("a-all", "Amos was everywhere."))

    for session in ("s1", "s2"):
        assert sorted(refs(packet(context_of(scope={"session_id": session}), "amos"))) == [
            "a-all",
            f"a-{session}",
        ]
        assert sorted(refs(packet(context_of(), "amos", scope={"session_id": session}))) == [
            "a-all",
            f"a-{session}",
        ]
    assert refs(packet(context_of(), "amos")) == ["a-all"]


@pytest.mark.case("C24")
@pytest.mark.case("C26")
def test_scopes_in_every_combination_equal_the_rule(context_of: ContextOf) -> None:
    """An atom matches if every scope field that it sets equals the request's, for all combinations."""
    names = ("user_id", "agent_id", "session_id", "project_id")
    scopes = [
        dict(zip(names, values, strict=True))
        for values in itertools.product((None, "one", "two"), repeat=len(names))
        if values.count("two") < 2
    ]
    stored: dict[str, dict[str, str]] = {}
    for number, values in enumerate(scopes):
        scope = {name: value for name, value in values.items() if value}
        stored[f"a{number:03}"] = scope
    whole = context_of().scope.record()
    store(
        context_of(),
        *(fact(ref, f"amos {ref}", scope={**whole, **scope}) for ref, scope in stored.items()),
    )

    for asked in scopes:
        wanted = {name: value for name, value in asked.items() if value}
        expected = {
            ref
            for ref, scope in stored.items()
            if all(wanted.get(name) == value for name, value in scope.items())
        }
        for cues in (["amos"], []):
            assert set(refs(packet(context_of(), *cues, scope=wanted, max_items=100))) == expected


@pytest.mark.case("C24")
def test_an_unknown_scope_gives_only_what_belongs_to_all(context_of: ContextOf) -> None:
    """Asking within a project that nobody wrote to does not answer from the others."""
    store(context_of(scope={"project_id": "p1"}), fact("a1", "Amos."))

    assert refs(packet(context_of(), "amos", scope={"project_id": "p9"})) == []


@pytest.mark.case("C27")
def test_reading_unknown_scopes_creates_nothing(
    context_of: ContextOf, caller: Identity, graph: Graph
) -> None:
    """Two hundred scopes that do not exist are read, and no node comes of it but the log of packets."""
    store(context_of(), fact("a1", "Amos."))
    before = _nodes(graph, caller.scope.tenant_id)
    for number in range(100):
        recall(context_of(), {"cues": ["amos"], "scope": {"project_id": f"p{number}"}})
        scope = Scope(tenant_id=f"{caller.scope.tenant_id}-{number}", workspace_id="w")
        stranger = Identity(caller.client_id, caller.service_id, "test", scope, caller.capabilities)
        assert packet(context_of(stranger), "amos")["graph_version"] == 0

    assert _nodes(graph, caller.scope.tenant_id) == before


def _nodes(graph: Graph, tenant: str) -> list[dict[str, Any]]:
    return run(
        graph,
        "MATCH (n) WHERE n.shard STARTS WITH $tenant AND NOT n:PacketManifest "
        "RETURN labels(n) AS labels, count(*) AS nodes ORDER BY labels",
        tenant=tenant,
    )


def test_policies_decide_per_caller_and_processor(context_of: ContextOf, caller: Identity) -> None:
    """Denied identities, demanded capabilities and processors keep an atom out of a packet."""
    policies: dict[str, dict[str, Any]] = {
        "open": {},
        "denied": {"denied_identities": ["cli_guest"]},
        "allowed": {"allowed_identities": ["cli_test"]},
        "critics": {"processor_visibility": ["critic"]},
    }
    store(
        context_of(),
        *(
            fact(ref, f"amos {ref}", **({"access_policy": policy} if policy else {}))
            for ref, policy in policies.items()
        ),
    )
    guest = Identity("cli_guest", "svc:guest", "test", caller.scope, caller.capabilities)

    assert sorted(refs(packet(context_of(), "amos"))) == ["allowed", "critics", "denied", "open"]
    assert sorted(refs(packet(context_of(guest), "amos"))) == ["critics", "open"]
    assert sorted(refs(packet(context_of(guest), "amos", target_processor="critic"))) == ["critics", "open"]
    assert sorted(refs(packet(context_of(guest), "amos", target_processor="planner"))) == ["open"]


def test_private_memory_needs_a_policy_that_names_the_processor(context_of: ContextOf) -> None:
    """Health `privacy_sensitive` is retrieved only where access policy and processor target allow it."""
    policy = {"processor_visibility": ["user_interface"]}
    store(
        context_of(),
        fact("p1", "amos private", health_status="privacy_sensitive", access_policy=policy),
        fact("p2", "amos private too", health_status="privacy_sensitive"),
        fact("a1", "amos public"),
        edges=(edge("a1", "supports", "p1"), edge("a1", "supports", "p2")),
    )

    assert refs(packet(context_of(), "amos")) == ["a1"]
    assert refs(packet(context_of(), "amos", target_processor="planner")) == ["a1"]
    assert sorted(refs(packet(context_of(), "amos", target_processor="user_interface"))) == ["a1", "p1"]


def test_evidence_is_judged_by_its_own_policy(context_of: ContextOf, caller: Identity) -> None:
    """An atom is recalled with pointers to the evidence that the caller may read, and to no other."""
    guest = Identity("cli_guest", "svc:guest", "test", caller.scope, caller.capabilities)
    closed = source_event("evd_closed", access_policy={"denied_identities": ["cli_guest"]})
    commit(
        context_of(),
        {
            "events": [source_event(), closed],
            "atoms": [fact("a1", "Amos.", evidence_refs=["evd_closed", "evd_turn1"])],
        },
    )

    [full] = packet(context_of(), "amos")["items"]
    [part] = packet(context_of(guest), "amos")["items"]

    assert full["evidence_refs"] == ["evd_closed", "evd_turn1"]
    assert part["evidence_refs"] == ["evd_turn1"] == [entry["evidence_id"] for entry in part["evidence"]]
    assert "evd_closed" not in json.dumps(packet(context_of(guest), "amos"))


@pytest.mark.case("C20")
def test_hidden_matches_take_no_slot(context_of: ContextOf) -> None:
    """Hundreds of better matches in another project leave the one visible atom where it is."""
    for block in range(3):
        store(
            context_of(scope=SECRET),
            *(fact(f"h{block}-{n:03}", "amos memory amos memory") for n in range(300)),
        )
    store(context_of(), fact("a1", "A long text that mentions amos among many other words of no interest."))

    found = packet(context_of(), "amos memory", max_items=5)

    assert refs(found) == ["a1"]
    assert [entry["reason"] for entry in found["omissions"]] == ["access_denied", "derived_index_stale"]
