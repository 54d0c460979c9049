"""What a packet tells of its making: what was left out and why, what held what back, and where depth ended.

Counts are of what the caller may see. What is hidden leaves no trace here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from amos_graph.domain.packets import Asked
from amos_graph.policy.components import POLICY_ID, WEIGHTS
from amos_graph.policy.ranking import speaks_against
from amos_graph.queries.recall.contents import ConflictRow
from amos_graph.queries.recall.search import Search

#: Refs that an omission names.
REFS_MAX: Final = 10
#: Inhibitions that a trace tells, those of selected atoms first.
INHIBITIONS_MAX: Final = 100


def omitted(asked: Asked, found: Search, conflicts: Sequence[ConflictRow]) -> list[dict[str, Any]]:
    """Why what could matter is not here."""
    # Always said, since saying it only where it applies would tell that something is hidden.
    omissions: list[dict[str, Any]] = [{"reason": "access_denied"}]
    displaced = found.bundle.displaced
    left = found.ranked - len(found.selected) - len(displaced)
    if left:
        omissions.append({"reason": "budget_exhausted", "count": left, "refs": list(found.beyond)})
    if displaced:
        reserved = [one.entry.id for one in found.bundle.places if one.reserved]
        told = {"count": len(displaced), "refs": list(displaced[:REFS_MAX]), "by": reserved}
        omissions.append({"reason": "displaced_by_reserved_place", **told})
    held = {
        **{_reason(state): refs for state, refs in sorted(found.found.suppressed.items())},
        **{_reason(health): refs for health, refs in sorted(found.withheld.items())},
        "not_valid_now": found.found.expired,
    }
    omissions += [
        {"reason": reason, "count": len(refs), "refs": list(refs[:REFS_MAX])}
        for reason, refs in held.items()
        if refs
    ]
    counts = {
        "request_filter": found.found.filtered,
        "not_connected": found.unconnected,
        "cue_terms_truncated": found.looked.terms.left_out,
    }
    omissions += [{"reason": reason, "count": count} for reason, count in counts.items() if count]
    wanted = asked.attention.counterevidence_required
    if wanted and not conflicts and not any(_counters(found)):
        omissions.append({"reason": "counterevidence_unavailable"})
    if found.found.truncated:
        omissions.append({"reason": "candidate_scan_truncated"})
    if found.found.stale:
        omissions.append({"reason": "derived_index_stale"})
    return omissions


def degradation(found: Search) -> dict[str, Any] | None:
    """Present where depth was reduced; text is indexed in the commit, so the index is never stale."""
    limits: Mapping[str, Callable[[Search], object]] = {
        "candidate_scan_truncated": lambda s: s.found.truncated,
        "derived_index_stale": lambda s: s.found.stale,
        "walk_truncated": lambda s: s.cut,
        "cue_terms_truncated": lambda s: s.looked.terms.left_out,
    }
    codes = [code for code, applies in limits.items() if applies(found)]
    if not codes:
        return None
    return {
        "pressure_mode": "green",
        "reduced_recall_depth": True,
        "omitted_evidence_detail": False,
        "index_freshness": "stale" if found.found.stale else "current",
        "reason_codes": codes,
    }


def trace(asked: Asked, found: Search, omissions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How attention, inhibition and the bundle made the packet (spec, "AttentionTrace")."""
    adjustments = [name for name in WEIGHTS if name.startswith("attention_")]
    told = found.inhibitions[:INHIBITIONS_MAX]
    return {
        "policy_id": POLICY_ID,
        "mode": "browse_by_context" if not asked.request.cues else "cue",
        "context": asked.attention.record(),
        "task_context": asked.request.task_context.record() if asked.request.task_context else None,
        "cue_terms": list(found.looked.cue.tokens),
        "focus_terms": list(found.looked.attention.focus),
        "suppress_terms": list(found.looked.attention.suppress),
        "entity_refs": sorted(found.found.entities),
        "entity_links": [link.record(found.texts) for link in found.found.links],
        "relation_refs": sorted(found.asked_for),
        "weight_adjustments": {name: WEIGHTS[name] for name in adjustments},
        "selected_item_refs": [entry.id for entry in found.selected],
        "inhibited_refs": list(dict.fromkeys(one.inhibited for one in told)),
        "inhibitions": [one.record() for one in told],
        "inhibitions_left_out": len(found.inhibitions) - len(told),
        "reserved_places": {
            one.role: one.entry.id for one in found.bundle.places if one.reserved and one.role
        },
        "omitted_reasons": [entry["reason"] for entry in omissions],
    }


def _counters(found: Search) -> list[bool]:
    return [speaks_against(entry.traits, entry.relevance) for entry in found.selected]


def _reason(state: str) -> str:
    return state if state == "superseded" else f"{state}_suppressed"
