"""Whether a conclusion was reached again, apart in time and on new experience (spec, "diachronic")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

#: Outcomes that adopt.
POSITIVE: Final = frozenset({"adopted", "provisionally_adopted", "confirmed"})
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Bar:
    """How often, how far apart in seconds, and whether on new evidence each time."""

    confirmations: int = 1
    interval_s: int = 0
    distinct: bool = False

    def raised(self, threshold: Mapping[str, Any] | None) -> Bar:
        """This bar or a stated threshold, whichever asks for more in each respect."""
        stated = threshold or {}
        return Bar(
            max(self.confirmations, stated.get("required_confirmations") or 1),
            max(self.interval_s, stated.get("min_interval_seconds") or 0),
            self.distinct or bool(stated.get("materially_distinct_evidence")),
        )

    def covers(self, other: Bar) -> bool:
        """True if this bar asks for no less than the other in any respect."""
        return (
            self.confirmations >= other.confirmations
            and self.interval_s >= other.interval_s
            and self.distinct >= other.distinct
        )


#: Risk class → the least that it takes. Nothing lowers it.
MINIMA: Final[Mapping[str, Bar]] = {
    "semantic": Bar(),
    "procedure": Bar(),
    "project": Bar(),
    "preference": Bar(),
    "goal": Bar(),
    "self_model": Bar(),
    "identity": Bar(2, 3_600, distinct=True),
    "governance": Bar(2, 3_600, distinct=True),
    "covenant": Bar(2, _DAY, distinct=True),
    "primal_guidance": Bar(3, _DAY, distinct=True),
    "constitutional_critical": Bar(3, _DAY, distinct=True),
    "meta_constitutional": Bar(3, 7 * _DAY, distinct=True),
}


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """One adjudication of a subject, at the time at which the journal took it in."""

    ref: str
    identity_ref: str
    recorded_at: datetime
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """The reconstructions that count, with the seconds since the one before, and what is asked for."""

    bar: Bar
    counted: tuple[tuple[str, float | None], ...]

    @property
    def satisfied(self) -> bool:
        return len(self.counted) >= self.bar.confirmations

    def record(self) -> dict[str, Any]:
        return {
            "required_confirmations": self.bar.confirmations,
            "min_interval_seconds": self.bar.interval_s,
            "materially_distinct_evidence": self.bar.distinct,
            "qualifying": [
                {"adjudication_ref": ref, "seconds_since_previous": since} for ref, since in self.counted
            ],
            "satisfied": self.satisfied,
        }


def progress(
    reconstructions: Iterable[Reconstruction], identity_ref: str, known: frozenset[str], bar: Bar
) -> Progress:
    """Which reconstructions of one identity count towards the bar.

    `known` are the ids of records that the caller can see: experience that is not on record is none.
    What does not count leaves no trace, so that repeated evidence blocks nothing that comes later.
    """
    counted: list[tuple[str, float | None]] = []
    last: datetime | None = None
    had: set[str] = set()
    for one in sorted(reconstructions, key=lambda each: (each.recorded_at, each.ref)):
        apart = one.recorded_at - last if last is not None else None
        experience = set(one.payload["diachronic"]["new_experience_refs"]) & known
        if (
            not same_identity(one.identity_ref, identity_ref)
            or not _reconstructs(one.payload)
            or (apart is not None and apart < timedelta(seconds=bar.interval_s))
            or (bar.distinct and experience <= had)
        ):
            continue
        counted.append((one.ref, apart.total_seconds() if apart is not None else None))
        last = one.recorded_at
        had |= experience
    return Progress(bar, tuple(counted))


def same_identity(one: str, other: str) -> bool:
    """True if both name one agent, by its id or by that of its entity."""
    return one.removeprefix("ent:agent:") == other.removeprefix("ent:agent:")


def _reconstructs(payload: Mapping[str, Any]) -> bool:
    """Reached independently, without the original reasoning in view, and for the proposal."""
    diachronic = payload["diachronic"]
    return (
        payload["outcome"] in POSITIVE
        and diachronic["disposition"] in ("initial", "confirmed")
        and diachronic["independent_reconstruction"] is True
        and diachronic["original_reasoning_shown"] is False
    )
