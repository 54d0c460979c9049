"""A populated shard for the read models, and their connection to it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from neomodel import db

from amos_graph import analyst
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, SCOPE_FIELDS, Identity, Scope
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.health import check_ready
from amos_graph.settings import Settings
from tests.laws.populated import populate
from tests.samples import belief, source_event


@pytest.fixture(scope="module")
def shard(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A shard with every label, relationship type and property, in a store that serves."""
    scope = Scope(tenant_id=f"t{uuid.uuid4().hex[:12]}", workspace_id="w")
    identity = Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES))
    folder = tmp_path_factory.mktemp("analyst")
    settings = Settings.model_validate({"home": folder})
    populate(Context(graph, settings, Archive(folder), identity, scope))
    _narrow(Context(graph, settings, Archive(folder), identity, _within(identity), idempotency_key="k"))
    check_ready(graph)
    return scope.shard


def _within(identity: Identity) -> Scope:
    return identity.within({name: f"{name}:1" for name in SCOPE_FIELDS[2:]})


def _narrow(context: Context) -> None:
    """What `populate` leaves out: an edge in the narrowest scope, and a command with a key."""
    ends = [belief(id=name, evidence_refs=["evd_narrow2"], payload={"object": name}) for name in ("n1", "n2")]
    edge = {
        "source_ref": "n1",
        "target_ref": "n2",
        "relation": "rel:supports",
        "confidence": {"level": "high"},
        "evidence_refs": ["evd_narrow2"],
    }
    commit(context, {"events": [source_event("evd_narrow2")], "atoms": ends, "edges": [edge]})


@pytest.fixture
def connected(graph: Graph) -> Iterator[None]:
    """The read models, bound to the session's Neo4j."""
    analyst.connect(graph.driver, graph.database)
    yield
    db.close_connection()
    # The driver is the caller's, and stays open.
    graph.driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
