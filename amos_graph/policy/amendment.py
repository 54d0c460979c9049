"""What a constitutional record may become: its successor keeps what protects it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from amos_graph.policy.diachronic import Bar
from amos_graph.policy.ratification import GUIDANCE, Check, Judged, derived_diff

#: A rule that speaks of one of these is not taken away and not reworded by the transition that it binds.
_KEPT_RULES: Final = re.compile(r"audit|incident|disclos|evidence", re.IGNORECASE)


def _payloads(case: Judged) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    assert case.predecessor is not None, "a replacement has a record that it replaces"  # noqa: S101
    return case.predecessor.body["payload"], case.proposal.body["payload"]


def _in_force(case: Judged) -> str | None:
    current = case.predecessor
    sound = (
        current is not None
        and current.body["type"] in GUIDANCE
        and current.body["lifecycle_state"] == "active"
        and not current.superseded
    )
    return None if sound else "what is to be replaced is no constitutional record in force"


def _linked(case: Judged) -> str | None:
    current, successor = case.predecessor, case.proposal.body
    assert current is not None, "checked before"  # noqa: S101
    if successor["type"] != current.body["type"] or successor["scope"] != current.body["scope"]:
        return "a successor has the type and the scope of its predecessor"
    payload = successor["payload"]
    if payload.get("predecessor_ref") != current.ref:
        return "the successor names another predecessor"
    if payload.get("predecessor_diff") != derived_diff(successor, current.body):
        return "the successor's predecessor_diff is not the exact difference"
    return None


def _amendable(case: Judged) -> str | None:
    before, _ = _payloads(case)
    if before["amendability"] == "immutable":
        return "the record is immutable"
    wanted: list[str] = before["amendment_requirements"].get("required_capabilities") or []
    lacking = [name for name in wanted if not case.identity.may(name)]
    return f"its amendment demands {', '.join(lacking)}" if lacking else None


def _protected(case: Judged) -> str | None:
    before, after = _payloads(case)
    touched = [name for name in before["protected_fields"] if before.get(name) != after.get(name)]
    return f"protected: {', '.join(touched)}" if touched else None


def _precedence(case: Judged) -> str | None:
    before, after = _payloads(case)
    if after["precedence"] > before["precedence"]:
        return "a successor takes no higher precedence than its predecessor had"
    highest = max((one.body["payload"]["precedence"] for one in case.cited.values()), default=-1)
    return None if highest >= before["precedence"] else "no guidance of its precedence or higher is cited"


def _weakened(case: Judged) -> str | None:
    before, after = _payloads(case)
    old, new = before["amendment_requirements"], after["amendment_requirements"]
    asked, kept = (Bar().raised(one.get("ratification_threshold")) for one in (old, new))
    if not kept.covers(asked):
        return "it would take less to amend the successor"
    for name in ("required_capabilities", "conditions"):
        if set(old.get(name) or ()) - set(new.get(name) or ()):
            return f"the successor lacks {name} of its amendment"
    if set(before["protected_fields"]) - set(after["protected_fields"]):
        return "the successor protects less"
    lost = {rule for rule in before["interpretive_rules"] if _KEPT_RULES.search(rule)}
    if lost - set(after["interpretive_rules"]):
        return "a rule on audit, incidents, disclosure or evidence would be lost"
    order = ("amendable", "entrenched", "immutable")
    if order.index(after["amendability"]) < order.index(before["amendability"]):
        return "the successor is easier to amend"
    return None


#: Beside the checks of an adoption; the first ones are what the others rest on.
FIRST: Final[Mapping[str, Check]] = {"in_force": _in_force}
AMENDING: Final[Mapping[str, Check]] = {
    "predecessor": _linked,
    "amendability": _amendable,
    "protected_fields": _protected,
    "precedence": _precedence,
    "self_weakening": _weakened,
}
