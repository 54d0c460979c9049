"""Layers, lifecycle, health and retention: the spec's names, and what each means, as data."""

from __future__ import annotations

from typing import Final, Literal, get_args

from amos_graph.errors import AmosError, Fault

Layer = Literal[
    "immediate", "working", "session", "recent_episodic", "consolidated_long_term", "cold_evidence_archive"
]
LifecycleState = Literal["proposed", "active", "archived", "tombstoned", "deleted"]
EdgeLifecycleState = Literal["proposed", "active", "detached", "archived", "tombstoned", "deleted"]
HealthStatus = Literal[
    "healthy",
    "stale",
    "redundant",
    "contradicted",
    "incoherent",
    "orphaned",
    "confounding",
    "overgeneralized",
    "underspecified",
    "low_utility",
    "privacy_sensitive",
    "review_required",
]
#: The spec's own edge example is `trusted`, a status that its table of atom health lacks.
EdgeHealthStatus = Literal[
    "trusted",
    "healthy",
    "stale",
    "redundant",
    "contradicted",
    "incoherent",
    "orphaned",
    "confounding",
    "overgeneralized",
    "underspecified",
    "low_utility",
    "privacy_sensitive",
    "review_required",
]
RetentionClass = Literal["ephemeral", "session", "recent", "project", "durable", "compliance", "user_pinned"]

LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)
LIFECYCLE_STATES: Final[tuple[LifecycleState, ...]] = get_args(LifecycleState)
EDGE_LIFECYCLE_STATES: Final[tuple[EdgeLifecycleState, ...]] = get_args(EdgeLifecycleState)
HEALTH_STATUSES: Final[tuple[HealthStatus, ...]] = get_args(HealthStatus)
EDGE_HEALTH_STATUSES: Final[tuple[EdgeHealthStatus, ...]] = get_args(EdgeHealthStatus)
RETENTION_CLASSES: Final[tuple[RetentionClass, ...]] = get_args(RetentionClass)

#: The sentence that the dictionary shows for each value, by group.
MEANINGS: Final[dict[str, dict[str, str]]] = {
    "layer": {
        "immediate": "raw current percepts, current user turn, current tool output, transient observations",
        "working": "active task state, current plan, constraints, open questions, active entities",
        "session": "accumulated state across the current interaction or task episode",
        "recent_episodic": "high-fidelity compressed traces from recent sessions and tasks",
        "consolidated_long_term": "stable beliefs, preferences, semantic knowledge, procedures, models",
        "cold_evidence_archive": "raw transcripts, documents, traces, files, logs, screenshots, tool results",
    },
    "lifecycle_state": {
        "proposed": "candidate extracted from evidence but not committed to active memory",
        "active": "committed and eligible for ordinary retrieval",
        "archived": "retained outside ordinary retrieval, for audit, history or deep retrieval",
        "tombstoned": "minimal marker retained to prevent silent recreation or preserve required audit",
        "deleted": "payload removed or rendered unrecoverable under policy",
    },
    "health_status": {
        "healthy": "eligible for normal retrieval",
        "stale": "excluded unless timeline, history or refresh is relevant",
        "redundant": "excluded in favor of the canonical replacement",
        "contradicted": "retrieved only with conflict context",
        "incoherent": "excluded until repaired or archived",
        "orphaned": "excluded until relinked or explicitly requested",
        "confounding": "actively suppressed unless specifically requested",
        "overgeneralized": "down-ranked or narrowed before normal retrieval",
        "underspecified": "excluded until repaired",
        "low_utility": "down-ranked",
        "privacy_sensitive": "retrieved only when access policy and processor target allow it",
        "review_required": "excluded from autonomous promotion and high-impact use",
        "trusted": "an edge whose association has proved itself",
    },
    "retention_class": {
        "ephemeral": "packet caches, temporary summaries, low-value telemetry",
        "session": "current task state, temporary observations",
        "recent": "recent episodes, debug traces, unconfirmed candidates",
        "project": "active project decisions, design history",
        "durable": "explicit preferences, stable procedures, reinforced beliefs",
        "compliance": "audit records required by policy",
        "user_pinned": "memories explicitly marked as important",
    },
}

#: The operation that alone may make a transition; None where an ordinary command may.
GuardedOperation = Literal["ratify_proposal", "resolve_proposal"]

#: Every legal transition (spec, "Legal lifecycle transitions"). What is absent is illegal.
TRANSITIONS: Final[dict[tuple[str, str], GuardedOperation | None]] = {
    ("proposed", "active"): "ratify_proposal",
    # Retention may also evict a stale proposal; that is no rejection and goes its own way.
    ("proposed", "archived"): "resolve_proposal",
    ("active", "archived"): None,
    ("active", "tombstoned"): None,
    ("active", "deleted"): None,
    ("archived", "active"): None,
    ("archived", "tombstoned"): None,
    ("archived", "deleted"): None,
    ("tombstoned", "deleted"): None,
}

#: An edge is also detached with an end that leaves the active state, and attached again on restore.
EDGE_TRANSITIONS: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        *TRANSITIONS,
        ("active", "detached"),
        ("detached", "active"),
        ("detached", "archived"),
        ("detached", "tombstoned"),
        ("detached", "deleted"),
    }
)


def transition(before: str, after: str, at: str = "lifecycle_state") -> GuardedOperation | None:
    """The guarded operation that a transition demands, or None if an ordinary command may make it.

    Raises `schema_invalid` for a transition that the spec does not list.
    """
    if (before, after) in TRANSITIONS:
        return TRANSITIONS[before, after]
    legal = [to for source, to in TRANSITIONS if source == before]
    choice = f"legal from there: {', '.join(legal)}" if legal else f"{before} is terminal"
    message = f"no transition leads from {before} to {after}; {choice}"
    raise AmosError(
        "schema_invalid",
        f"{at}: {message}",
        [Fault(at, message)],
        {"from": before, "to": after, "legal": legal},
    )


#: What ordinary retrieval does with a health status.
RecallDefault = Literal["eligible", "conflict_context", "down_ranked", "policy", "excluded", "suppressed"]

HEALTH_DEFAULTS: Final[dict[str, RecallDefault]] = {
    "trusted": "eligible",
    "healthy": "eligible",
    "stale": "excluded",
    "redundant": "excluded",
    "contradicted": "conflict_context",
    "incoherent": "excluded",
    "orphaned": "excluded",
    "confounding": "suppressed",
    "overgeneralized": "down_ranked",
    "underspecified": "excluded",
    "low_utility": "down_ranked",
    # The request decides: an access policy must allow the caller, and the processor must be a target.
    "privacy_sensitive": "policy",
    # Only autonomous promotion and high-impact use are barred, and recall is neither.
    "review_required": "eligible",
}

#: Health that bars an atom from autonomous promotion and from high-impact use.
NOT_FOR_HIGH_IMPACT: Final[frozenset[str]] = frozenset({"review_required"})


def recall_default(lifecycle_state: str, health_status: str) -> bool:
    """True if ordinary recall may return the record (`:Live`); the request's own filters come on top.

    Supersession is no part of it: that is told from the graph.
    """
    return lifecycle_state == "active" and HEALTH_DEFAULTS[health_status] not in {"excluded", "suppressed"}
