"""Text that means something to Cypher, Lucene or a regex is data wherever a command takes text (T23)."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, LiteralString, cast

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from tests.conftest import ContextOf
from tests.faults.crowd import attempt
from tests.faults.journal import checked_journal, contents, newest, rows
from tests.samples import belief, source_event

CORPUS = {
    "single quote": "x' DETACH DELETE n //",
    "double quote": 'x" DETACH DELETE n //',
    "backtick": "X`) DETACH DELETE n //",
    "escaped backtick": "X\\u0060) DETACH DELETE n //",
    "escaped quote": "x\\u0027}) DETACH DELETE n //",
    "escaped keyword": "M\\u0041TCH (n) DETACH DELETE n",
    "label": "Atom:Live:Journal",
    "block comment": "x */ MATCH (n) DETACH DELETE n /*",
    "dynamic label": "$(['Journal', 'Event'])",
    "parameter": "$shard} ) RETURN 1 //",
    "load": "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "procedure": "CALL dbms.listConfig() YIELD name RETURN name",
    "all documents": "*:*",
    "field": "shard_key:* OR access_class:*",
    "fuzzy": 'a~ AND (b^9 NOT "c',
    "regex": "/.*/",
    "brackets": "[a TO z} {1 TO 2]",
    "catastrophic": "(a+)+$",
    "format": "{0.__class__} %s %(shard)s",
    "path": "../../../etc/passwd",
}
SAFE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def _request() -> dict[str, Any]:
    """A commit that fills every string field that there is."""
    confidence = {"level": "high", "score": 0.9, "basis": {"notes": "n"}}
    policy = {
        "allowed_identities": ["svc:test"],
        "denied_identities": ["svc:evil"],
        "allowed_capabilities": ["atom.commit"],
        "denied_capabilities": ["cap"],
        "processor_visibility": ["all"],
    }
    common = {"evidence_refs": ["evd_turn1"], "confidence": confidence}
    return {
        "events": [source_event(access_policy=policy, captured_at="2026-01-01T00:00:00Z")],
        "relations": [
            {"id": "rel:likes_best", "kind": "edge", "description": "d", "inverse": "rel:liked_by"}
        ],
        "enums": [{"id": "enum:mood:calm", "description": "d"}],
        "entities": [
            {
                "id": "ent:person:ada",
                "type": "person",
                "canonical_name": "Ada",
                "labels": ["l"],
                "aliases": ["a"],
                "external_refs": ["https://example.org"],
            }
        ],
        "atoms": [
            belief(
                id="a1",
                **common,
                access_policy=policy,
                layer="consolidated_long_term",
                retention_class="project",
                health_status="healthy",
                observed_at="2026-01-01T00:00:00Z",
                decay_policy={"kind": "none"},
                index_refs={"text": "t"},
                scope={"project_id": "p", "user_id": "u", "agent_id": "g", "session_id": "s", "task_id": "k"},
                payload={
                    "qualifiers": {
                        "note": "n",
                        "typed": {"value_type": "external_uri", "value": "https://e.org"},
                    },
                    "semantic_facets": {"facet": "f"},
                    "validity_interval": {"from": "2026-01-01T00:00:00Z"},
                    "graph_relations": [
                        {"relation": "rel:supports", "target_ref": "a2", "qualifiers": {"q": "v"}}
                    ],
                },
            ),
            belief(id="a2", **common, payload={"object": "two"}),
            {
                "id": "a3",
                "type": "interaction_event",
                **common,
                "payload": {
                    "conversation_id": "c",
                    "sequence": 1,
                    "actor": "agent one",
                    "role": "assistant",
                    "content": "said",
                    "tool_calls": [{"id": "t1", "name": "grep", "arguments": {"pattern": "p"}}],
                },
            },
        ],
        "edges": [
            {
                "edge_id": "edge_1",
                "source_ref": "a1",
                "target_ref": "a2",
                "relation": "rel:likes_best",
                **common,
            }
        ],
    }


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every string in a value, and of every key, marked by a last step of None."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, list):
        for index, member in enumerate(cast("list[Any]", value)):
            yield from _places(member, (*path, index))
    elif isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            yield (*path, key, None)
            yield from _places(member, (*path, key))


def _with(request: dict[str, Any], path: tuple[Any, ...], text: str) -> dict[str, Any]:
    changed = copy.deepcopy(request)
    *above, last = path[:-1] if path[-1] is None else path
    holder: Any = changed
    for step in above:
        holder = holder[step]
    if path[-1] is None:
        holder[text] = holder.pop(last)
    else:
        holder[last] = text
    return changed


def _shown(path: tuple[Any, ...]) -> str:
    return ".".join("key" if step is None else str(step) for step in path)


PLACES = {_shown(path): path for path in _places(_request())}


def _schema(graph: Graph) -> list[Any]:
    shown: list[LiteralString] = [
        "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties",
        "SHOW INDEXES YIELD name, type, labelsOrTypes, properties",
    ]
    return [sorted(rows(graph, query), key=repr) for query in shown]


def _names(graph: Graph) -> set[str]:
    labels = rows(graph, "CALL db.labels() YIELD label AS name RETURN name")
    types = rows(graph, "CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name")
    return {row["name"] for row in (*labels, *types)}


def _identity(tenant: str) -> Identity:
    scope = Scope(tenant_id=tenant, workspace_id="w")
    return Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES))


def _scoped(request: dict[str, Any], tenant: str) -> dict[str, Any]:
    scope: dict[str, Any] | None = request["atoms"][0].get("scope")
    if scope is not None:
        scope |= {"tenant_id": tenant, "workspace_id": "w"}
    return request


def _turn(offset: int) -> list[str]:
    """Another text for each place, so that the turns together put every text into every place."""
    texts = list(CORPUS.values())
    return [texts[(number + offset) % len(texts)] for number in range(len(PLACES))]


# One turn meets each place with one text and each text with five places; all turns are the whole product.
@pytest.mark.reliability("T23")
@pytest.mark.case("C76")
@pytest.mark.parametrize(
    "turn", [0, *(pytest.param(turn, marks=pytest.mark.soak) for turn in range(1, len(CORPUS)))]
)
def test_hostile_text_in_any_field_is_data_or_refused(
    context_of: ContextOf, graph: Graph, tenant: str, turn: int
) -> None:
    """In each field and each key of a commit: stored letter for letter, or a 4xx that changes nothing."""
    canary = context_of()
    commit(canary, {"events": [source_event()], "atoms": [belief(id="canary")]})
    full = context_of(_identity(f"{tenant}full"))
    plain = commit(full, _scoped(_request(), f"{tenant}full"))
    assert len(plain.record["atom_refs"]) == 3, "the unchanged request is a good one"
    schema, names = _schema(graph), _names(graph)
    standing = contents(graph, f"{tenant}/w")
    labels = contents(graph, f"{tenant}full/w").keys()
    stored = 0

    for number, ((shown, path), text) in enumerate(zip(PLACES.items(), _turn(turn), strict=True)):
        own = f"{tenant}n{number}"
        request = _with(_scoped(_request(), own), path, text)
        tried = attempt(partial(commit, context_of(_identity(own)), request))
        if tried.error:
            assert 400 <= tried.error.status < 500, f"{shown}: {tried.error}"
            assert contents(graph, f"{own}/w") == {}, shown
        else:
            stored += 1
            found = json.dumps(list(newest(graph, f"{own}/w").values()), ensure_ascii=False)
            assert json.dumps(text, ensure_ascii=False)[1:-1] in found, f"{shown}: not kept as it was sent"
            assert contents(graph, f"{own}/w").keys() <= labels, shown
            checked_journal(graph, f"{own}/w")

    assert stored >= 10, "free text is taken somewhere"
    assert _schema(graph) == schema
    assert all(SAFE_NAME.fullmatch(found) for found in _names(graph) - names)
    assert contents(graph, f"{tenant}/w") == standing


@pytest.mark.reliability("T23")
@pytest.mark.case("C76")
@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS)
def test_hostile_text_in_an_envelope_is_data_or_refused(
    context_of: ContextOf, graph: Graph, tenant: str, text: str
) -> None:
    """Keys, expected versions, causes, reasons, filters and cursors: an answer or a 4xx, and nothing else."""
    commit(context_of(), {"events": [source_event()], "atoms": [belief(id="a")]})
    schema = _schema(graph)

    def calls() -> Iterator[Any]:
        request = {"atoms": [belief(id="b", payload={"object": text})]}
        yield lambda: commit(context_of(idempotency_key=text), request)
        yield lambda: commit(context_of(expected_versions={text: 1}), request)
        yield lambda: commit(context_of(causal_parent_ids=(text,)), request)
        yield lambda: commit(context_of(scope={"project_id": text}), request)
        yield lambda: propose(context_of(), {"candidates": [belief(payload={"object": text})]})
        yield lambda: archive(context_of(), {"atom_id": text, "reason": text})
        yield lambda: archive(context_of(), {"atom_id": "a", "reason": text})
        yield lambda: get_atom(context_of(), {"atom_id": text, "target_processor": text})
        for field in ("types", "lifecycle_states", "health_statuses"):
            yield lambda field=field: list_atoms(context_of(), {field: [text]})
        for field in ("subject", "relation", "entity", "valid_at", "cursor"):
            yield lambda field=field: list_atoms(context_of(), {field: text})

    for call in calls():
        tried = attempt(call)
        assert tried.error is None or 400 <= tried.error.status < 500

    assert _schema(graph) == schema
    # A proposal leaves the active atom that says the same alone, and is a record of its own.
    assert contents(graph, f"{tenant}/w")["Atom"] == 3
    checked_journal(graph, f"{tenant}/w")


@pytest.mark.case("C76")
@pytest.mark.parametrize(
    "relation", ["rel:next", "rel:head", "rel:of", "rel:evidenced_by", "rel:refers_to", "rel:wrote"]
)
def test_no_relation_takes_a_type_that_the_store_is_built_of(context: Context, relation: str) -> None:
    """A shard cannot define a relation whose relationship would pass for the journal's own."""
    with pytest.raises(AmosError, match="schema_invalid"):
        commit(context, {"relations": [{"id": relation, "kind": "edge", "description": "d"}]})
