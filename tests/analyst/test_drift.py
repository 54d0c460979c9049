"""Read models, constraints, and a populated graph say the same; when one moves, this fails."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any, Final, cast

import neo4j.time
import pytest
from neomodel import (
    ArrayProperty,
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    JSONProperty,
    StringProperty,
    StructuredNode,
)

from amos_graph.analyst import KINDS, LEFT_OUT, MODELS, Atom
from amos_graph.domain.atoms import PAYLOADS, validate_payload
from amos_graph.graph.transactions import Graph
from amos_graph.queries.verify import LABELS
from tests import administrator
from tests.domain.payloads import SAMPLES

#: neomodel types what its metaclass gives a class as unknown.
Model = type[Any]
_KIND_LABELS: Final = frozenset(model.label for model in PAYLOADS.values())
_HELD_AS: Final[dict[type[Any], type]] = {
    StringProperty: str,
    JSONProperty: str,
    BooleanProperty: bool,
    IntegerProperty: int,
    FloatProperty: float,
    ArrayProperty: list,
    DateTimeNeo4jFormatProperty: neo4j.time.DateTime,
}


def _properties(model: Model) -> dict[str, Any]:
    """Property of the node → neomodel's property."""
    defined = model.defined_properties(aliases=False, rels=False)
    return {found.get_db_property_name(name): found for name, found in defined.items()}


def _labels() -> set[str]:
    """The labels of the models but those of kinds."""
    models: tuple[Model, ...] = MODELS
    return {model.__label__ for model in models}


def _relationships(model: Model) -> Iterator[tuple[tuple[str, str, str], frozenset[str]]]:
    """(from, type, to) and the relationship's properties, for each relationship of a model."""
    for definition in model.defined_properties(aliases=False, properties=False).values():
        definition.lookup_node_class()
        found = definition.definition
        other, native, link = found["node_class"].__label__, found["relation_type"], found["model"]
        ends = (other, model.__label__) if found["direction"].value < 0 else (model.__label__, other)
        properties = frozenset(link.defined_properties()) if link else frozenset[str]()
        yield (ends[0], native, ends[1]), properties


def _nodes(graph: Graph, shard: str) -> list[tuple[list[str], dict[str, Any]]]:
    """Labels and properties of each node of the shard, of the built-in dictionary, and outside all shards."""
    rows = administrator.run(
        graph,
        "MATCH (n) WHERE n.shard IN [$shard, '_system/_system'] OR n:Migration OR n:Canary "
        "RETURN labels(n) AS labels, properties(n) AS properties",
        shard=shard,
    )
    return [(row["labels"], row["properties"]) for row in rows]


def test_every_label_has_a_model_and_every_model_its_label(graph: Graph, shard: str) -> None:
    """The graph's labels, those that verification knows, and those of the models are the same ones."""
    written = {label for labels, _ in _nodes(graph, shard) for label in labels}
    models = _labels()

    assert written - _KIND_LABELS == models | {"Live"}
    kinds: list[Model] = list(KINDS.values())
    assert {kind.__label__ for kind in kinds} == _KIND_LABELS
    assert set(LABELS) == models | _KIND_LABELS | {"Live"}
    atom: Model = Atom
    assert atom.inherited_optional_labels() == ["Live"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__label__)
def test_a_model_has_the_properties_of_its_nodes(graph: Graph, shard: str, model: Model) -> None:
    """Both ways: no property of a node is missing in its model, and none of a model is on no node."""
    label = model.__label__
    nodes = [(labels, set(held)) for labels, held in _nodes(graph, shard) if label in labels]
    lifted = {name for kind in KINDS.values() for name in _properties(kind)} if model is Atom else set[str]()
    found = {name for _, held in nodes for name in held}
    known = set(_properties(model))

    assert found - known - lifted == LEFT_OUT.get(label, frozenset())
    assert known - found == set()
    for labels, held in nodes:
        kinds: list[Model] = list(KINDS.values())
        for kind in kinds:
            if kind.__label__ in labels:
                assert held <= set(_properties(kind))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__label__)
def test_a_property_is_of_the_type_that_the_nodes_hold(graph: Graph, shard: str, model: Model) -> None:
    """Each value is what neomodel's property takes it for, and reads back; JSON text is JSON."""
    for labels, held in _nodes(graph, shard):
        if model.__label__ in labels:
            for name, found in _properties(model).items():
                if name in held:
                    assert type(held[name]) is _HELD_AS[type(found)], name
                    assert not isinstance(found, JSONProperty) or isinstance(
                        json.loads(held[name]), (dict, list)
                    )


@pytest.mark.parametrize("atom_type", PAYLOADS)
def test_a_lifted_property_is_of_the_type_that_is_lifted(atom_type: str) -> None:
    """What is lifted from a sample of each type passes through its model unchanged, and is not hidden."""
    lifted = validate_payload(atom_type, SAMPLES[atom_type]).lifted_values()
    known = _properties(KINDS[atom_type])
    read = {name: known[name].inflate(value) for name, value in lifted.items()}

    assert read == lifted
    assert {name: type(value) for name, value in read.items()} == {
        name: type(value) for name, value in lifted.items()
    }
    # A field that is named like a method of neomodel's would hide it.
    assert set(PAYLOADS[atom_type].lifted) & set(dir(StructuredNode)) == set()


def test_relationships_are_those_of_the_graph(graph: Graph, shard: str) -> None:
    """Both ways: each pair of labels with its type and the relationship's properties."""
    rows = administrator.run(
        graph,
        "MATCH (a {shard: $shard})-[r]->(b) "
        "RETURN DISTINCT labels(a) AS a, type(r) AS type, labels(b) AS b, keys(r) AS keys",
        shard=shard,
    )
    own = _labels()
    found = {
        ((_own(row["a"], own), row["type"], _own(row["b"], own)), frozenset(cast("list[str]", row["keys"])))
        for row in rows
    }
    models = {relationship for model in MODELS for relationship in _relationships(model)}

    assert found == models


def _own(labels: list[str], own: set[str]) -> str:
    (label,) = set(labels) & own
    return label


def test_unique_keys_are_the_constraints(graph: Graph) -> None:
    """Both ways: each constraint of the store is a key of its model, and each key of a model a constraint."""
    rows = administrator.run(
        graph, "SHOW CONSTRAINTS YIELD labelsOrTypes AS labels, properties, type RETURN *"
    )
    constraints = {(row["labels"][0], tuple(row["properties"])) for row in rows}

    assert all("UNIQUENESS" in row["type"] for row in rows)
    models: tuple[Model, ...] = MODELS
    assert {(model.__label__, key) for model in models for key in model.unique} == constraints


def test_neomodel_makes_no_schema() -> None:
    """No property asks neomodel for a constraint or an index: `constraints/` alone makes the schema."""
    for model in (*MODELS, *KINDS.values()):
        for found in _properties(model).values():
            asked = (found.unique_index, found.index, found.fulltext_index, found.vector_index)
            assert not any(asked)


def test_every_model_says_what_it_is() -> None:
    """The diagram and a notebook's help take the sentence of its docstring."""
    for model in (*MODELS, *KINDS.values()):
        assert (inspect.getdoc(model) or "").strip().rstrip(".")
