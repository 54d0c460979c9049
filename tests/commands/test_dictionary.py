"""The built-in dictionary: journaled once, in a shard that no caller reaches."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from amos_graph.commands.dictionary import SYSTEM_SCOPE, seed_dictionary
from amos_graph.domain.dictionary import ENUMS, RELATIONS
from amos_graph.domain.scope import Scope
from amos_graph.graph.transactions import Graph
from amos_graph.queries.verify import verify
from amos_graph.settings import Settings


def test_the_dictionary_is_seeded_once_and_verifies(graph: Graph, settings: Settings) -> None:
    """Seeding again writes no event, and the system shard verifies like any other."""
    seed_dictionary(graph, settings)
    again = seed_dictionary(graph, settings).record

    report = verify(graph, SYSTEM_SCOPE.shard)
    assert (again["event_ids"], [fault.record() for fault in report.faults]) == ([], [])
    assert (len(RELATIONS), len(ENUMS)) == (report.records["relation"], report.records["enum"])


def test_no_scope_of_a_caller_names_the_system_shard() -> None:
    """The tenant of the system shard is not a tenant id."""
    with pytest.raises(ValidationError):
        Scope(tenant_id="_system", workspace_id="_system")
