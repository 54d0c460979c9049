"""Each report, on a small shard that commands built: its known rows, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.clients import register_client, revoke_client
from amos_graph.commands.commit import commit
from amos_graph.commands.deciding import decide_refusal
from amos_graph.commands.execution import Context
from amos_graph.commands.governing import govern
from amos_graph.domain.projection import KEYS
from amos_graph.errors import AmosError
from amos_graph.graph.files import CYPHER
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph
from amos_graph.queries.report import REPORTS, ROWS_MAX, report_names, run_report
from amos_graph.queries.versions import head_version
from tests import administrator
from tests.samples import belief, source_event

LONELY: dict[str, Any] = {
    "id": "semantic:lonely",
    "type": "semantic",
    "payload": {"statement": "Rain is wet."},
    "evidence_refs": ["evd_turn1"],
    "confidence": {"level": "high"},
}

Rows = list[dict[str, Any]]
Run = Callable[..., Rows]


@pytest.fixture
def run(graph: Graph, context: Context) -> Run:
    """Run a report on the test's shard."""

    def rows(name: str, **params: Any) -> Rows:
        return run_report(graph, name, {"shard": context.scope.shard, **params}).rows

    return rows


def _edge(relation: str, source: str, target: str, **fields: Any) -> dict[str, Any]:
    return {
        "source_ref": source,
        "target_ref": target,
        "relation": relation,
        "evidence_refs": ["evd_turn1"],
        "confidence": {"level": "high"},
        **fields,
    }


def _inhibits(source: str, target: str, score: float) -> dict[str, Any]:
    return _edge("rel:inhibits", source, target, confidence={"score": score})


def column(rows: Rows, name: str) -> list[Any]:
    return [row[name] for row in rows]


@pytest.mark.parametrize("about", ["ent:project:amos", "the memory", "Amos"])
def test_what_is_believed_about_an_entity(story: Context, run: Run, about: str) -> None:
    """Live atoms about it by id or name, strongest first, with roles, contradictions and evidence."""
    rows = run("believed_about", about=about)

    assert column(rows, "atom_id") == ["belief:works", "belief:rests"]
    assert rows[0] | {"updated_at": ""} == {
        "atom_id": "belief:works",
        "type": "belief",
        "claim": "user:primary working_on project:amos",
        "roles": ["object"],
        "confidence": 0.9,
        "health": "healthy",
        "valid_from": None,
        "valid_until": None,
        "contradicted_by": ["belief:rests"],
        "evidence_count": 2,
        "evidence": [
            "evd_turn1 (conversation_turn archive://session/1/evd_turn1)",
            "evd_turn2 (conversation_turn archive://session/1/evd_turn2)",
        ],
        "updated_at": "",
    }


def test_what_is_believed_follows_merges_and_splits(story: Context, run: Run) -> None:
    """Asked for by any id or name of what became one, or by what was a muddle of several."""
    entities = [
        {"id": "ent:project:new"},
        {"id": "ent:project:amos", "aliases": ["The Memory"], "merged_into": "ent:project:new", "version": 1},
        {"id": "ent:project:both", "split_into": ["ent:project:new", "ent:place:nowhere"]},
    ]
    commit(story, {"entities": entities})

    for about in ("ent:project:amos", "ent:project:new", "new", "ent:project:both"):
        rows = run("believed_about", about=about)
        assert column(rows, "atom_id") == ["belief:works", "belief:rests"], about
        assert rows[0]["roles"] == ["object"]
    assert run("believed_about", about="ent:place:nowhere") == []


def test_nothing_is_believed_about_a_stranger(story: Context, run: Run) -> None:
    """A name that nobody has gives no row."""
    assert run("believed_about", about="ent:project:unknown") == []


def test_the_history_of_a_record(story: Context, run: Run) -> None:
    """Each version with its event, actor and body; the archived one is the second."""
    rows = run("history_of", ref="belief:gone")

    assert column(rows, "version") == [1, 2]
    assert column(rows, "event_type") == ["atom_committed", "atom_archived"]
    assert column(rows, "actor") == ["svc:test", "svc:test"]
    assert rows[0]["evidence_refs"] == ["evd_turn1"]
    assert '"lifecycle_state":"active"' in rows[0]["body"]
    assert '"lifecycle_state":"archived"' in rows[1]["body"]


def test_the_evidence_behind_a_record(story: Context, run: Run) -> None:
    """Its own and that of what it was made from, each by the nearest way; circles end."""
    atoms = [
        belief(id="belief:made", payload={"relation": "rel:likes"}, evidence_refs=["evd_turn2"]),
        belief(id="belief:again", payload={"relation": "rel:owns"}, evidence_refs=["evd_turn2"]),
    ]
    edges = [
        _edge("rel:derived_from", "belief:again", "belief:made"),
        _edge("rel:derived_from", "belief:made", "belief:rests"),
        _edge("rel:derived_from", "belief:rests", "belief:again"),
    ]
    commit(story, {"atoms": atoms, "edges": edges})

    rows = run("supported_by", ref="belief:again")

    assert [(row["evidence_id"], row["steps"], row["by_way_of"]) for row in rows] == [
        ("evd_turn2", 0, []),
        ("evd_turn1", 2, ["belief:made", "belief:rests"]),
    ]
    assert rows[1]["said"] == '{"text":"I am working on Amos."}'
    assert run("supported_by", ref="belief:absent") == []


def test_why_something_is_remembered(story: Context, run: Run) -> None:
    """Who wrote it first and on what, how often it changed, what it replaced, and its use."""
    newer = belief(id="belief:newer", payload={"object": "tea"}, supersedes=["belief:works"])
    commit(story, {"atoms": [newer]})

    (row,) = run("why_remembered", ref="belief:newer")
    (old,) = run("why_remembered", ref="belief:works")

    assert (row["actor"], row["event_type"], row["versions"], row["state_now"]) == (
        "svc:test",
        "atom_committed",
        1,
        "live",
    )
    assert row["replaced"] == ["belief:works (user:primary working_on project:amos)"]
    assert (row["seen"], row["used"], row["corrected"]) == (0, 0, 0)
    assert (old["state_now"], len(old["evidence"])) == ("superseded", 2)
    assert run("why_remembered", ref="belief:absent") == []


def test_what_an_identity_changed(story: Context, run: Run) -> None:
    """Its events, newest first, with the versions that they wrote; nobody else's."""
    other = replace(story, identity=replace(story.identity, service_id="svc:other"))
    commit(other, {"atom": LONELY})

    (theirs,) = run("changed_by", actor="svc:other")
    ours = run("changed_by", actor="svc:test")

    assert (theirs["event_type"], theirs["records"]) == ("atom_committed", ["semantic:lonely v1"])
    assert theirs["titles"] == ["Rain is wet."]
    assert '"capability":"atom.commit"' in theirs["authorization"]
    versions = column(ours, "graph_version")
    assert versions == sorted(versions, reverse=True)
    assert theirs["graph_version"] not in versions
    assert run("changed_by", actor="svc:nobody") == []


def test_what_was_refused(story: Context, run: Run) -> None:
    """The latest first, with the rule that refused and what was decided."""
    policy = {"mutation_policy": "review"}
    kept = belief(id="belief:kept", access_policy=policy, payload={"object": "kept"})
    commit(story, {"atoms": [kept]})
    with pytest.raises(AmosError):
        commit(story, {"atoms": [{**kept, "version": 1, "salience": 0.9}]})
    (waiting,) = run("refusals", status="open")
    assert waiting | {"since": "", "latest": "", "refusal_id": ""} == {
        "refusal_id": "",
        "status": "open",
        "code": "review_required",
        "rule": "specific_policy",
        "operation": "commit_atoms",
        "risk": "low",
        "targets": ["belief:kept"],
        "asked_by": "cli_test",
        "attempts": 1,
        "decided_by": None,
        "since": "",
        "latest": "",
    }
    steward = replace(story, identity=replace(story.identity, client_id="cli_steward"))
    decide_refusal(steward, {"refusal_id": waiting["refusal_id"], "decision": "decline"})
    assert run("refusals", status="open") == []
    assert column(run("refusals", status=None), "decided_by") == ["cli_steward"]


@pytest.mark.reliability("T22")
def test_who_could_see_a_memory_at_a_version(story: Context, run: Run) -> None:
    """By scope, policy, capability and the life of the token, each as it was then."""
    scope = story.scope.record()
    made: dict[str, int] = {}
    for name, changes in {
        "reads": {},
        "denied": {},
        "blind": {"capabilities": ["event.capture"]},
        "elsewhere": {"scope": {**scope, "project_id": "p2"}},
        "inside": {"scope": {**scope, "project_id": "p1", "user_id": "ada"}},
        "ended": {},
    }.items():
        record = {
            "id": f"cli_{name}",
            "service_id": f"svc:{name}",
            "capabilities": ["memory.read"],
            **changes,
        }
        made[name] = register_client(story, record).receipt.graph_version
    policy = {"denied_identities": ["svc:denied"], "processor_visibility": ["planner"]}
    kept = belief(id="belief:kept", scope={"project_id": "p1"}, payload={"object": "kept"})
    open_at = commit(story, {"atoms": [kept]}).graph_version
    within = replace(story, scope=story.identity.within({"project_id": "p1"}))
    closed_at = commit(within, {"atoms": [{**kept, "version": 1, "access_policy": policy}]}).graph_version
    revoked_at = revoke_client(story, "cli_ended").graph_version

    def seen(at: int) -> dict[str, str]:
        rows = run("who_could_see", ref="belief:kept", at=at)
        assert all(row["could_see"] == (row["because"] == "within scope and policy") for row in rows)
        return {row["client_id"].removeprefix("cli_"): row["because"] for row in rows}

    free = "within scope and policy"
    apart = {"blind": "it could not read", "elsewhere": "out of its scope", "inside": free, "reads": free}
    assert seen(open_at) == {**apart, "denied": free, "ended": free}
    assert seen(closed_at) == {**apart, "denied": "denied", "ended": free}
    assert seen(revoked_at) == {**apart, "denied": "denied", "ended": "its token had ended"}
    assert seen(made["denied"]) == {}
    rows = run("who_could_see", ref="belief:kept", at=closed_at)
    assert {tuple(row["for_processors"]) for row in rows} == {("planner",)}


def test_the_episodes_behind_a_procedure(story: Context, run: Run) -> None:
    """Joined by an edge, by evidence in common, or by both."""
    common = {"confidence": {"level": "high"}}
    procedure_ = {
        "id": "procedure:deploy",
        "type": "procedure",
        "payload": {"name": "proc:deploy", "trigger_context": {"task_type": "release"}, "steps": ["deploy"]},
        "evidence_refs": ["evd_turn2"],
        **common,
    }
    episodes = [
        {
            "id": f"episode:{name}",
            "type": "episode",
            "payload": {"task": f"deploy {name}", "outcome": "it failed"},
            "evidence_refs": [proof],
            **common,
        }
        for name, proof in (("one", "evd_turn2"), ("two", "evd_turn1"), ("far", "evd_unused"))
    ]
    edges = [
        _edge("rel:derived_from", "procedure:deploy", "episode:two"),
        _edge("rel:derived_from", "procedure:deploy", "episode:one"),
    ]
    commit(story, {"atoms": [procedure_, *episodes], "edges": edges})

    rows = {row["episode_id"]: row for row in run("episodes_behind", ref="procedure:deploy")}

    assert set(rows) == {"episode:one", "episode:two"}
    assert rows["episode:one"]["joined_by"] == ["derived_from", "evidence evd_turn2"]
    assert (rows["episode:two"]["joined_by"], rows["episode:two"]["result"]) == (
        ["derived_from"],
        "it failed",
    )


def test_what_changed_between_two_versions(story: Context, run: Run) -> None:
    """Later than `since`, not later than `until`; both may be left out."""
    everything = run("changes_between")
    since = max(row["graph_version"] for row in everything if row["event_type"] == "edge_committed")
    later = run("changes_between", since=since)

    assert [(row["event_type"], row["kind"], row["version"]) for row in later] == [
        ("evidence_captured", "evidence", 1),
        ("atom_archived", "atom", 2),
        ("atom_archived", "edge", 2),
        ("evidence_captured", "evidence", 1),
    ]
    assert later[1]["title"] == "user:primary knows project:amos"
    assert run("changes_between", since=since, until=since + 1) == later[:1]
    assert run("changes_between", until=since) == everything[: -len(later)]


def test_a_whole_journal_is_fine(story: Context, run: Run) -> None:
    """Every check of a journal that commands wrote holds."""
    rows = run("chain_health")

    assert column(rows, "check") == [
        "head",
        "head hash",
        "newest event",
        "events",
        "gaps",
        "events not chained to the one before",
        "bodies",
        "last write",
    ]
    assert all(column(rows, "fine")), rows
    assert rows[4]["found"] == "0"


def test_a_cut_journal_is_not(story: Context, run: Run, graph: Graph) -> None:
    """An event taken out of the middle by somebody with the password leaves a gap and a broken link."""
    cut = "MATCH (e:Event {shard: $shard, graph_version: 2}) DETACH DELETE e"
    administrator.run(graph, cut, shard=story.scope.shard)
    wrong = [row["check"] for row in run("chain_health") if not row["fine"]]

    assert wrong == ["events", "gaps", "events not chained to the one before"]


def test_orphans(story: Context, run: Run) -> None:
    """What hangs on nothing and what nothing uses, each named for what it is."""
    commit(story, {"atom": LONELY})

    assert run("orphans") == [
        {
            "kind": "uncited_evidence",
            "label": "conversation_turn",
            "ref": "evd_unused",
            "title": "conversation_turn archive://unused",
        },
        {"kind": "unlinked_atom", "label": "semantic", "ref": "semantic:lonely", "title": "Rain is wet."},
        {"kind": "unused_entity", "label": "place", "ref": "ent:place:nowhere", "title": "nowhere"},
    ]


def test_what_no_command_made_is_a_stray(story: Context, run: Run, graph: Graph) -> None:
    """A node, a body and an arrow that somebody with the password made; commands leave none."""
    assert run("strays") == []
    for made in (
        "CREATE (:Entity {shard: $shard, id: 'ent:made:up', type: 'made', title: 'up'})",
        "CREATE (:Version {shard: $shard, ref: 'x', version: 1, kind: 'atom', graph_version: 1})",
        "MATCH (a:Atom {shard: $shard, id: 'belief:works'})-[:CONTRADICTS]->(b) CREATE (a)-[:SUPPORTS]->(b)",
    ):
        administrator.run(graph, made, shard=story.scope.shard)

    assert run("strays") == [
        {"kind": "stray_arrow", "label": "SUPPORTS", "ref": "belief:works", "title": "to belief:rests"},
        {"kind": "stray_node", "label": "Entity", "ref": "ent:made:up", "title": "up"},
        {"kind": "stray_version", "label": "Version", "ref": "x", "title": "atom"},
    ]


def test_a_node_of_each_kind_of_record_may_be_a_stray(story: Context, run: Run, graph: Graph) -> None:
    """No label is left out."""
    for label, key in KEYS.values():
        made = f"CREATE (:{label} {{shard: $shard, {key}: 'made_up', title: 'up'}})"
        administrator.run(graph, made, shard=story.scope.shard)

    assert {row["label"] for row in run("strays")} == {label for label, _ in KEYS.values()}


def test_the_most_inhibited_come_first(story: Context, run: Run) -> None:
    """Summed over what holds back and is live itself; what was archived holds nothing back."""
    commit(
        story,
        {
            "atoms": [LONELY, LONELY | {"id": "semantic:other", "payload": {"statement": "Snow is cold."}}],
            "edges": [
                _inhibits("belief:works", "semantic:lonely", 0.95),
                _inhibits("semantic:lonely", "belief:rests", 0.7),
                _inhibits("belief:works", "belief:rests", 0.4),
                _inhibits("semantic:other", "belief:works", 0.9),
            ],
        },
    )
    archive(story, {"atom_id": "semantic:other", "reason": "Nobody asked."})
    rows = run("most_inhibited")

    assert [(row["atom_id"], row["holders"], row["strength"]) for row in rows] == [
        ("belief:rests", 2, 1.1),
        ("semantic:lonely", 1, 0.95),
    ]
    assert rows[0]["held_back_by"] == [
        "semantic:lonely (Rain is wet.)",
        "belief:works (user:primary working_on project:amos)",
    ]
    assert (rows[0]["type"], rows[0]["state_now"]) == ("belief", "live")


def test_growth_by_type_and_scope(story: Context, run: Run, context_of: Callable[..., Context]) -> None:
    """One row a day, scope and type, with how many of them are still live."""
    commit(
        context_of(scope={"project_id": "p1", "user_id": "u1"}),
        {"events": [source_event("evd_p1")], "atom": belief(evidence_refs=["evd_p1"])},
    )
    rows = run("growth")

    scoped = [(row["project_id"], row["user_id"], row["agent_id"]) for row in rows]
    assert scoped == [("p1", "u1", None), (None, None, None)]
    assert [(row["type"], row["added"], row["live_now"]) for row in rows] == [
        ("belief", 1, 1),
        ("belief", 3, 2),
    ]
    assert rows[1]["body_bytes"] > rows[0]["body_bytes"] > 100


def test_unresolved_conflicts_show_both_sides(story: Context, run: Run) -> None:
    """A contradiction with the evidence of either side; it goes when a side is archived."""
    rows = run("conflicts")

    assert len(rows) == 1
    assert (rows[0]["one_id"], rows[0]["other_id"]) == ("belief:works", "belief:rests")
    assert (rows[0]["one_evidence"], rows[0]["other_evidence"]) == (["evd_turn1", "evd_turn2"], ["evd_turn1"])
    assert (rows[0]["one_confidence"], rows[0]["other_confidence"]) == (0.9, 0.3)
    assert rows[0]["days_open"] == 0

    archive(story, {"atom_id": "belief:rests", "reason": "Settled."})

    assert run("conflicts") == []


def test_a_conflict_is_resolved_when_a_newer_atom_takes_the_place_of_a_side(story: Context, run: Run) -> None:
    """The arrow stays, for the record; what it says is no longer in question."""
    commit(story, {"atom": belief(id="belief:newer", supersedes=["belief:rests"], payload={"object": "tea"})})

    assert run("conflicts") == []


def test_the_oldest_conflict_comes_first(story: Context, run: Run, graph: Graph) -> None:
    """By the time of the contradiction and not by that of the atoms; a limit of one gives the oldest."""
    commit(story, {"atom": LONELY})
    commit(story, {"edges": [_edge("rel:contradicts", "belief:works", "semantic:lonely")]})
    ago = (
        "MATCH (e:Edge {shard: $shard, target_ref: 'semantic:lonely'}) "
        "SET e.created_at = e.created_at - duration('P3D')"
    )
    administrator.run(graph, ago, shard=story.scope.shard)
    (oldest,) = run("conflicts", limit=1)

    assert (oldest["other_id"], oldest["days_open"]) == ("semantic:lonely", 3)
    assert column(run("conflicts"), "days_open") == [3, 0]


def test_why_something_was_archived(story: Context, run: Run) -> None:
    """Who, when and why, from the evidence that the event cites."""
    rows = run("why_archived")

    assert len(rows) == 1
    assert rows[0] | {"archived_at": "", "graph_version": 0} == {
        "atom_id": "belief:gone",
        "title": "user:primary knows project:amos",
        "archived_at": "",
        "actor": "svc:test",
        "reason": '{"reason":"It was said in jest."}',
        "detached": 1,
        "graph_version": 0,
        "state_now": "archived",
    }
    assert run("why_archived", ref="belief:gone") == rows
    assert run("why_archived", ref="belief:works") == []


@pytest.mark.parametrize("name", report_names())
def test_every_report_is_bounded_and_carries_what_people_need(
    story: Context, graph: Graph, name: str
) -> None:
    """One row when one is asked for, title and purpose, and the columns that the header names."""
    sample = REPORTS[name].header.sample | {"shard": story.scope.shard, "limit": 1}
    report = run_report(graph, name, sample)

    assert len(report.rows) <= 1
    assert report.title
    assert report.purpose.endswith(".")
    assert all(tuple(row) == tuple(report.columns) for row in report.rows)
    assert tuple(report.columns) == REPORTS[name].header.fields
    assert report.cut is (len(report.rows) == 1)


@pytest.mark.parametrize("name", report_names())
def test_a_report_takes_the_floats_that_browser_sends(story: Context, graph: Graph, name: str) -> None:
    """`:params {"limit": 5}` arrives as 5.0; the sample can be pasted as it is."""
    header = REPORTS[name].header
    sample = header.sample | {"shard": story.scope.shard}
    floats = {name: float(value) if isinstance(value, int) else value for name, value in sample.items()}
    rows = graph.read("report", lambda tx: tx.many(REPORTS[name], **floats))

    assert rows == graph.read("report", lambda tx: tx.many(REPORTS[name], **sample))


@pytest.mark.parametrize("name", report_names())
def test_the_columns_of_a_report_hold_what_its_header_says(story: Context, graph: Graph, name: str) -> None:
    """Each value is of the declared type, or null where the header allows it."""
    episode = {**LONELY, "id": "episode:talk", "type": "episode", "payload": {"task": "talk about Amos"}}
    commit(story, {"atoms": [LONELY, episode], "edges": [_inhibits("belief:works", "belief:rests", 0.5)]})
    register_client(story, {"id": "cli_one", "service_id": "svc:one", "capabilities": ["memory.read"]})
    nobody = replace(story, identity=replace(story.identity, trust_level=0))
    with pytest.raises(AmosError):
        govern(nobody, {"atom_id": "belief:works", "retention_class": "durable", "reason": "keep"})
    head = graph.read("head", lambda tx: head_version(tx, story.scope.shard))
    held = {"STRING": str, "JSON": str, "INTEGER": int, "FLOAT": float, "BOOLEAN": bool, "LIST<STRING>": list}
    params = REPORTS[name].header.sample | {"shard": story.scope.shard}
    params |= {
        key: value
        for key, value in {"about": "Amos", "ref": "belief:gone", "actor": "svc:test", "at": head}.items()
        if key in params
    }
    report = run_report(graph, name, params)

    assert report.rows or name == "strays"
    for row in report.rows:
        for column_name, kind in report.columns.items():
            assert row[column_name] is None or type(row[column_name]) is held[kind], column_name


def test_another_shard_is_not_seen(story: Context, graph: Graph, tenant: str) -> None:
    """A report tells of the shard that it was asked about."""
    for name in report_names():
        params = REPORTS[name].header.sample | {"shard": f"{tenant}/elsewhere"}

        assert run_report(graph, name, params).rows == [], name


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({}, "about"),
        ({"about": 7}, "about"),
        ({"about": "x", "colour": "red"}, "colour"),
        ({"about": "x", "limit": True}, "limit"),
        ({"about": "x", "limit": 0}, "limit"),
        ({"about": "x", "limit": ROWS_MAX + 1}, "limit"),
        ({"about": "x", "limit": None}, "limit"),
    ],
)
def test_a_wrong_parameter_is_named(graph: Graph, params: dict[str, Any], path: str) -> None:
    """Missing, unknown, of another type, out of bounds: refused before anything is read."""
    with pytest.raises(AmosError) as refused:
        run_report(graph, "believed_about", {"shard": "t/w", **params})

    assert refused.value.code == "schema_invalid"
    assert [fault.path for fault in refused.value.faults] == [path]


def test_an_unknown_report_is_not_found(graph: Graph) -> None:
    """The refusal lists what there is."""
    with pytest.raises(AmosError, match="there is no report nonsense; there are believed_about") as refused:
        run_report(graph, "nonsense", {})

    assert refused.value.code == "not_found"


def test_reports_are_bound_by_their_folder_alone() -> None:
    """No module binds a report a second time, and each file of the folder is one."""
    assert {path.stem for path in (CYPHER / "report").glob("*.cypher")} == set(REPORTS)
    assert "why_archived" in REPORTS
    with pytest.raises(Exception, match="@rows names"):
        procedure("report/why_archived")
