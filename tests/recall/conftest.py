"""A context that the tests of one module share, for graphs that are loaded once and only read."""

from __future__ import annotations

import uuid

import pytest

from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.settings import Settings


@pytest.fixture(scope="module")
def module_context(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Context:
    """The context of an ordinary call in a tenant that this module has to itself."""
    scope = Scope(tenant_id=f"t{uuid.uuid4().hex[:12]}", workspace_id="w")
    identity = Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES))
    folder = tmp_path_factory.mktemp("recall")
    return Context(graph, Settings.model_validate({"home": folder}), Archive(folder), identity, scope)
