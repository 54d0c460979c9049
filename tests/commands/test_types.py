"""Every atom type in a real graph: its node, its native properties and links, or its refusal."""

from __future__ import annotations

from typing import Any

import pytest

from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.domain.atoms import GUARDED, JUDGMENT, NO_ATOMS, PAYLOADS, PROPOSABLE, validate_payload
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.list import list_atoms
from amos_graph.queries.verify import verify
from tests.domain.payloads import COMPACTION, SAMPLES
from tests.faults.journal import contents, rows
from tests.samples import interaction, source_event

_NODE = """
MATCH (a:Atom {shard: $shard, id: $ref})
RETURN a {.*} AS properties, labels(a) AS labels,
       [(a)-[link:REFERS_TO]->(n:Entity) | [link.role, n.id]] AS roles
"""
_SUMMARIZES = """
MATCH (a:Atom {shard: $shard, id: $ref})-[link:SUMMARIZES]->(said:Atom)
MATCH (edge:Edge {shard: $shard, edge_id: link.edge_id})
RETURN said.id AS said, edge.derivation AS derivation, edge.evidence_refs AS evidence
ORDER BY said
"""
UNGUARDED = sorted(set(PAYLOADS) - set(GUARDED))


def atom(atom_type: str, payload: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """An atom of a type, with the sample's payload if it has none of its own."""
    own = dict(SAMPLES[atom_type]) if payload is None and atom_type in SAMPLES else dict(payload or {})
    if atom_type == "interaction_event":
        own |= {"sequence": 1, "reply_to": None}
    return {
        "id": f"one:{atom_type}",
        "type": atom_type,
        "payload": own,
        "evidence_refs": ["evd_turn1"],
        "confidence": {"level": "high"},
        **changes,
    }


def refusal(context: Context, *atoms: dict[str, Any], operation: Any = commit) -> AmosError:
    name = "atoms" if operation is commit else "candidates"
    with pytest.raises(AmosError) as caught:
        operation(context, {"events": [source_event()], name: list(atoms)})
    return caught.value


@pytest.mark.case("C61")
def test_one_of_each_type_stands_in_neo4j_as_its_declaration_says(
    context: Context, graph: Graph, tenant: str
) -> None:
    """Label, lifted properties and REFERS_TO roles are those of the payload, and `verify` finds no fault."""
    shard = f"{tenant}/w"
    atoms = [atom(name) for name in UNGUARDED]
    receipt = commit(context, {"events": [source_event()], "atoms": atoms}).record

    assert {f"one:{name}" for name in UNGUARDED} <= set(receipt["created"])
    for sent in atoms:
        payload = validate_payload(sent["type"], sent["payload"])
        (found,) = rows(graph, _NODE, shard=shard, ref=sent["id"])
        lifted = payload.lifted_values()
        assert set(found["labels"]) == {"Atom", "Live", PAYLOADS[sent["type"]].label}
        assert lifted
        assert {name: found["properties"].get(name) for name in lifted} == lifted
        assert sorted(found["roles"]) == sorted([role, ref] for role, ref in set(payload.entity_roles()))
        assert found["properties"]["title"] == payload.title()
    assert verify(graph, shard).record()["faults"] == []


#: What the ordinary ways take none of: a judgment has its author's way, guidance may be proposed.
_REFUSED = [
    (atom_type, operation)
    for atom_type in sorted(GUARDED)
    for operation in (commit, propose)
    if (atom_type != JUDGMENT or operation is propose)
    and (atom_type not in PROPOSABLE or operation is commit)
]


@pytest.mark.parametrize(("atom_type", "operation"), _REFUSED)
def test_a_guarded_type_is_refused_and_nothing_is_written(
    context: Context, graph: Graph, tenant: str, atom_type: str, operation: Any
) -> None:
    """A sound body is denied, with the reason at its type; a body that is none is told its fault."""
    denied = refusal(context, atom(atom_type), operation=operation)
    unsound = refusal(context, atom(atom_type, {**SAMPLES[atom_type], "extra": 1}), operation=operation)

    assert (denied.code, denied.status) == ("authorization_denied", 403)
    assert [fault.message for fault in denied.faults] == [GUARDED[atom_type]]
    assert (unsound.code, unsound.status) == ("schema_invalid", 422)
    assert [fault.path.rpartition("].")[2] for fault in unsound.faults] == ["payload.extra"]
    assert contents(graph, f"{tenant}/w") == {}


@pytest.mark.parametrize("atom_type", sorted(NO_ATOMS))
def test_a_generated_artifact_is_refused_as_an_atom(
    context: Context, graph: Graph, tenant: str, atom_type: str
) -> None:
    refused = refusal(context, atom(atom_type, {"narrative": "I did well."}))

    assert refused.code == "schema_invalid"
    assert [(fault.path, fault.message) for fault in refused.faults] == [
        ("atoms[0].type", NO_ATOMS[atom_type])
    ]
    assert contents(graph, f"{tenant}/w") == {}


def test_a_summary_is_joined_to_what_it_summarizes(context: Context, graph: Graph, tenant: str) -> None:
    """Each source of a context compaction gets a SUMMARIZES from the atom, on the atom's evidence."""
    said = [interaction("conv-1", number, id=f"said-{number}") for number in (1, 2)]
    payload = {"statement": "The crane is repaired.", "context_compaction": COMPACTION}
    commit(context, {"events": [source_event()], "atoms": said})
    receipt = commit(context, {"atoms": [atom("semantic", payload, id="summary")]}).record

    assert len(receipt["linked"]) == 2
    assert rows(graph, _SUMMARIZES, shard=f"{tenant}/w", ref="summary") == [
        {"said": ref, "derivation": "payload.context_compaction", "evidence": ["evd_turn1"]}
        for ref in ("said-1", "said-2")
    ]
    assert verify(graph, f"{tenant}/w").record()["faults"] == []


def test_a_summary_of_what_is_not_there_is_refused_at_its_source(context: Context) -> None:
    payload = {"statement": "The crane is repaired.", "context_compaction": COMPACTION}
    refused = refusal(context, atom("semantic", payload))

    assert refused.code == "not_found"
    assert refused.faults[0].path.startswith("atoms[0].payload.context_compaction.source_refs[0]")


@pytest.mark.parametrize("atom_type", ["discourse_state", "runtime_state"])
def test_what_an_immutable_type_says_is_followed_and_never_changed(
    context: Context, graph: Graph, tenant: str, atom_type: str
) -> None:
    """Another payload under the same id is refused; another health is not; a successor takes its place."""
    changed = {"discourse_state": {"revision": 3}, "runtime_state": {"load": {"queue": 9}}}[atom_type]
    payload = {**SAMPLES[atom_type], **changed}
    commit(context, {"events": [source_event()], "atoms": [atom(atom_type)]})

    refused = refusal(context, atom(atom_type, payload, version=1))
    assert refused.code == "schema_invalid"
    assert [fault.path for fault in refused.faults] == ["atoms[0].payload"]
    commit(context, {"atoms": [atom(atom_type, version=1, health_status="low_utility")]})
    commit(context, {"atoms": [atom(atom_type, payload, id="next", supersedes=[f"one:{atom_type}"])]})
    (found,) = rows(graph, _NODE, shard=f"{tenant}/w", ref=f"one:{atom_type}")
    assert found["properties"]["state_key"] == "superseded"
    assert verify(graph, f"{tenant}/w").record()["faults"] == []


def test_a_snapshot_is_found_until_it_expires(context: Context) -> None:
    """Today and as of an earlier version: a snapshot holds from its capture until before its expiry."""
    request = {"events": [source_event()], "atoms": [atom("runtime_state")]}
    version = commit(context, request).record["graph_version"]

    def found(at: str) -> list[str]:
        request = {"types": ["runtime_state"], "valid_at": at}
        pages = [list_atoms(context, {**request, **known}) for known in ({}, {"as_of_version": version})]
        now, before = ([item["atom_ref"] for item in page["items"]] for page in pages)
        assert now == before
        return now

    # Another event, so that the version with the snapshot is a past one.
    commit(context, {"events": [source_event("evd_turn2")]})

    assert found("2026-03-01T12:30:00Z") == ["one:runtime_state"]
    assert found("2026-03-01T11:59:59Z") == found("2026-03-01T13:00:00Z") == []
