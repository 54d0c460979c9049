"""Whether a self-narrative may be told: its sources, its balance, its time (spec, "SelfNarrative")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from amos_graph.domain.artifact import CITED, COUNTEREVIDENCE, SelfNarrative
from amos_graph.domain.state import Current
from amos_graph.domain.times import format_time, parse_time
from amos_graph.errors import AmosError, Fault, invalid

#: Types of atoms about the agent of which a newer one makes a narrative old (rule 4).
CHANGES: Final = ("capability", "limitation", "self_assessment", "self_model")
#: How actions end that a narrative must not leave out, and of which a newer one makes it old.
FAILURES: Final = ("blocked", "failed", "partial")
_CONTRADICTS: Final = "rel:contradicts"
#: What a trace names against the agent, or as its bounds.
_AGAINST: Final = ("counterevidence_refs", "correction_refs", "limitation_refs")
#: Where it names outcomes, of which those count that failed.
_ENDS: Final = ("outcome_refs", "action_refs")


@dataclass(frozen=True, slots=True)
class Against:
    """A record that may speak against a narrative, and the cited one that says so."""

    ref: str
    teller: str
    if_failed: bool = False


def expiry(narrative: SelfNarrative, now: str, lifetime_max_s: int) -> str:
    """When it expires: as it says, else at the end of the longest life of an artifact.

    Raises `schema_invalid` for a time that has passed, or that lies beyond that life.
    """
    begins = min(narrative.generated_at or now, now)
    latest = format_time(parse_time(begins) + timedelta(seconds=lifetime_max_s))
    expires = narrative.expires_at or latest
    if expires <= now:
        raise invalid("artifact.expires_at", "has passed already")
    if expires > latest:
        message = f"more than {lifetime_max_s} seconds after generated_at (AMOS_ARTIFACT_LIFETIME_S_MAX)"
        raise invalid("artifact.expires_at", message)
    return expires


def check_sources(
    narrative: SelfNarrative, visible: Mapping[str, Current], resolved: Callable[[str], str]
) -> None:
    """Each source is there, current, of the type that its field cites, and of the agent itself.

    Raises `not_found` for a ref that names nothing the caller can see and `schema_invalid` for what
    cannot be cited there. `resolved` gives the entity that one became by merging.
    """
    missing = [
        Fault(f"artifact.{path}", "no such record")
        for path, ref in narrative.cited()
        if ref not in visible or visible[ref].kind not in ("atom", "evidence")
    ]
    if missing:
        raise AmosError("not_found", f"{missing[0].path}: no such record", missing)
    for path, ref in narrative.cited():
        source, field = visible[ref], path.partition("[")[0]
        if source.kind == "evidence":
            continue
        state = "superseded" if source.superseded else source.body["lifecycle_state"]
        if state != "active":
            raise invalid(f"artifact.{path}", f"{ref} is {state}")
        if field == COUNTEREVIDENCE:
            continue
        kind = source.body["type"]
        if kind not in CITED[field]:
            raise invalid(f"artifact.{path}", f"{ref} is {kind}, not {' or '.join(sorted(CITED[field]))}")
        agent = agent_of(source)
        if agent is None or resolved(agent) != resolved(narrative.subject_agent):
            raise invalid(f"artifact.{path}", f"{ref} is about another agent")


def agent_of(record: Current) -> str | None:
    """The entity that an atom names as its agent; an outcome may describe it otherwise."""
    agent = record.body.get("payload", {}).get("subject_agent")
    return agent if isinstance(agent, str) else None


def speaks_against(
    narrative: SelfNarrative, visible: Mapping[str, Current], edges: Iterable[Current]
) -> Iterator[Against]:
    """What cited traces name against the agent, and what contradicts anything that is cited.

    `edges` are the active ones at the cited atoms that the caller can see.
    """
    for ref in narrative.source_trace_refs:
        payload: Mapping[str, Any] = visible[ref].body["payload"]
        for field in (*_AGAINST, *_ENDS):
            for named in payload.get(field) or ():
                yield Against(named, ref, if_failed=field in _ENDS)
    cited = {ref for _, ref in narrative.cited()}
    for edge in edges:
        if edge.body["relation"] == _CONTRADICTS:
            ends = edge.body["source_ref"], edge.body["target_ref"]
            for one, other in (ends, ends[::-1]):
                if one in cited:
                    yield Against(other, one)


def check_balance(
    narrative: SelfNarrative, against: Iterable[Against], visible: Mapping[str, Current]
) -> None:
    """Raise `schema_invalid` for each record that speaks against the narrative and is left out (rule 3).

    What the caller cannot see, what is put away, and what is no record, nobody can cite.
    """
    cited = {ref for _, ref in narrative.cited()}
    left_out = {
        each.ref: each.teller
        for each in against
        if each.ref not in cited and each.ref in visible and _counts(visible[each.ref], each)
    }
    if left_out:
        at = f"artifact.{COUNTEREVIDENCE}"
        faults = [Fault(at, f"leaves out {ref}, of which {teller} tells") for ref, teller in left_out.items()]
        raise AmosError("schema_invalid", f"{at}: {faults[0].message}", faults)


def _counts(record: Current, against: Against) -> bool:
    if record.kind != "atom":
        return record.kind == "evidence" and not against.if_failed
    if record.superseded or record.body["lifecycle_state"] != "active":
        return False
    status = record.body["payload"].get("success_status")
    return not against.if_failed or (record.body["type"] == "action_outcome" and status in FAILURES)


def outdated(told: Mapping[str, int], sources: Iterable[Mapping[str, Any]]) -> list[str]:
    """The sources that are not what they were when the narrative was told."""
    return sorted(
        source["ref"]
        for source in sources
        if source["version"] != told[source["ref"]] or source["state_key"] == "superseded"
    )
