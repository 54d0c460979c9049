"""The terms of a score and their weights: one table (spec, "score_components").

`docs/recall.md` shows it as it stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

#: The identity of this table and of the arithmetic by it; packets name it.
POLICY_ID: Final = "amos.recall.2"
#: Digits of a component. Fixed, so that equal inputs give equal text whatever computed them.
DIGITS: Final = 9


class Component(NamedTuple):
    """One term of a score."""

    weight: float
    meaning: str


#: Every component of the spec. What is gained adds up to 1; a penalty at its full takes what stands here.
COMPONENTS: Final[Mapping[str, Component]] = MappingProxyType(
    {
        "direct_cue_match": Component(
            0.22, "share of the cue's words, by rarity, that the atom says or that name what it refers to"
        ),
        "semantic_similarity": Component(
            0.09, "nearness of meaning to the cue; 0 where the atom or the cue has no vector"
        ),
        "edge_activation": Component(
            0.27,
            "activation that reached it over associations, or that it takes over from what it supersedes",
        ),
        "recency": Component(
            0.03, "1 when just written, 0 from 30 days on; 7 or 365 for another time_horizon"
        ),
        "confidence": Component(0.03, "confidence score of the atom"),
        "utility": Component(0.03, "stored utility"),
        "salience": Component(0.03, "stored salience"),
        "goal_relevance": Component(
            0.03,
            "of an open goal, commitment or task, and of what `rel:goal_relevance` led to: how strongly the "
            "request is connected with it",
        ),
        "procedural_applicability": Component(
            0.03, "of a procedure: how strongly the request is connected with it"
        ),
        "attention_focus": Component(0.08, "share of attention's words, by rarity, as for the cue"),
        "attention_type_boost": Component(0.05, "1 for a type that attention or the mode prefers"),
        "attention_counterevidence": Component(
            0.03,
            "1 for what speaks against something, where counterevidence is required or the posture is not "
            "normal",
        ),
        "attention_novelty": Component(
            0.02, "novelty_preference ÷ √(1 + degree); 0 unless novelty is preferred"
        ),
        "agency_match": Component(
            0.03, "1 where the acting agent is the scope's agent_id, or is or has attention's role"
        ),
        "attribution_confidence": Component(
            0.01, "how sure that is: agency_match × agency_confidence, or × confidence where none is stated"
        ),
        "correction_learning_relevance": Component(
            0.02,
            "of what corrects or replaces another, or records a lesson: how strongly the request is "
            "connected with it",
        ),
        "contradiction_penalty": Component(
            -0.07, "1 if its health states a contradiction, ½ while one is open"
        ),
        "staleness_penalty": Component(
            -0.10, "what health, supersession, archiving and a validity that is over take"
        ),
        "attention_suppression_penalty": Component(
            -0.20,
            "the strongest of: share of suppressed words, suppressed type, an active goal elsewhere, "
            "`rel:inhibits`",
        ),
        "access_penalty": Component(
            -1.0, "always 0: what the caller may not see is absent, not ranked lower"
        ),
        "redundancy_penalty": Component(
            -1.0, "what it gives up to an atom that says the same, or that stands in its place"
        ),
        "over_attribution_penalty": Component(
            -0.05, "of a trace that claims responsibility: 1 − agency_confidence; 0 for every other type"
        ),
        "omitted_counterevidence_penalty": Component(
            -0.05,
            "1 if a contradiction that the caller may see is left out because include_conflicts is false",
        ),
        "ignored_failure_penalty": Component(
            -0.05, "of an available capability or a procedure: failed_count ÷ all counted uses; else 0"
        ),
    }
)
WEIGHTS: Final[Mapping[str, float]] = MappingProxyType({name: c.weight for name, c in COMPONENTS.items()})
#: The components by which a request leads to an atom; with none of them it is not connected.
CONNECTING: Final = ("direct_cue_match", "semantic_similarity", "edge_activation", "attention_focus")
