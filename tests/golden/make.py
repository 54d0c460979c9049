"""Make the golden store of this version: `python -m tests.golden.make`, once, when a version is released.

A fixture that was released is never made again: that later versions still read it is what it is for.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import amos_graph
from amos_graph.commands.archive import archive
from amos_graph.commands.clients import register_client, revoke_client
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.dictionary import prepare
from amos_graph.domain.atoms import PAYLOADS
from amos_graph.domain.canonical import canonical_text
from amos_graph.graph.local import LocalNeo4j
from amos_graph.graph.migrations import shipped
from amos_graph.graph.transactions import Graph
from amos_graph.queries.digest import graph_digest
from amos_graph.queries.verify import checkpoint_of, verify
from amos_graph.settings import Settings
from amos_graph.upkeep.export import export
from tests.administrator import wipe
from tests.domain.payloads import SAMPLES
from tests.faults.service import Store
from tests.samples import belief, interaction, source_event
from tests.server import SMALL, Server

TENANT: Final = "golden"
SHARD: Final = f"{TENANT}/w"
LINE_BYTES_MAX: Final = 10_000_000
FOLDER: Final = Path(__file__).resolve().parent
_CONFIDENCE: Final = {"level": "high", "score": 0.9, "basis": {"source_type": "note", "evidence_count": 1}}
_NARROW: Final = {"project_id": "harbour", "agent_id": "planner"}
_POLICY: Final = {"allowed_identities": ["svc:test"], "denied_identities": ["svc:other"]}


def tell(store: Store, graph: Graph) -> None:
    """Every kind of record, every type of atom that a command may write, and every event type."""
    context = store.context(graph, {})
    cited = sorted({ref for sample in SAMPLES.values() for ref in _evidence_in(sample)})
    events = [source_event(ref, payload={"text": f"what {ref} says"}) for ref in cited]
    events += [source_event(), source_event("evd_long", payload={"text": "a long report. " * 800})]
    commit(
        context,
        {
            "events": [*events, source_event("evd_kept", access_policy=_POLICY)],
            "entities": [
                {"id": "ent:person:ada", "aliases": ["Countess"], "external_refs": ["https://example.org"]},
                {"id": "ent:person:ada2", "merged_into": "ent:person:ada"},
            ],
            "relations": [
                {"id": "rel:moors_at", "kind": "edge", "description": "lies at", "spread_weight": 0.3},
                {"id": "rel:built_in", "kind": "payload", "description": "was built in"},
            ],
            "enums": [{"id": "enum:weather:calm", "description": "no wind"}],
        },
    )
    for kind, payload in SAMPLES.items():
        if not PAYLOADS[kind].guard and kind != "interaction_event":
            commit(context, {"atoms": [_atom(f"one:{kind}", kind, payload)]})
    said = [interaction("c1", number, id=f"said{number}") for number in (1, 2, 3)]
    commit(store.context(graph, {"key": "said"}), {"atoms": said})
    commit(context, {"atoms": [belief(id="b1"), belief(id="b2", payload={"object": "ent:project:pier"})]})
    asked = [{"relation": "rel:supports", "target_ref": "b1"}, {"relation": "rel:causes", "target_ref": "b2"}]
    corrected = belief(id="b3", payload={"object": "ent:project:quay", "graph_relations": asked})
    commit(context, {"atoms": [{**corrected, "supersedes": ["b2"], "evidence_refs": ["evd_long"]}]})
    commit(
        context, {"edges": [_edge("b1", "rel:moors_at", "one:semantic"), _edge("b3", "rel:requires", "b1")]}
    )
    # Versions of an atom, of an entity, of a relation, and an edge of its own that is dropped.
    later = belief(id="b3", version=1, payload={"object": "ent:project:quay", "graph_relations": asked[:1]})
    commit(context, {"atoms": [{**later, "supersedes": ["b2"], "access_policy": _POLICY}]})
    commit(context, {"entities": [{"id": "ent:project:quay", "aliases": ["the quay"], "version": 1}]})
    parts = {"id": "ent:project:pier", "split_into": ["ent:project:quay", "ent:project:amos"], "version": 1}
    commit(context, {"entities": [parts, {"id": "ent:person:countess", "merged_into": "ent:person:ada"}]})
    commit(context, {"atoms": [belief(evidence_refs=["evd_kept"], scope=_NARROW)]})
    stale = belief(
        id="b4", payload={"object": "half"}, health_status="stale", observed_at="2026-01-01T00:00:00Z"
    )
    commit(context, {"atoms": [stale], "edges": [_edge("b1", "rel:contradicts", "b4")]})
    commit(context, {"atoms": [belief(evidence_refs=["evd_long"])]})
    propose(context, {"candidates": [belief(id="p1", payload={"object": "perhaps"})]})
    archive(store.context(graph, {"key": "away"}), {"atom_id": "b1", "reason": "the harbour was closed"})
    for name in ("cli_one", "cli_two"):
        register_client(context, {"id": name, "service_id": "svc:one", "capabilities": ["memory.read"]})
    revoke_client(context, "cli_two")


def _evidence_in(value: Any) -> list[str]:
    return [ref.strip('"') for ref in re.findall(r'"evd_[A-Za-z0-9_-]+"', canonical_text(value))]


def _atom(ref: str, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": ref,
        "type": kind,
        "payload": payload,
        "evidence_refs": ["evd_turn1"],
        "confidence": _CONFIDENCE,
        "salience": 0.7,
        "utility": 0.4,
    }


def _edge(source: str, relation: str, target: str) -> dict[str, Any]:
    ends = {"source_ref": source, "relation": relation, "target_ref": target}
    return {**ends, "evidence_refs": ["evd_turn1"], "confidence": _CONFIDENCE}


def _main() -> None:
    folder = FOLDER / amos_graph.__version__
    with tempfile.TemporaryDirectory() as home:
        local = LocalNeo4j(Path(home), options=SMALL)
        running = local.start()
        store = Store(Server(running.uri, running.user, running.password), Path(home), TENANT)
        graph = store.graph()
        try:
            prepare(graph, Settings.model_validate({"home": home}))
            wipe(graph, SHARD)
            tell(store, graph)
            report = verify(graph, SHARD)
            if not report.ok:
                sys.exit(json.dumps(report.record(), indent=2))
            folder.mkdir(exist_ok=True)
            archived = store.context(graph, {}).archive
            export(graph, archived, [SHARD], folder / "journal.jsonl", line_bytes_max=LINE_BYTES_MAX)
            expected = {
                "checkpoint": checkpoint_of(graph, SHARD),
                "digest": graph_digest(graph, SHARD).digest,
                "records": dict(sorted(report.records.items())),
                "schema": shipped()[-1].name,
            }
            (folder / "expected.json").write_text(canonical_text(expected) + "\n", encoding="utf-8")
        finally:
            graph.close()
            local.stop()


if __name__ == "__main__":
    _main()
