"""Confidence: a level for people, a score for ranking, and its basis (spec, "Canonical score fields")."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from pydantic import ConfigDict, Field, model_validator

from amos_graph.domain.model import Strict
from amos_graph.domain.times import Timestamp
from amos_graph.domain.value_kinds import LITERAL_LENGTH_MAX, NAME_LENGTH_MAX, fault
from amos_graph.domain.values import Name

ConfidenceLevel = Literal["very_low", "low", "medium", "high", "very_high"]
CONFIDENCE_LEVELS: Final[tuple[ConfidenceLevel, ...]] = get_args(ConfidenceLevel)

#: Level → (lowest score, highest score, the score that a level without one gets).
#: `high` holds 0.87 and 0.91, the scores that the spec's examples give it.
BANDS: Final[dict[ConfidenceLevel, tuple[float, float, float]]] = {
    "very_low": (0.0, 0.2, 0.1),
    "low": (0.2, 0.4, 0.3),
    "medium": (0.4, 0.7, 0.55),
    "high": (0.7, 0.95, 0.85),
    "very_high": (0.95, 1.0, 0.97),
}


class Basis(Strict):
    """What a confidence rests on; processors may add scalars of their own."""

    model_config = ConfigDict(extra="allow")
    # pydantic's own way to type the fields that a model allows beside its own.
    __pydantic_extra__: dict[str, str | int | float | bool] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    source_type: Name | None = None
    explicitness: Name | None = None
    recency: Name | None = None
    evidence_count: int | None = Field(default=None, ge=0)
    contradiction_count: int | None = Field(default=None, ge=0)
    last_calibrated_at: Timestamp | None = None
    #: How little a belief has been reversed: each reversal multiplies it by 0.7 (design §8).
    stability: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _bounded(self) -> Basis:
        added = self.__pydantic_extra__
        if len(added) > 50:
            raise fault("more than 50 fields of one's own")
        for key, value in added.items():
            if len(key) > NAME_LENGTH_MAX:
                raise fault(f"a key has at most {NAME_LENGTH_MAX} characters")
            if isinstance(value, str) and len(value) > LITERAL_LENGTH_MAX:
                raise fault(f"longer than {LITERAL_LENGTH_MAX} characters", key)
        return self


class Confidence(Strict):
    """Evidence-backed belief in correctness or usefulness for the scoped claim."""

    level: ConfidenceLevel
    score: float = Field(ge=0, le=1)
    basis: Basis | None = None

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        """A level without a score gets the level's own, a score without a level gets its level."""
        if not isinstance(value, dict):
            return value
        given: dict[str, Any] = {**value}
        level, score = given.get("level"), given.get("score")
        if level is None and score is None:
            raise fault("a confidence has a level or a score", "level")
        if score is None and isinstance(level, str) and level in BANDS:
            given["score"] = BANDS[level][2]
        elif level is None:
            # A score that is none, or out of range, has a fault of its own; the level must not add one.
            number = score if isinstance(score, (int, float)) else 0.0
            given["level"] = level_of(min(max(number, 0.0), 1.0))
        return given

    @model_validator(mode="after")
    def _agree(self) -> Confidence:
        lowest, highest, _ = BANDS[self.level]
        if not lowest <= self.score <= highest:
            raise fault(f"{self.score} is not {self.level} ({lowest} to {highest})", "score")
        return self


def level_of(score: float) -> ConfidenceLevel:
    """The level of a score; a score on a border belongs to the upper level."""
    return next(level for level in reversed(CONFIDENCE_LEVELS) if score >= BANDS[level][0])
