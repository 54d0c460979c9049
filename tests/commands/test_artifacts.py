"""Self-narratives: cited, balanced, current, gone in time, and never a memory (spec, "SelfNarrative")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.artifacts import expire_artifacts, record_artifact
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context, Receipt
from amos_graph.domain.scope import Identity
from amos_graph.domain.times import format_time, parse_time
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries import artifacts
from amos_graph.queries.artifacts import get_artifact
from amos_graph.queries.get import get_atom
from amos_graph.queries.recall import recall
from amos_graph.queries.verify import verify
from tests.administrator import run
from tests.samples import source_event

AGENT: Final = "ent:agent:planner"
UNKNOWN: Final = "art_nobody"
_NODE = """
MATCH (n:Artifact {shard: $shard, id: $id})
RETURN labels(n) AS labels, properties(n) AS properties,
       [(n)-[link:REFERS_TO]->(e:Entity) | [link.role, e.id]] AS entities,
       [(n)-[link:TOLD_FROM]->(s) | [link.role, coalesce(s.id, s.evidence_id), link.version]] AS sources
"""


def atom(ref: str, atom_type: str, payload: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An atom about the agent."""
    return {
        "id": ref,
        "type": atom_type,
        "payload": {"subject_agent": AGENT, **payload},
        "evidence_refs": ["evd_turn1"],
        "confidence": {"score": 0.9},
        **changes,
    }


def can(ref: str, **changes: Any) -> dict[str, Any]:
    payload = {"capability": ref, "capability_type": "planning", "availability": "available"}
    return atom(ref, "capability", {**payload, **changes.pop("payload", {})}, **changes)


def cannot(ref: str, **changes: Any) -> dict[str, Any]:
    payload = {"limitation": ref, "limitation_type": "permission", **changes.pop("payload", {})}
    return atom(ref, "limitation", payload, **changes)


def did(ref: str, status: str, **changes: Any) -> dict[str, Any]:
    payload = {"action_type": "plan", "success_status": status, **changes.pop("payload", {})}
    return atom(ref, "action_outcome", payload, **changes)


def trace(ref: str, **payload: Any) -> dict[str, Any]:
    return atom(ref, "agentic_trace", {"task_ref": "task-1", "responsibility_level": "observing", **payload})


def story(**changes: Any) -> dict[str, Any]:
    """A narrative of what the agent can and cannot do."""
    return {
        "id": "art_story",
        "subject_agent": AGENT,
        "narrative": "I plan the releases, and I do not see calendars.",
        "narrative_scope": "what I do in this project",
        "source_capability_refs": ["can:plan"],
        "source_limitation_refs": ["cannot:see"],
        "source_counterevidence_refs": [],
        "balance_report": {"capabilities": 1, "limitations": 1},
        **changes,
    }


def tell(context: Context, **changes: Any) -> Receipt:
    return record_artifact(context, {"artifact": story(**changes)})


def told(context: Context, ref: str = "art_story", **options: Any) -> dict[str, Any]:
    return get_artifact(context, {"artifact_id": ref, **options})


def is_gone(context: Context, ref: str = "art_story", **options: Any) -> bool:
    """Whether a reader is answered word for word as about an id that nobody used."""
    return told(context, ref, **options) == told(context, UNKNOWN, **options)


def refused(context: Context, **changes: Any) -> AmosError:
    with pytest.raises(AmosError) as caught:
        tell(context, **changes)
    return caught.value


@pytest.fixture
def agent(context: Context) -> Context:
    """A shard that knows what the agent can and cannot do."""
    commit(context, {"events": [source_event()], "atoms": [can("can:plan"), cannot("cannot:see")]})
    return context


def test_a_narrative_stands_in_neo4j_with_what_it_is_told_from(agent: Context, graph: Graph) -> None:
    """One node with its agent and its sources at their versions; it is read back, and verified clean."""
    receipt = tell(agent, source_counterevidence_refs=["evd_turn1"], rendering_target="english")
    ref = receipt.record["artifact_refs"][0]
    (found,) = run(graph, _NODE, shard=agent.scope.shard, id=ref)
    answer = told(agent)
    artifact = answer["artifact"]

    assert (receipt.record["created"], len(receipt.record["event_ids"])) == (["art_story"], 1)
    assert found["labels"] == ["Artifact"]
    assert found["entities"] == [["subject_agent", AGENT]]
    assert sorted(found["sources"]) == [
        ["source_capability_refs", "can:plan", 1],
        ["source_counterevidence_refs", "evd_turn1", 1],
        ["source_limitation_refs", "cannot:see", 1],
    ]
    properties = found["properties"]
    assert properties["title"] == story()["narrative"]
    assert properties["balance_report"] == '{"capabilities":1,"limitations":1}'
    assert properties["source_self_model_refs"] == []
    assert answer["found"]
    assert answer["graph_version"] == receipt.graph_version
    assert artifact["narrative"] == story()["narrative"]
    assert artifact["source_versions"] == {"can:plan": 1, "cannot:see": 1, "evd_turn1": 1}
    assert artifact["lifecycle_state"] == "active"
    lives = parse_time(artifact["expires_at"]) - parse_time(artifact["generated_at"])
    assert lives == timedelta(seconds=agent.settings.artifact_lifetime_s_max)
    assert artifact["revision_history"][0]["event_type"] == "artifact_recorded"
    report = verify(graph, agent.scope.shard)
    assert ([fault.record() for fault in report.faults], report.records["artifact"]) == ([], 1)


def test_a_narrative_is_no_memory(agent: Context) -> None:
    """It is no atom, not recalled, and refused as one with the way that is meant for it."""
    tell(agent, narrative="Zeppelins are my profession.")
    narrative = atom("self", "self_narrative", {"narrative": "Zeppelins are my profession."})

    assert recall(agent, {"cues": ["zeppelins"]})["items"] == []
    with pytest.raises(AmosError) as no_atom:
        get_atom(agent, {"atom_id": "art_story"})
    assert no_atom.value.faults[0].path == "atom_id"
    for change, path in (
        ({"atoms": [narrative]}, "atoms[0].type"),
        ({"atoms": [can("art_can")]}, "atoms[0].id"),
        ({"atoms": [can("can:more", evidence_refs=["art_story"])]}, "atoms[0].evidence_refs[0]"),
    ):
        with pytest.raises(AmosError) as caught:
            commit(agent, change)
        assert (caught.value.code, caught.value.faults[0].path) == ("schema_invalid", path)
        if path == "atoms[0].type":
            assert "/v1/artifacts:record" in caught.value.message


_FAR = "2999-01-01T00:00:00Z"
REFUSED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "no source": ({"source_capability_refs": [], "source_limitation_refs": []}, "source_trace_refs"),
    "no counterevidence named": ({"source_counterevidence_refs": None}, "source_counterevidence_refs"),
    "no balance": ({"balance_report": {}}, "balance_report"),
    "nothing said": ({"narrative": "  "}, "narrative"),
    "another kind of id": ({"id": "story"}, "id"),
    "two ids": ({"narrative_id": "art_other"}, "narrative_id"),
    "an unknown field": ({"salience": 1}, "salience"),
    "another type of artifact": ({"artifact_type": "journal"}, "artifact_type"),
    "a source of another type": ({"source_capability_refs": ["cannot:see"]}, "source_capability_refs[0]"),
    "a source of another agent": ({"source_limitation_refs": ["others"]}, "source_limitation_refs[0]"),
    "an archived source": ({"source_limitation_refs": ["archived"]}, "source_limitation_refs[0]"),
    "a superseded source": ({"source_limitation_refs": ["superseded"]}, "source_limitation_refs[0]"),
    "a time that has passed": ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    "too long a life": ({"expires_at": _FAR}, "expires_at"),
    "a life from the future": ({"expires_at": _FAR, "generated_at": _FAR}, "expires_at"),
}
NOT_FOUND: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "an unknown source": ({"source_limitation_refs": ["nowhere"]}, "source_limitation_refs[0]"),
    "an entity as evidence": ({"source_counterevidence_refs": [AGENT]}, "source_counterevidence_refs[0]"),
}


def test_what_cannot_be_told_is_refused_at_its_field(agent: Context, graph: Graph) -> None:
    """Each fault is named by its path, and nothing is written."""
    other = {"payload": {"subject_agent": "ent:agent:other"}}
    commit(agent, {"atoms": [cannot("others", **other), cannot("archived"), cannot("superseded")]})
    commit(agent, {"atoms": [cannot("newer", supersedes=["superseded"])]})
    archive(agent, {"atom_id": "archived", "reason": "for the test"})

    for table, code in ((REFUSED, "schema_invalid"), (NOT_FOUND, "not_found")):
        for what, (changes, path) in table.items():
            error = refused(agent, **changes)
            assert (error.code, error.faults[0].path) == (code, f"artifact.{path}"), what
    assert run(graph, _NODE, shard=agent.scope.shard, id="art_story") == []


def test_the_longest_life_is_a_setting(agent: Context) -> None:
    """It counts from when the narrative was generated, and that is never later than now."""
    settings = agent.settings.model_copy(update={"artifact_lifetime_s_max": 60})
    brief = replace(agent, settings=settings)
    soon, later = (format_time(datetime.now(UTC) + timedelta(seconds=s)) for s in (30, 90))
    yesterday = format_time(datetime.now(UTC) - timedelta(days=1))

    assert refused(brief, expires_at=later).faults[0].path == "artifact.expires_at"
    assert refused(brief, generated_at=yesterday).faults[0].path == "artifact.expires_at"
    assert tell(brief, expires_at=soon).record["expires_at"] == soon


def test_what_speaks_against_a_narrative_is_cited(agent: Context, graph: Graph) -> None:
    """What a cited trace names against its agent, what it did that failed, and what contradicts a source."""
    named = {"counterevidence_refs": ["evd_turn1"], "limitation_refs": ["cannot:see", "nowhere"]}
    ends = {"outcome_refs": ["did:well", "did:badly"], "action_refs": ["did:half", "action-without-record"]}
    outcomes = [did("did:well", "succeeded"), did("did:badly", "failed"), did("did:half", "partial")]
    against = {"source_ref": "cannot:plan", "target_ref": "can:plan", "relation": "rel:contradicts"}
    edge = {**against, "evidence_refs": ["evd_turn1"], "confidence": {"score": 0.9}}
    commit(agent, {"atoms": [*outcomes, cannot("cannot:plan"), trace("trace:1", **named, **ends)]})
    commit(agent, {"edges": [edge]})

    error = refused(agent, source_trace_refs=["trace:1"])
    left_out = ["evd_turn1", "did:badly", "did:half", "cannot:plan"]
    assert {fault.path for fault in error.faults} == {"artifact.source_counterevidence_refs"}
    assert [ref for ref in left_out if any(f"leaves out {ref}," in f.message for f in error.faults)] == (
        left_out
    )
    assert len(error.faults) == len(left_out)
    tell(agent, source_trace_refs=["trace:1"], source_counterevidence_refs=left_out)
    assert told(agent)["found"]
    assert verify(graph, agent.scope.shard).ok


def test_an_agent_is_known_by_what_it_was_merged_into(agent: Context) -> None:
    """A source names the agent as it was called then; of another agent it still is refused."""
    commit(agent, {"entities": [{"id": "ent:agent:new", "canonical_name": "new"}]})
    assert (
        refused(agent, subject_agent="ent:agent:new").faults[0].path == "artifact.source_capability_refs[0]"
    )
    commit(agent, {"entities": [{"id": AGENT, "merged_into": "ent:agent:new", "version": 1}]})
    tell(agent, subject_agent="ent:agent:new")

    assert told(agent)["found"]
    commit(agent, {"atoms": [cannot("cannot:fly")]})
    assert is_gone(agent)


def test_a_narrative_is_gone_at_the_moment_at_which_it_expires(
    agent: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is read; at that moment and after it, its id is answered like one that nobody used."""
    receipt = tell(agent)
    expires_at = parse_time(receipt.record["expires_at"])

    def read_at(microseconds: int) -> None:
        instant = format_time(expires_at + timedelta(microseconds=microseconds))
        monkeypatch.setattr(artifacts, "now", lambda: instant)

    read_at(-1)
    assert told(agent)["found"]
    for later in (0, 1, 10**12):
        read_at(later)
        assert is_gone(agent)
        assert is_gone(agent, as_of_version=receipt.graph_version)
    steward = told(agent, include_expired=True)
    assert (steward["found"], steward["omissions"]) == (True, [{"reason": "expired"}])


def _supersede(context: Context) -> None:
    commit(context, {"atoms": [cannot("cannot:look", supersedes=["cannot:see"])]})


def _change(context: Context) -> None:
    commit(context, {"atoms": [can("can:plan", payload={"availability": "degraded"}, version=1)]})


def _put_source_away(context: Context) -> None:
    archive(context, {"atom_id": "can:plan", "reason": "for the test"})


def _contradict(context: Context) -> None:
    said = {"id": "said", "type": "semantic", "payload": {"statement": "It never planned anything."}}
    common = {"evidence_refs": ["evd_turn1"], "confidence": {"score": 0.9}}
    edge = {"source_ref": "said", "target_ref": "can:plan", "relation": "rel:contradicts", **common}
    commit(context, {"atoms": [{**said, **common}], "edges": [edge]})


def _fail(context: Context) -> None:
    commit(context, {"atoms": [did("did:badly", "blocked")]})


OUTDATING: Final[dict[str, tuple[Callable[[Context], None], list[str]]]] = {
    "a changed source": (_change, ["can:plan"]),
    "a superseded source": (_supersede, ["cannot:see", "cannot:look"]),
    "an archived source": (_put_source_away, ["can:plan"]),
    "a contradiction": (_contradict, ["said"]),
    "a failure": (_fail, ["did:badly"]),
}


@pytest.mark.parametrize("what", OUTDATING)
def test_a_narrative_is_gone_when_what_came_since_outdates_it(agent: Context, what: str) -> None:
    """Until it is told again; a steward is told by what."""
    tell(agent)
    outdate, refs = OUTDATING[what]
    outdate(agent)

    assert is_gone(agent)
    steward = told(agent, include_expired=True)
    assert steward["omissions"] == [{"reason": "outdated", "refs": refs}]


def test_what_says_nothing_against_a_narrative_leaves_it(agent: Context, context_of: Any) -> None:
    """Successes, what was known before, other agents, and what the reader may not see."""
    commit(agent, {"atoms": [did("did:before", "failed")]})
    tell(agent)
    other = {"payload": {"subject_agent": "ent:agent:other"}}
    policy = {"allowed_identities": ["svc:test"]}
    commit(agent, {"atoms": [did("did:well", "succeeded"), did("did:other", "failed", **other)]})
    assert told(agent)["found"]
    commit(agent, {"atoms": [cannot("cannot:tell", access_policy=policy)]})
    reader: Context = context_of(_reader(agent.identity))

    assert told(reader)["found"]
    assert is_gone(agent)


def _reader(identity: Identity) -> Identity:
    return replace(identity, client_id="cli_other", service_id="svc:other", capabilities={"memory.read"})


def test_a_reader_sees_no_narrative_of_what_it_may_not_see(agent: Context, context_of: Any) -> None:
    """One source that is hidden hides the narrative; so does its own policy, for ever and in its past."""
    policy = {"allowed_identities": ["svc:test"]}
    reader: Context = context_of(_reader(agent.identity))
    commit(agent, {"atoms": [can("can:more", access_policy=policy)]})
    tell(agent)
    first = tell(agent, id="art_more", source_capability_refs=["can:more"])
    assert told(reader)["found"]
    assert is_gone(reader, "art_more")
    tell(agent, access_policy=policy, version=1)

    assert is_gone(reader)
    assert is_gone(reader, as_of_version=first.graph_version - 1)
    with pytest.raises(AmosError) as caught:
        told(reader, include_expired=True)
    assert caught.value.code == "authorization_denied"
    writer = replace(_reader(agent.identity), capabilities={"memory.read", "artifact.record"})
    hidden = refused(context_of(writer))
    assert (hidden.code, hidden.details["actual_version"]) == ("expected_version_conflict", 0)
    assert refused(reader, id="art_mine").code == "authorization_denied"


def test_telling_again_is_a_new_version_of_the_one_that_is_named(agent: Context, graph: Graph) -> None:
    """Both stay readable by version while they are current; a narrative told after a failure is current."""
    first = tell(agent)
    assert refused(agent).details["actual_version"] == 1
    assert refused(agent, version=2).code == "expected_version_conflict"
    assert refused(agent, id="art_new", version=4).code == "expected_version_conflict"
    _fail(agent)
    counter = {"source_counterevidence_refs": ["did:badly"]}
    second = record_artifact(
        replace(agent, expected_versions={"art_story": 1}), {"artifact": story(**counter)}
    )

    assert (second.record["created"], second.record["updated"]) == ([], ["art_story"])
    artifact = told(agent)["artifact"]
    assert (artifact["version"], artifact["source_counterevidence_refs"]) == (2, ["did:badly"])
    assert [entry["version"] for entry in artifact["revision_history"]] == [2, 1]
    assert is_gone(agent, as_of_version=first.graph_version)
    then = told(agent, as_of_version=first.graph_version, include_expired=True)
    assert then["artifact"]["version"] == 1
    assert then["omissions"] == [{"reason": "outdated", "refs": ["did:badly"]}]
    assert is_gone(agent, as_of_version=first.graph_version - 1)
    assert verify(graph, agent.scope.shard).ok


def test_a_repeated_request_is_answered_with_its_first_receipt(agent: Context, context_of: Any) -> None:
    keyed: Context = context_of(idempotency_key="story")
    first, again = tell(keyed), tell(keyed)

    assert (first.replayed, again.replayed) == (False, True)
    assert again.record == first.record
    with pytest.raises(AmosError) as caught:
        tell(keyed, narrative="Something else.")
    assert caught.value.code == "idempotency_conflict"


def test_expired_narratives_are_put_away(agent: Context, graph: Graph, tenant: str) -> None:
    """Those whose time has passed, oldest first and once; they stay unknown to readers, and may be retold."""
    brief = replace(agent, settings=agent.settings.model_copy(update={"artifact_lifetime_s_max": 1}))
    day = {"generated_at": format_time(datetime.now(UTC))}
    for number in range(3):
        tell(brief, id=f"art_{number}", **day)
    tell(agent, id="art_later")
    while datetime.now(UTC) < parse_time(day["generated_at"]) + timedelta(seconds=1):
        assert told(agent, "art_later")["found"]
    first = expire_artifacts(agent, {"limit": 2}).record
    second, third = expire_artifacts(agent, {}).record, expire_artifacts(agent, {}).record

    assert first["artifact_refs"] == ["art_0", "art_1"]
    assert (second["artifact_refs"], second["updated"]) == (["art_2"], ["art_2"])
    assert (third["artifact_refs"], third["event_ids"]) == ([], [])
    states = run(
        graph,
        "MATCH (n:Artifact {shard: $shard}) RETURN n.id AS id, n.lifecycle_state AS state ORDER BY id",
        shard=f"{tenant}/w",
    )
    assert [(row["id"], row["state"]) for row in states] == [
        ("art_0", "archived"),
        ("art_1", "archived"),
        ("art_2", "archived"),
        ("art_later", "active"),
    ]
    assert all(is_gone(agent, f"art_{number}") for number in range(3))
    assert told(agent, "art_0", include_expired=True)["omissions"] == [{"reason": "archived"}]
    tell(agent, id="art_0", version=2)
    assert told(agent, "art_0")["artifact"]["version"] == 3
    assert verify(graph, f"{tenant}/w").ok
    with pytest.raises(AmosError) as caught:
        expire_artifacts(replace(agent, identity=_reader(agent.identity)), {})
    assert caught.value.code == "authorization_denied"


def test_only_what_a_steward_may_see_is_put_away(
    agent: Context, context_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A narrative within another project is left to those of that project."""
    brief = agent.settings.model_copy(update={"artifact_lifetime_s_max": 1})
    project: Context = context_of(scope={"project_id": "one"})
    generated = format_time(datetime.now(UTC) - timedelta(seconds=0.8))
    tell(replace(project, settings=brief), generated_at=generated)
    while datetime.now(UTC) < parse_time(generated) + timedelta(seconds=1):
        assert told(agent, UNKNOWN)["found"] is False
    other: Context = context_of(scope={"project_id": "two"})

    assert expire_artifacts(other, {}).record["artifact_refs"] == []
    assert expire_artifacts(project, {}).record["artifact_refs"] == ["art_story"]
