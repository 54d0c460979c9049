"""How much an operation may spoil: the spec's risk tiers, for operations and for changes of a record."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from amos_graph.domain.state import Current
from amos_graph.errors import AmosError

Risk = Literal["low", "medium", "high"]

#: Operation → the least risk that it has; what it changes may raise it (`risk_of_change`).
OPERATION_RISKS: Final[Mapping[str, Risk]] = MappingProxyType(
    {
        "capture_events": "low",
        "propose_atoms": "low",
        "commit_atoms": "low",
        "record_outcome": "low",
        "record_artifact": "low",
        "archive_atom": "medium",
        "restore_atom": "medium",
        "expire_artifacts": "medium",
        "govern_atom": "high",
        "decide_refusal": "high",
        "record_genesis": "high",
        "ratify_proposal": "high",
        "resolve_proposal": "high",
        "replace_constitutional_record": "high",
        "register_client": "medium",
        "revoke_client": "medium",
    }
)

#: Types whose active atoms steer what agents do; to replace or to supersede one is to alter its claim.
STEERING: Final = frozenset({"preference", "policy", "value", "commitment", "procedure", "goal", "belief"})
#: Those of which a new payload alone is a change of high risk: what people correct, and what binds.
CORRECTED: Final = STEERING - {"goal", "belief"}
#: Changes of these are high risk, whatever the type (spec, "Review-required actions").
_GOVERNED: Final = ("access_policy", "retention_class")


def marked(error: AmosError, visible: Mapping[str, Current]) -> AmosError:
    """A conflict over a claim that agents act on says that it is of high risk, so that it is kept."""
    target = visible.get(error.details.get("target_ref", ""))
    conflict = error.code == "expected_version_conflict"
    if conflict and target is not None and target.body.get("type") in CORRECTED:
        error.details["risk"] = "high"
    return error


def risk_of_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> Risk:
    """The risk of bringing an atom from one body to the next (spec, its three tiers)."""
    if any(before.get(name) != after.get(name) for name in _GOVERNED):
        return "high"
    kind = before["type"]
    if before["payload"] != after["payload"]:
        return "high" if kind in CORRECTED else "medium"
    if before["health_status"] != after["health_status"]:
        falsified = kind == "belief" and after["health_status"] == "contradicted"
        return "high" if falsified else "medium"
    if kind == "procedure" and before["layer"] != after["layer"]:
        return "high"
    return "low" if before["lifecycle_state"] == after["lifecycle_state"] else "medium"


def risk_of_supersession(target: Mapping[str, Any], source: Mapping[str, Any] | None) -> Risk:
    """The risk of putting an atom in the place of another: what steers is altered, or made wider in scope."""
    if target["type"] in STEERING:
        return "high"
    wider = source is not None and set(source["scope"]) < set(target["scope"])
    return "high" if wider else "medium"
