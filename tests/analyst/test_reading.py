"""The read models in a notebook: what they find, and that they cannot write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import neo4j.exceptions
import neomodel
import pytest

from amos_graph import analyst
from amos_graph.analyst import KINDS, Atom, Entity, Evidence, Journal, Migration
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.settings import Settings
from tests import administrator

Belief: Any = KINDS["belief"]
#: neomodel leaves much of it untyped.
db: Any = neomodel.db


def _atom(shard: str, ref: str) -> Any:
    return Atom.nodes.get(shard=shard, ref=ref)


@pytest.mark.usefixtures("connected")
def test_an_atom_is_read_with_what_it_hangs_on(shard: str) -> None:
    """It is of its kind's class, its JSON is parsed, and evidence, entities and associations are walked."""
    atom: Any = _atom(shard, "b1")
    role = {entity.ref: atom.entities.relationship(entity).role for entity in atom.entities}
    (supported,) = atom.to_supports

    assert atom.__class__ is Belief
    assert atom.payload["qualifiers"] == {"a": 1}
    assert (atom.subject, atom.confidence_score) == ("ent:user:primary", 0.9)
    assert atom.valid_from.isoformat() == "2026-01-01T00:00:00+00:00"
    assert [found.evidence_id for found in atom.evidence] == ["evd_turn1"]
    assert role == {"ent:user:primary": "subject", "ent:project:amos": "object"}
    assert supported.ref == "b4"
    assert atom.to_supports.relationship(supported).weight > 0
    assert [found.ref for found in supported.from_supports] == ["b1"]
    assert [found.ref for found in atom.with_contradicts] == ["b4"]


@pytest.mark.usefixtures("connected")
def test_what_is_known_of_an_entity_and_of_a_piece_of_evidence(shard: str) -> None:
    """From the other end, through merged entities too."""
    amos: Any = Entity.nodes.get(shard=shard, ref="ent:project:amos")
    other: Any = Entity.nodes.get(shard=shard, ref="ent:person:ada2")
    turn: Any = Evidence.nodes.get(shard=shard, evidence_id="evd_turn1")

    assert "b1" in {atom.ref for atom in amos.atoms}
    assert [found.ref for found in other.same_as] == ["ent:person:ada"]
    assert {"b1", "b4"} <= {atom.ref for atom in turn.atoms}
    assert {edge.relation for edge in turn.edges} >= {"rel:supports", "rel:contradicts"}


@pytest.mark.usefixtures("connected")
def test_the_chain_is_walked_from_its_head(shard: str) -> None:
    """Journal, events, Versions and the records that they are of."""
    journal: Any = Journal.nodes.get(shard=shard)
    head = journal.head.single()
    versions = sorted(_atom(shard, "gone").versions, key=lambda version: version.version)

    assert head.graph_version == journal.graph_version
    assert head.earlier.single().graph_version == journal.graph_version - 1
    assert [version.body["lifecycle_state"] for version in versions] == ["active", "archived"]
    assert versions[1].event.single().event_type == "atom_archived"
    assert versions[1].atom.single().ref == "gone"


@pytest.mark.usefixtures("connected")
def test_a_kind_is_filtered_by_its_own_properties(shard: str) -> None:
    """Lifted fields are properties of the kind's model, and `Live` is what recall may return."""
    found: Any = Belief.nodes.filter(shard=shard, object="two")

    assert [(atom.ref, atom.labels()) for atom in found] == [("b2", ["Atom", "Belief"])]
    assert "Live" in _atom(shard, "b1").labels()


_WRITES: dict[str, Callable[[Any], Any]] = {
    "save": lambda atom: atom.save(),
    "delete": lambda atom: atom.delete(),
    "connect": lambda atom: atom.to_supports.connect(atom),
    "create": lambda _: cast("Any", Migration)(name="9999_invented").save(),
    "cypher": lambda _: db.cypher_query("CREATE (:Invented)"),
    "schema": lambda _: db.cypher_query("CREATE INDEX invented FOR (n:Invented) ON (n.name)"),
}


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize("name", _WRITES)
def test_neo4j_refuses_every_write_through_the_models(graph: Graph, shard: str, name: str) -> None:
    """By its own access mode, outside a transaction and inside one that asks to write."""
    count = (
        "MATCH (n) WHERE n.shard = $shard OR n:Migration OR n:Invented RETURN count { (n)--() } + 1 AS links"
    )
    before = administrator.run(graph, count, shard=shard)
    atom = _atom(shard, "b1")
    atom.title = "changed"
    with pytest.raises(neo4j.exceptions.ClientError) as refused:
        _WRITES[name](atom)
    db.begin("WRITE")
    try:
        with pytest.raises(neo4j.exceptions.ClientError) as refused_inside:
            _WRITES[name](atom)
    finally:
        db.rollback()

    assert {refused.value.code, refused_inside.value.code} == {"Neo.ClientError.Statement.AccessMode"}
    assert administrator.run(graph, count, shard=shard) == before
    assert _atom(shard, "b1").title != "changed"


def test_without_a_driver_the_settings_say_which_neo4j(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, graph: Graph, shard: str
) -> None:
    """A notebook needs no password: `connect()` finds what `amos` finds, or says that none runs."""
    monkeypatch.setenv("AMOS_HOME", str(settings.home))
    with pytest.raises(AmosError, match="Neo4j is not running"):
        analyst.connect()
    monkeypatch.setenv("AMOS_NEO4J_URI", str(settings.neo4j_uri))
    assert settings.neo4j_password is not None
    monkeypatch.setenv("AMOS_NEO4J_PASSWORD", settings.neo4j_password.get_secret_value())
    analyst.connect()

    assert _atom(shard, "b1").ref == "b1"
    db.close_connection()
