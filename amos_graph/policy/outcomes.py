"""What an outcome does to the memories of its packet, decided from data alone (spec, "Reinforce").

A memory that helped gains utility, one that harmed loses some and is flagged for repair, and so do the
edges along which each was reached. That a memory was seen moves nothing: exposure is no usefulness.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from amos_graph.domain.events import Write
from amos_graph.domain.outcomes import JUDGMENTS, NEUTRAL, REPAIRS, Held, Manifest
from amos_graph.domain.score import score_id
from amos_graph.domain.state import Current


@dataclass(frozen=True, slots=True)
class Rates:
    """The part of the way to 1, or below zero to 0, that a judgment moves each number."""

    utility: float
    salience: float
    weight: float


RATES: Final[Mapping[str, Rates]] = MappingProxyType(
    {
        "helpful": Rates(utility=0.10, salience=0.05, weight=0.10),
        "unhelpful": Rates(utility=-0.10, salience=-0.05, weight=-0.10),
        "corrected": Rates(utility=-0.20, salience=-0.10, weight=-0.20),
    }
)
#: Outcomes take no edge out of the walk: it could never be reached, and so never be reinforced, again.
WEIGHT_MIN: Final = 0.05
#: An edge that led to many judged memories moves at most by this part at once.
SWING: Final = 0.3
#: A memory that was judged down to this is flagged as of low utility.
UTILITY_LOW: Final = 0.2
#: Digits that are kept of a number.
DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Effect:
    """What follows from an outcome: new scores, and what is counted of each item."""

    writes: tuple[Write, ...]
    reinforced: tuple[str, ...]
    weakened: tuple[str, ...]
    #: Judgment → atoms whose numbers it moves.
    moved: Mapping[str, tuple[str, ...]]
    counts: tuple[Mapping[str, Any], ...]


def effect(
    told: Mapping[str, Any],
    packet: Manifest,
    current: Mapping[str, Current],
    protected: Collection[str],
    *,
    now: str,
    writer: str,
) -> Effect:
    """The effect of an outcome on a packet.

    `current` has the judged atoms that the caller may still see, the edges that led to them, and the
    scores of both. An atom that was written again since is counted and not moved: what was judged is
    what it said then. `protected` are relations whose edges no outcome weakens.
    """
    judged = _judged(told)
    standing = {
        ref: judgment
        for ref, judgment in judged.items()
        if ref in current and current[ref].version == packet.items[ref].version
    }
    atoms = {ref: _moved_atom(current[ref], RATES[judgment]) for ref, judgment in standing.items()}
    weights = dict(_moved_edges(standing, packet.items, current, protected))
    writes = [
        _write(current[ref], current.get(score_id(ref)), numbers, now, writer)
        for ref, numbers in sorted({**atoms, **{ref: {"weight": w} for ref, w in weights.items()}}.items())
    ]
    return Effect(
        writes=tuple(writes),
        reinforced=tuple(sorted(ref for ref in weights if weights[ref] > current[ref].body["weight"])),
        weakened=tuple(sorted(ref for ref in weights if weights[ref] < current[ref].body["weight"])),
        moved={
            name: tuple(sorted(ref for ref in standing if standing[ref] == name))
            for name in JUDGMENTS.values()
        },
        counts=tuple(_count(held, told, judged, atoms, packet.task_context) for held in packet.held),
    )


def moved(number: float, rate: float) -> float:
    """A number of 0..1, moved by a part of what is left to 1, or for a negative rate of what is above 0."""
    return round(number + rate * (1.0 - number if rate > 0 else number), DIGITS)


def _judged(told: Mapping[str, Any]) -> dict[str, str]:
    """Atom → how it was judged."""
    return {ref: judgment for name, judgment in JUDGMENTS.items() for ref in told[name]}


def _moved_atom(atom: Current, rates: Rates) -> dict[str, float]:
    return {name: moved(atom.body[name], getattr(rates, name)) for name in ("utility", "salience")}


def _moved_edges(
    judged: Mapping[str, str],
    items: Mapping[str, Held],
    current: Mapping[str, Current],
    protected: Collection[str],
) -> Iterator[tuple[str, float]]:
    """The new weight of each edge that led to judged atoms; the sum of its atoms' judgments moves it."""
    sums: dict[str, float] = {}
    for ref, judgment in judged.items():
        for edge in items[ref].path:
            sums[edge] = sums.get(edge, 0.0) + RATES[judgment].weight
    for ref, rate in sorted(sums.items()):
        edge = current.get(ref)
        if edge is None or edge.body["lifecycle_state"] != "active":
            continue
        if rate < 0 and edge.body["relation"] in protected:
            continue
        weight = edge.body["weight"]
        if weight <= 0:
            # It passes no activation on, so it led nowhere: a supersession by which a successor was found.
            continue
        after = max(moved(weight, max(-SWING, min(SWING, rate))), min(weight, WEIGHT_MIN))
        if round(rate, DIGITS) and after != weight:
            yield ref, after


def _write(
    record: Current, score: Current | None, numbers: Mapping[str, float], now: str, writer: str
) -> Write:
    ref = score_id(record.ref)
    version = score.version + 1 if score else 1
    ends = ("relation", "source_ref", "target_ref") if record.kind == "edge" else ()
    body = {
        "id": ref,
        "of_ref": record.ref,
        "of_version": record.version,
        **numbers,
        **{name: record.body[name] for name in ends},
        "version": version,
        "created_at": score.body["created_at"] if score else now,
        "updated_at": now,
        "last_writer": writer,
    }
    return Write("score", ref, version, body)


def _count(
    held: Held,
    told: Mapping[str, Any],
    judged: Mapping[str, str],
    atoms: Mapping[str, Mapping[str, float]],
    context: str | None,
) -> dict[str, Any]:
    """What one outcome adds to the usage of one item."""
    labels, judgment = set(told["outcome_labels"]), judged.get(held.ref)
    used = told["use_status"] not in NEUTRAL and (judgment is not None or held.ref in told["used_item_refs"])
    numbers = atoms.get(held.ref)
    harmed = judgment in ("unhelpful", "corrected") and numbers is not None
    return {
        "ref": held.ref,
        "used": int(used),
        "helpful": int(judgment == "helpful"),
        "unhelpful": int(judgment == "unhelpful"),
        "corrected": int(judgment == "corrected"),
        "succeeded": int(used and "succeeded" in labels),
        "failed": int(used and "failed" in labels),
        "context": context if used else None,
        "flags": sorted(_flags(labels, judgment, numbers)) if harmed and numbers else [],
    }


def _flags(labels: Collection[str], judgment: str | None, numbers: Mapping[str, float]) -> set[str]:
    """Why a memory that did harm is to be repaired: the reasons that were told, else the likeliest one."""
    found = {label for label in labels if label in REPAIRS}
    if not found and judgment == "corrected":
        found = {"contradicted"}
    elif not found:
        found = {"confounding"} if {"failed", "corrected"} & set(labels) else {"low_utility"}
    return found | ({"low_utility"} if numbers["utility"] <= UTILITY_LOW else set())
