"""Roles are sets of capabilities, and nobody grants more than they have."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from amos_graph.commands.clients import register_client
from amos_graph.commands.execution import Context
from amos_graph.domain.client import ClientRecord
from amos_graph.domain.model import validate
from amos_graph.domain.roles import ROLES
from amos_graph.domain.scope import CAPABILITIES, TRUST_MAX, Identity
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.policy.access import Question, rule
from amos_graph.queries.clients import identify

SCOPE = {"tenant_id": "t", "workspace_id": "w"}


def record(**changes: Any) -> ClientRecord:
    return validate(ClientRecord, {"id": "cli_x", "service_id": "svc:x", "scope": SCOPE, **changes})


def test_the_roles_are_those_of_the_specification() -> None:
    """Seven roles, each of capabilities that exist."""
    assert set(ROLES) == {
        "reasoner",
        "planner",
        "executor",
        "critic",
        "steward",
        "user_interface",
        "admin",
    }
    assert all(role.capabilities <= CAPABILITIES.keys() for role in ROLES.values())
    assert ROLES["admin"].capabilities == CAPABILITIES.keys()


@pytest.mark.parametrize("name", ROLES)
def test_a_role_brings_its_capabilities_and_its_trust(name: str) -> None:
    """What a registration states itself wins; another process type states its capabilities."""
    made = record(process_type=name)
    assert set(made.capabilities) == ROLES[name].capabilities
    assert made.trust_level == ROLES[name].trust_level
    narrowed = record(process_type=name, capabilities=["memory.read"], trust_level=0)
    assert (narrowed.capabilities, narrowed.trust_level) == (["memory.read"], 0)


def test_a_process_type_that_is_no_role_states_its_capabilities() -> None:
    """Nothing is granted by a name that stands for nothing."""
    with pytest.raises(AmosError) as refused:
        record(process_type="wizard")
    assert refused.value.faults[0].path == "capabilities"


@pytest.mark.parametrize("name", ["reasoner", "planner", "executor", "critic"])
@pytest.mark.parametrize("capability", ["atom.commit", "atom.archive", "atom.govern", "token.manage"])
def test_those_who_think_and_act_change_nothing_directly(
    name: str, capability: str, caller: Identity
) -> None:
    """Reading implies no changing: reasoners and planners propose, executors capture, critics flag."""
    made = record(process_type=name)
    who = replace(caller, capabilities=frozenset(made.capabilities), trust_level=made.trust_level)
    asked = Question(who, caller.scope, caller.scope, None, act="change", capability=capability)
    assert rule(replace(asked, act="read")).allowed
    assert rule(asked).rule == "mutation_apart"


def test_nobody_grants_more_trust_than_they_have(context: Context, graph: Graph) -> None:
    """Trust is granted like capabilities: up to one's own."""
    who = replace(context, identity=replace(context.identity, trust_level=3))
    asked = {"id": "cli_made", "service_id": "svc:made", "process_type": "reasoner"}
    with pytest.raises(AmosError) as refused:
        register_client(who, {**asked, "trust_level": 4})
    assert (refused.value.code, refused.value.faults[0].path) == ("authorization_denied", "trust_level")
    made = register_client(who, {**asked, "trust_level": 3})
    found = identify(graph, made.token)
    assert (found.process_type, found.trust_level) == ("reasoner", 3)
    assert found.capabilities == ROLES["reasoner"].capabilities


@pytest.mark.parametrize("level", [-1, TRUST_MAX + 1, "high"])
def test_a_trust_level_has_bounds(level: object) -> None:
    """Beyond 0 to 10 there is no trust."""
    with pytest.raises(AmosError) as refused:
        partial(record, process_type="reasoner", trust_level=level)()
    assert refused.value.faults[0].path == "trust_level"
