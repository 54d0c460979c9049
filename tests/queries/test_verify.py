"""Verification: clean where nothing was touched, and a named fault for each way to tamper."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any, LiteralString, cast

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.artifacts import record_artifact
from amos_graph.commands.clients import register_client
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.commands.outcomes import record_outcome
from amos_graph.domain.events import checksum, event_node, event_record
from amos_graph.domain.projection import KEYS
from amos_graph.domain.verification import Fault
from amos_graph.graph.procedures import read_header
from amos_graph.graph.transactions import Graph
from amos_graph.queries.recall import recall
from amos_graph.queries.verify import (
    ATOMS_ONLY,
    FAULTS_MAX,
    LABELS,
    Report,
    checkpoint_of,
    foreign_faults,
    verify,
    verify_all,
)
from tests.administrator import run
from tests.samples import belief, interaction, source_event


@pytest.fixture
def shard(context: Context) -> str:
    """A shard with every kind of record, an update, a supersession, an archived atom and a stream."""
    commit(
        context,
        {
            "events": [source_event()],
            "entities": [
                {"id": "ent:user:primary", "labels": ["Ada"], "aliases": ["the boss"]},
                {"id": "ent:user:second", "labels": ["A. L."], "merged_into": "ent:user:primary"},
            ],
            "relations": [{"id": "rel:reviews", "kind": "edge", "description": "one reviews another"}],
            "enums": [{"id": "enum:mood:calm", "description": "calm"}],
            "atoms": [
                belief(id="a1"),
                belief(id="a2", payload={"object": "ent:project:other"}, supersedes=["a1"]),
                belief(id="a3", payload={"subject": "ent:user:third", "object": "ent:project:third"}),
                belief(id="a5", payload={"object": "Countess Ada"}),
                interaction("talk", 1, id="i1"),
                interaction("talk", 2, id="i2", payload={"reply_to": "i1"}),
            ],
            "edges": [
                {
                    "edge_id": "edge_one",
                    "source_ref": "a2",
                    "target_ref": "a3",
                    "relation": "rel:supports",
                    "confidence": {"score": 0.8},
                    "evidence_refs": ["evd_turn1"],
                }
            ],
        },
    )
    commit(
        context,
        {
            "atoms": [
                belief(
                    id="a3", payload={"subject": "ent:user:third", "object": "ent:project:fourth"}, version=1
                )
            ]
        },
    )
    commit(context, {"atoms": [belief(id="a4", payload={"object": "ent:project:fifth"})]})
    archive(context, {"atom_id": "a4", "reason": "no longer wanted"})
    found = recall(context, {"cues": ["other"], "max_items": 5})
    assert {"a2", "a3"} <= {item["atom_ref"] for item in found["items"]}
    record_outcome(context, {"packet_id": found["packet_id"], "helpful_atom_refs": ["a2", "a3"]})
    story = {
        "id": "art_one",
        "subject_agent": "ent:agent:planner",
        "narrative": "I fail.",
        "narrative_scope": {"task": "t1"},
        "source_trace_refs": ["did"],
        "source_counterevidence_refs": ["evd_turn1"],
        "balance_report": {"failures": 1},
    }
    commit(context, {"atoms": [_done()]})
    record_artifact(context, {"artifact": story})
    register_client(context, {"id": "cli_one", "service_id": "svc:one", "capabilities": ["memory.read"]})
    return context.scope.shard


def _done() -> dict[str, Any]:
    payload = {"subject_agent": "ent:agent:planner", "action_type": "plan", "success_status": "failed"}
    return belief(id="did", type="action_outcome") | {"payload": payload}


def kinds(report: Report) -> set[str]:
    return {fault.kind for fault in report.faults}


@pytest.mark.reliability("T07")
def test_an_untouched_shard_verifies_clean(graph: Graph, shard: str) -> None:
    """No false alarm, and every record is counted."""
    report = verify(graph, shard)

    assert [fault.record() for fault in report.faults] == []
    assert {kind: count for kind, count in report.records.items() if kind not in ("entity", "evidence")} == {
        "artifact": 1,
        "atom": 8,
        "client": 1,
        "edge": 2,
        "enum": 1,
        "relation": 1,
        "score": 3,
    }


@contextmanager
def changed(graph: Graph, element: str, properties: dict[str, Any]) -> Generator[None]:
    """Replace a node's properties, and put them back."""
    before = run(graph, "MATCH (n) WHERE elementId(n) = $id RETURN properties(n) AS p", id=element)[0]["p"]
    run(graph, "MATCH (n) WHERE elementId(n) = $id SET n = $p", id=element, p=properties)
    try:
        yield
    finally:
        run(graph, "MATCH (n) WHERE elementId(n) = $id SET n = $p", id=element, p=before)


def other(value: Any) -> Any:
    """A value of the same type that differs."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1000
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list):
        return [*value, "evd_x"]  # pyright: ignore[reportUnknownVariableType]
    return value.to_native() + timedelta(seconds=1)


def removed(value: Any) -> None:
    """No value."""


def nodes(graph: Graph, shard: str, label: str) -> list[tuple[str, dict[str, Any]]]:
    rows = run(
        graph,
        f"MATCH (n:{label}) WHERE n.shard = $shard RETURN elementId(n) AS id, properties(n) AS p ORDER BY id",
        shard=shard,
    )
    return [(row["id"], row["p"]) for row in rows]


@pytest.mark.reliability("T07")
@pytest.mark.case("C73")
def test_each_property_of_an_event_is_covered(graph: Graph, shard: str) -> None:
    """Changing, removing or adding any property of the first, a middle and the last event is found there."""
    events = sorted(nodes(graph, shard, "Event"), key=lambda entry: entry[1]["graph_version"])
    chosen = [events[0], events[5], events[-1]]
    places = {properties["graph_version"] for _, properties in chosen}
    for name in events[0][1]:
        for altered in (other, removed):
            with ExitStack() as all_three:
                for element, properties in chosen:
                    changes = {**properties, name: altered(properties[name])}
                    all_three.enter_context(changed(graph, element, changes))
                report = verify(graph, shard)
            assert not report.ok, f"{name} altered went unnoticed"
            if name not in ("shard", "graph_version"):
                assert places <= {fault.graph_version for fault in report.faults}, name
    for element, properties in chosen:
        with changed(graph, element, {**properties, "note": "smuggled"}):
            assert "wrong_hash" in kinds(verify(graph, shard))
    assert verify(graph, shard).ok


#: Properties by which a record is found: with one of these altered, the others are not looked at.
_KEYS = frozenset(key for _, key in KEYS.values())
_FOUND_BY = _KEYS | {"shard", "version"}


@pytest.mark.reliability("T07")
@pytest.mark.case("C61")
@pytest.mark.parametrize(
    "label",
    ["Atom", "Edge", "Entity", "RelationType", "EnumValue", "Evidence", "Client", "Score", "Artifact"],
)
def test_each_projected_property_is_covered(graph: Graph, shard: str, label: str) -> None:
    """Changing, removing or adding any property of a record is found, by its id and field."""
    element, properties = nodes(graph, shard, label)[0]
    ref = next(properties[key] for key in _KEYS if key in properties)
    told_of = properties.keys() - _FOUND_BY
    for altered in (other, removed):
        with changed(graph, element, properties | {name: altered(properties[name]) for name in told_of}):
            told = {fault.field for fault in verify(graph, shard).faults if fault.ref == ref}
        assert told_of <= told, f"unnoticed: {sorted(told_of - told)}"
        for name in properties.keys() & _FOUND_BY:
            with changed(graph, element, {**properties, name: altered(properties[name])}):
                report = verify(graph, shard)
            assert not report.ok, f"{label}.{name} went unnoticed"
            assert name == "shard" or ref in {fault.ref for fault in report.faults}, (name, report.faults)
    with changed(graph, element, {**properties, "note": "smuggled"}):
        assert any(fault.field == "note" and fault.ref == ref for fault in verify(graph, shard).faults)
    assert verify(graph, shard).ok


@pytest.mark.reliability("T07")
@pytest.mark.case("C61")
def test_each_property_of_a_version_is_covered(graph: Graph, shard: str) -> None:
    """Changing, removing or adding any property of a stored body is found, by the record it is of."""
    element, properties = nodes(graph, shard, "Version")[0]
    for name in properties:
        for altered in (other(properties[name]), None):
            with changed(graph, element, {**properties, name: altered}):
                report = verify(graph, shard)
            assert not report.ok, f"{name} set to {altered!r} went unnoticed"
            if name not in ("shard", "ref"):
                assert properties["ref"] in {fault.ref for fault in report.faults}, (name, report.faults)
    with changed(graph, element, {**properties, "note": "smuggled"}):
        assert any(fault.field == "note" for fault in verify(graph, shard).faults)
    assert verify(graph, shard).ok


TAMPERING = {
    "merged link removed": (
        "MATCH (:Entity {shard: $shard})-[r:MERGED_INTO]->() DELETE r",
        {"projection_link"},
    ),
    "merged link added": (
        (
            "MATCH (a:Entity {shard: $shard, id: 'ent:project:third'}), "
            "(b:Entity {shard: $shard, id: 'ent:user:primary'}) CREATE (a)-[:MERGED_INTO]->(b)"
        ),
        {"projection_link"},
    ),
    "merged link turned": (
        (
            "MATCH (a:Entity {shard: $shard, id: 'ent:user:second'})-[r:MERGED_INTO]->() "
            "MATCH (b:Entity {shard: $shard, id: 'ent:project:third'}) "
            "DELETE r CREATE (a)-[:MERGED_INTO]->(b)"
        ),
        {"projection_link"},
    ),
    "merged link noted": (
        "MATCH (:Entity {shard: $shard})-[r:MERGED_INTO]->() SET r.note = 'x'",
        {"projection_link"},
    ),
    "keyless atom": ("CREATE (:Atom:Live:Belief {shard: $shard, title: 'I am true'})", {"stray_node"}),
    "keyless edge": ("CREATE (:Edge {shard: $shard, source_ref: 'a2'})", {"stray_node"}),
    "keyless evidence": ("CREATE (:Evidence {shard: $shard})", {"stray_node"}),
    "keyless entity": ("CREATE (:Entity {shard: $shard})", {"stray_node"}),
    "keyless event": ("CREATE (:Event {shard: $shard})", {"stray_node"}),
    "keyless class": ("CREATE (:AccessClass {shard: $shard})", {"stray_node"}),
    "keyless stream": ("CREATE (:InteractionStream {shard: $shard})", {"stray_node"}),
    "keyless version": ("CREATE (:Version {shard: $shard, version: 1})", {"stray_version"}),
    "keyless score": ("CREATE (:Score {shard: $shard, of_ref: 'a2'})", {"stray_node"}),
    "keyless usage": ("CREATE (:Usage {shard: $shard, access_count: 9})", {"stray_node"}),
    "keyless manifest": ("CREATE (:PacketManifest {shard: $shard})", {"stray_node"}),
    "keyless outcome": ("CREATE (:RetrievalOutcome {shard: $shard})", {"stray_node"}),
    "stray score": ("CREATE (:Score {shard: $shard, id: 'scr_ghost'})", {"stray_node"}),
    "score linked out": (
        (
            "MATCH (s:Score {shard: $shard, of_ref: 'a2'}), (a:Atom {shard: $shard, id: 'a2'}) "
            "CREATE (s)-[:OF]->(a)"
        ),
        {"stray_relationship"},
    ),
    "keyless artifact": ("CREATE (:Artifact {shard: $shard})", {"stray_node"}),
    "stray artifact": ("CREATE (:Artifact {shard: $shard, id: 'art_ghost'})", {"stray_node"}),
    "artifact deleted": ("MATCH (n:Artifact {shard: $shard}) DETACH DELETE n", {"projection_missing"}),
    "artifact linked out": (
        "MATCH (n:Artifact {shard: $shard}), (a:Atom {shard: $shard, id: 'a2'}) CREATE (n)-[:SUPPORTS]->(a)",
        {"stray_relationship"},
    ),
    "source of an artifact gone": (
        "MATCH (:Artifact {shard: $shard})-[r:TOLD_FROM]->(:Atom) DELETE r",
        {"projection_link"},
    ),
    "source of an artifact at another version": (
        "MATCH (:Artifact {shard: $shard})-[r:TOLD_FROM]->(:Evidence) SET r.version = 2",
        {"projection_link"},
    ),
    "another source of an artifact": (
        (
            "MATCH (n:Artifact {shard: $shard}), (a:Atom {shard: $shard, id: 'a2'}) "
            "CREATE (n)-[:TOLD_FROM {role: 'source_trace_refs', version: 1}]->(a)"
        ),
        {"projection_link"},
    ),
    "agent of an artifact gone": (
        "MATCH (:Artifact {shard: $shard})-[r:REFERS_TO]->() DELETE r",
        {"projection_link"},
    ),
    "an atom told from": (
        (
            "MATCH (a:Atom {shard: $shard, id: 'a2'})-[:EVIDENCED_BY]->(e) "
            "CREATE (a)-[:TOLD_FROM {role: 'r', version: 1}]->(e)"
        ),
        {"projection_link"},
    ),
    "manifest linked out": (
        (
            "MATCH (m:PacketManifest {shard: $shard}), (a:Atom {shard: $shard, id: 'a2'}) "
            "CREATE (m)-[:HELD]->(a)"
        ),
        {"stray_relationship"},
    ),
    "score deleted": (
        "MATCH (s:Score {shard: $shard, of_ref: 'a2'}) DETACH DELETE s",
        {"projection_missing"},
    ),
    "utility moved by hand": (
        "MATCH (a:Atom {shard: $shard, id: 'a2'}) SET a.utility = 0.9",
        {"projection_field"},
    ),
    "a score and its atom moved by hand": (
        (
            "MATCH (s:Score {shard: $shard, of_ref: 'a2'}), (a:Atom {shard: $shard, id: 'a2'}) "
            "SET s.utility = 0.9, a.utility = 0.9"
        ),
        {"projection_field"},
    ),
    "weight moved by hand": (
        (
            "MATCH (e:Edge {shard: $shard, edge_id: 'edge_one'}) "
            "MATCH (:Atom {shard: $shard})-[r:SUPPORTS]->() SET e.weight = 0.9, r.weight = 0.9"
        ),
        {"projection_field"},
    ),
    "keyless belief that is no atom": ("CREATE (:Belief {shard: $shard, id: 'a9'})", {"stray_node"}),
    "keyless node linked out": (
        (
            "MATCH (c:AccessClass {shard: $shard}), (a:Atom {shard: $shard, id: 'a2'}) "
            "CREATE (c)-[:COVERS]->(a)"
        ),
        {"stray_relationship"},
    ),
    "evidence link noted": (
        "MATCH (:Atom {shard: $shard, id: 'a2'})-[r:EVIDENCED_BY]->() SET r.note = 'x'",
        {"projection_link"},
    ),
    "edge's evidence link noted": (
        "MATCH (:Edge {shard: $shard, edge_id: 'edge_one'})-[r:EVIDENCED_BY]->() SET r.at = datetime()",
        {"projection_link"},
    ),
    "mention removed": (
        "MATCH (:Atom {shard: $shard})-[r:MENTIONS]->() WITH r LIMIT 1 DELETE r",
        {"projection_link"},
    ),
    "mention of another stretch": (
        "MATCH (:Atom {shard: $shard})-[r:MENTIONS]->() WITH r LIMIT 1 SET r.start = r.start + 1",
        {"projection_link"},
    ),
    "name of an entity removed": (
        "MATCH (:Entity {shard: $shard})-[r:NAMED]->() WITH r LIMIT 1 DELETE r",
        {"projection_link"},
    ),
    "name linked out": (
        (
            "MATCH (n:Name {shard: $shard}), (a:Atom {shard: $shard, id: 'a2'}) "
            "WITH n, a LIMIT 1 CREATE (n)-[:LIKES]->(a)"
        ),
        {"stray_relationship"},
    ),
    "keyless name": ("CREATE (:Name {shard: $shard})", {"stray_node"}),
    "entity link noted": (
        "MATCH (:Atom {shard: $shard, id: 'a2'})-[r:REFERS_TO]->() SET r.note = 'x'",
        {"projection_link"},
    ),
    "entity link without a role": (
        "MATCH (:Atom {shard: $shard, id: 'a2'})-[r:REFERS_TO]->() REMOVE r.role",
        {"projection_link"},
    ),
    "evidence link to an entity": (
        (
            "MATCH (a:Atom {shard: $shard, id: 'a2'}), (e:Entity {shard: $shard, id: 'ent:user:primary'}) "
            "CREATE (a)-[:EVIDENCED_BY]->(e)"
        ),
        {"projection_link"},
    ),
    "relationship dated": (
        "MATCH (:Atom {shard: $shard})-[r:SUPPORTS]->() SET r.at = datetime()",
        {"relationship_differs"},
    ),
    "journal size changed": (
        "MATCH (j:Journal {shard: $shard}) SET j.body_bytes = j.body_bytes + 1",
        {"head"},
    ),
    "journal time changed": (
        "MATCH (j:Journal {shard: $shard}) SET j.accepted_at = '2020-01-01T00:00:00.000000Z'",
        {"head"},
    ),
    "journal time removed": ("MATCH (j:Journal {shard: $shard}) REMOVE j.accepted_at", {"head"}),
    "body unreadable": (
        "MATCH (v:Version {shard: $shard, ref: 'a2'}) SET v.body = '{\"type\":\"dream\"}'",
        {"body_digest", "body_unreadable"},
    ),
    "body too deep": (
        (
            "MATCH (v:Version {shard: $shard, ref: 'a2'}) "
            "SET v.body = reduce(text = '', i IN range(1, 100000) | text + '[')"
        ),
        {"body_digest", "body_unreadable"},
    ),
    "label added": ("MATCH (n:Atom {shard: $shard, id: 'a2'}) SET n:Goal", {"projection_label"}),
    "Live removed": ("MATCH (n:Atom {shard: $shard, id: 'a2'}) REMOVE n:Live", {"projection_label"}),
    "foreign label": ("MATCH (n:Atom {shard: $shard, id: 'a2'}) SET n:Smuggled", {"projection_label"}),
    "atom deleted": ("MATCH (n:Atom {shard: $shard, id: 'a3'}) DETACH DELETE n", {"projection_missing"}),
    "evidence deleted": (
        "MATCH (n:Evidence {shard: $shard, evidence_id: 'evd_turn1'}) DETACH DELETE n",
        {"projection_missing", "projection_link"},
    ),
    "edge deleted": (
        "MATCH (n:Edge {shard: $shard, edge_id: 'edge_one'}) DETACH DELETE n",
        {"projection_missing"},
    ),
    "stray atom": ("CREATE (:Atom {shard: $shard, id: 'ghost'})", {"stray_node"}),
    "stray version": (
        "CREATE (:Version {shard: $shard, ref: 'a9', version: 1})",
        {"stray_version", "version_count", "projection_missing"},
    ),
    "relationship added": (
        (
            "MATCH (a:Atom {shard: $shard, id: 'a2'}), (b:Atom {shard: $shard, id: 'i1'}) "
            "CREATE (a)-[:SUPPORTS]->(b)"
        ),
        {"stray_relationship"},
    ),
    "relationship removed": (
        "MATCH (:Atom {shard: $shard})-[r:SUPPORTS]->() DELETE r",
        {"relationship_missing"},
    ),
    "relationship reweighted": (
        "MATCH (:Atom {shard: $shard})-[r:SUPPORTS]->() SET r.weight = 0.99",
        {"relationship_differs"},
    ),
    "relationship doubled": (
        "MATCH (a:Atom {shard: $shard})-[r:SUPPORTS]->(b) CREATE (a)-[s:SUPPORTS]->(b) SET s = properties(r)",
        {"stray_relationship"},
    ),
    "evidence link removed": (
        "MATCH (:Atom {shard: $shard, id: 'a2'})-[r:EVIDENCED_BY]->() DELETE r",
        {"projection_link"},
    ),
    "entity link added": (
        (
            "MATCH (a:Atom {shard: $shard, id: 'a2'}), (e:Entity {shard: $shard, id: 'ent:project:third'}) "
            "CREATE (a)-[:REFERS_TO {role: 'object'}]->(e)"
        ),
        {"projection_link"},
    ),
    "entity linked out": (
        (
            "MATCH (e:Entity {shard: $shard, id: 'ent:user:primary'}), (a:Atom {shard: $shard, id: 'a2'}) "
            "CREATE (e)-[:LIKES]->(a)"
        ),
        {"stray_relationship"},
    ),
    "stream head moved": (
        "MATCH (s:InteractionStream {shard: $shard}) SET s.version = 9",
        {"stream_differs"},
    ),
    "stream removed": ("MATCH (s:InteractionStream {shard: $shard}) DELETE s", {"stream_differs"}),
    "access class removed": ("MATCH (c:AccessClass {shard: $shard}) DELETE c", {"access_class_missing"}),
    "access class widened": (
        'MATCH (c:AccessClass {shard: $shard}) SET c.access_policy = \'{"denied_identities":["svc:x"]}\'',
        {"access_class_differs"},
    ),
    "body erased": (
        "MATCH (v:Version {shard: $shard, ref: 'a2'}) REMOVE v.body, v.salt",
        {"body_missing"},
    ),
    "event deleted": ("MATCH (e:Event {shard: $shard, graph_version: 3}) DETACH DELETE e", {"gap", "head"}),
    "head pointer removed": ("MATCH (:Journal {shard: $shard})-[r:HEAD]->() DELETE r", {"head"}),
    "head hash changed": ("MATCH (j:Journal {shard: $shard}) SET j.head_hash = 'sha256:0'", {"head"}),
    "chain link removed": (
        "MATCH (:Event {shard: $shard, graph_version: 2})-[r:NEXT]->() DELETE r",
        {"wrong_link"},
    ),
    "written link removed": (
        "MATCH (:Event {shard: $shard, graph_version: 2})-[r:WROTE]->() DELETE r",
        {"version_missing", "stray_version"},
    ),
}


@pytest.mark.reliability("T07")
@pytest.mark.parametrize("name", sorted(TAMPERING))
def test_tampering_by_cypher_is_named(graph: Graph, shard: str, name: str) -> None:
    """Each way to edit the graph past the journal fails verification with the kind of fault it is."""
    statement, expected = TAMPERING[name]

    run(graph, statement, shard=shard)

    assert expected <= kinds(verify(graph, shard))


@pytest.mark.reliability("T07")
@pytest.mark.parametrize(
    ("name", "value"), [("body_bytes", 1), ("accepted_at", "2020-01-01T00:00:00.000000Z")]
)
def test_the_head_is_named_by_its_field(graph: Graph, shard: str, name: str, value: Any) -> None:
    """What the journal's head says of size and time is compared with the chain, and nothing else is wrong."""
    run(graph, "MATCH (j:Journal {shard: $shard}) SET j[$name] = $value", shard=shard, name=name, value=value)

    assert [("head", name)] == [(fault.kind, fault.field) for fault in verify(graph, shard).faults]


def test_faults_are_said_to_be_cut_off_only_when_some_were() -> None:
    """A report that is exactly full is whole; one fault more is left out, and the report says so."""
    report = Report("t/w")

    report.add(Fault("gap", str(number)) for number in range(FAULTS_MAX))
    assert (len(report.faults), report.record()["faults_truncated"]) == (FAULTS_MAX, False)
    report.add([Fault("gap", "one more")])
    assert (len(report.faults), report.record()["faults_truncated"]) == (FAULTS_MAX, True)


@pytest.mark.reliability("T07")
def test_all_shards_and_foreign_nodes_are_verified(graph: Graph, shard: str, tenant: str) -> None:
    """This shard's report is clean, and a note that points at a memory is in the last one, of no shard."""
    run(
        graph,
        "MATCH (a:Atom {shard: $shard, id: 'a2'}) CREATE (:`!Note` {id: $tenant})-[:SAYS]->(a)",
        shard=shard,
        tenant=tenant,
    )
    try:
        reports = verify_all(graph, tenants=tenant)
    finally:
        run(graph, "MATCH (n:`!Note` {id: $tenant}) DETACH DELETE n", tenant=tenant)

    assert [report.faults for report in reports if report.shard == shard] == [[]]
    assert (reports[-1].shard, reports[-1].ok) == ("", False)
    assert (tenant, "foreign_node") in {(fault.ref, fault.kind) for fault in reports[-1].faults}


@pytest.mark.reliability("T07")
def test_a_node_of_no_shard_is_foreign(graph: Graph, tenant: str) -> None:
    """A memory without a shard, or in a shard that has no journal, is found with the foreign nodes."""
    run(graph, "CREATE (:Atom {id: $tenant}), (:Atom {id: $tenant, shard: $tenant})", tenant=tenant)
    try:
        assert [tenant] * 2 == [fault.ref for fault in foreign_faults(graph) if fault.ref == tenant]
    finally:
        run(graph, "MATCH (n:Atom) WHERE n.id = $tenant DELETE n", tenant=tenant)


@pytest.mark.reliability("T07")
def test_a_node_of_another_kind_is_foreign(graph: Graph, tenant: str) -> None:
    """A node with none of the store's labels is found when the whole store is verified."""
    run(graph, "CREATE (:Smuggled {id: $tenant})", tenant=tenant)
    try:
        assert (tenant, "foreign_node") in {(fault.ref, fault.kind) for fault in foreign_faults(graph)}
    finally:
        run(graph, "MATCH (n:Smuggled {id: $tenant}) DELETE n", tenant=tenant)


def rewrite(graph: Graph, shard: str, start: int, **changes: Any) -> None:
    """Forge history: change the event at `start` and recompute every hash up to the head."""
    rows = sorted(nodes(graph, shard, "Event"), key=lambda entry: entry[1]["graph_version"])
    head = ""
    for element, properties in rows:
        event = event_record(properties)
        if event["graph_version"] == start:
            event |= changes
        if event["graph_version"] > start:
            event["previous_event_hash"] = head
        if event["graph_version"] >= start:
            event["checksum"] = checksum(event)
            run(graph, "MATCH (n) WHERE elementId(n) = $id SET n = $p", id=element, p=event_node(event))
        head = event["checksum"]
    run(graph, "MATCH (j:Journal {shard: $shard}) SET j.head_hash = $head", shard=shard, head=head)


@pytest.mark.reliability("T08")
@pytest.mark.case("C73")
def test_swapped_events_and_hashes_are_named_by_position(graph: Graph, shard: str) -> None:
    """Two events swapped, two predecessor hashes swapped, one event forged: each found where it stands."""
    swap = (
        "MATCH (a:Event {shard: $shard, graph_version: 2}), (b:Event {shard: $shard, graph_version: 3}) "
        "WITH a, b, a.%s AS x, b.%s AS y SET a.%s = y, b.%s = x"
    )
    run(graph, swap % (("previous_event_hash",) * 4), shard=shard)
    hashes = verify(graph, shard)
    run(graph, swap % (("previous_event_hash",) * 4), shard=shard)
    assert verify(graph, shard).ok

    assert {(2, "wrong_predecessor"), (3, "wrong_predecessor")} <= {
        (fault.graph_version, fault.kind) for fault in hashes.faults
    }
    forged = next(p for _, p in nodes(graph, shard, "Event") if p["graph_version"] == 4)
    event = event_record(forged) | {"actor": "svc:forger"}
    event["checksum"] = checksum(event)
    run(
        graph,
        "MATCH (e:Event {shard: $shard, graph_version: 4}) SET e = $p",
        shard=shard,
        p=event_node(event),
    )
    assert (5, "wrong_predecessor") in {(f.graph_version, f.kind) for f in verify(graph, shard).faults}


@pytest.mark.reliability("T08")
@pytest.mark.case("C71")
def test_a_rewritten_chain_is_found_with_a_checkpoint_alone(graph: Graph, shard: str) -> None:
    """All hashes recomputed from one event to the head look sound from inside, not from outside."""
    checkpoint = checkpoint_of(graph, shard)
    rewrite(graph, shard, 4, actor="svc:forger")

    assert verify(graph, shard).ok
    assert {"checkpoint"} == kinds(verify(graph, shard, checkpoint=checkpoint))


@pytest.mark.reliability("T09")
def test_a_cut_tail_is_found_against_a_checkpoint(graph: Graph, context: Context, shard: str) -> None:
    """A tail cut off cleanly, with the head set back, is found, and the answer names both versions."""
    journal = "MATCH (j:Journal {shard: $shard}) RETURN j.accepted_at AS at"
    accepted_at = run(graph, journal, shard=shard)[0]["at"]
    commit(context, {"enums": [{"id": "enum:mood:glad", "description": "glad"}]})
    checkpoint = checkpoint_of(graph, shard)
    at = checkpoint["graph_version"]
    run(
        graph,
        "MATCH (j:Journal {shard: $shard})-[:HEAD]->(e:Event)-[:WROTE]->(v)-[:OF]->(n) "
        "MATCH (p:Event)-[:NEXT]->(e) "
        "WITH j, e, v, n, p, size(v.body) AS size "
        "DETACH DELETE e, v, n CREATE (j)-[:HEAD]->(p) "
        "SET j.graph_version = p.graph_version, j.head_hash = p.checksum, j.accepted_at = $accepted_at, "
        "j.version_count = j.version_count - 1, j.body_bytes = j.body_bytes - size",
        shard=shard,
        accepted_at=accepted_at,
    )

    assert verify(graph, shard).ok
    cut = verify(graph, shard, checkpoint=checkpoint)
    assert [f"checkpoint at {at}, store at {at - 1}"] == [fault.message for fault in cut.faults]


@pytest.mark.reliability("T09")
def test_a_store_made_anew_is_not_the_one_that_was_checkpointed(
    graph: Graph, context: Context, shard: str
) -> None:
    """A shard wiped and written again to the same length has another identity."""
    checkpoint = checkpoint_of(graph, shard)
    run(graph, "MATCH (n) WHERE n.shard = $shard DETACH DELETE n", shard=shard)
    assert {"checkpoint"} == kinds(verify(graph, shard, checkpoint=checkpoint))
    commit(context, {"events": [source_event()]})

    wiped = verify(graph, shard, checkpoint=checkpoint)

    assert {"checkpoint"} == kinds(wiped)
    assert any("another store" in fault.message for fault in wiped.faults)


def test_a_range_checks_the_chain_alone(graph: Graph, shard: str) -> None:
    """A range verifies its own events from its first link on, and says that it left the graph out."""
    report = verify(graph, shard, first=3, last=6)

    assert (report.ok, report.events, report.projection_checked) == (True, 4, False)
    run(graph, "MATCH (e:Event {shard: $shard, graph_version: 5}) SET e.actor = 'x'", shard=shard)
    assert not verify(graph, shard, first=5, last=5).ok
    assert verify(graph, shard, first=6).ok


def test_the_labels_that_are_counted_are_those_that_a_node_must_have() -> None:
    """Each label of the store that is no mark of an atom; so a node with none of them shows in the count."""
    text = read_header("journal/count_labelled").text
    counted = set(re.findall(r"MATCH \(n:(\w+)\)", text))

    assert counted == set(LABELS) - set(ATOMS_ONLY)


def _hits(graph: Graph, name: str, shard: str) -> int:
    """What Neo4j looks at to answer a statement about a shard."""
    header = read_header(name)
    text = header.text.replace("CYPHER 25", "CYPHER 25 PROFILE", 1)
    params = {**header.sample, **({"shard": shard} if "shard" in header.params else {})}
    with graph.driver.session() as session:  # pyright: ignore[reportUnknownMemberType]
        summary = session.run(cast("LiteralString", text), params).consume()
    found: list[Any] = [summary.profile]  # pyright: ignore[reportUnknownMemberType]
    hits = 0
    while found:
        plan = found.pop()
        hits += plan.get("dbHits", 0)
        found += plan.get("children", [])
    return hits


def test_looking_for_strays_costs_nothing_for_other_shards(graph: Graph, shard: str, tenant: str) -> None:
    """However much the store holds beside it, a small shard is read by its indexes alone."""
    names = ("verify_keyless", "verify_links", "verify_strays", "count_labelled")
    before = {name: _hits(graph, f"journal/{name}", shard) for name in names}
    other = f"{tenant}/other"
    for label, key in (*KEYS.values(), ("Event", "graph_version"), ("Receipt", "scope_key")):
        filled = f"UNWIND range(1, 200) AS number CREATE (:{label} {{shard: $shard, {key}: number}})"
        run(graph, filled, shard=other)
    after = {name: _hits(graph, f"journal/{name}", shard) for name in names}
    run(graph, "MATCH (n {shard: $shard}) DELETE n", shard=other)

    # Another plan may cost a few hits more; a look at the other shard would cost one for each node there.
    assert all(after[name] < before[name] + 100 for name in names), (before, after)
