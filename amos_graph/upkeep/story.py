"""An authored story as data: five weeks of a team of agents that builds a ferry timetable service.

Iris plans, Bruno builds, Mara reviews, Otto operates; Lena Hartmann, a person, owns the result. Each
chapter is one command. Times of the story stand in the records' own time fields (`captured_at`,
`observed_at`, validity); when the kernel wrote them is the kernel's to say.
"""

from __future__ import annotations

from typing import Any, Final

from amos_graph.upkeep import story_records as names
from amos_graph.upkeep.story_records import Chapter, atom, day, edge, entity, predicate, source, talk


def _goal(status: str, *proofs: str, at: str, version: int = 0, **more: Any) -> dict[str, Any]:
    wanted = {
        "owner": names.LENA,
        "desired_state": "a public beta of Ferrytime with live departures at all piers",
        "goal_status": status,
        "priority": "high",
        "deadline": day("12-04", "17:00"),
        **more,
    }
    return atom(names.GOAL, wanted, *proofs, at=at, salience=0.9, version=version)


def _import(status: str, *proofs: str, at: str, version: int = 0) -> dict[str, Any]:
    promise = {
        "agent": names.BRUNO,
        "promised_action": "import the winter timetable",
        "recipient": names.LENA,
        "due_condition": "before the first test run",
        "commitment_status": status,
        "graph_relations": [{"relation": "rel:goal_relevance", "target_ref": names.GOAL}],
    }
    return atom(names.IMPORT, promise, *proofs, at=at, version=version)


_KICKOFF = talk(
    "kickoff",
    (
        names.LENA,
        day("10-19", "10:00"),
        "By 4 December I want a public beta with live departures at all piers.",
    ),
    (names.IRIS, day("10-19", "10:02"), "Understood. The tide data decide which piers a ferry can use."),
    (names.BRUNO, day("10-19", "10:05"), "I will import the winter timetable before the first test run."),
    (names.LENA, day("10-19", "10:09"), "If something breaks, e-mail me a report."),
    (names.OTTO, day("10-19", "10:10"), "Noted: incident reports by e-mail."),
)
_CORRECTION = talk(
    "incident",
    (
        names.OTTO,
        day("11-10", "08:00"),
        "The report on Thursday's outage is in your mailbox since that evening.",
    ),
    (
        names.LENA,
        day("11-10", "08:20"),
        "I saw it the next morning. No e-mail for outages: phone me, then chat.",
    ),
    (names.OTTO, day("11-10", "08:21"), "From now on I phone first and write in the on-call chat."),
)

CHAPTERS: Final[tuple[Chapter, ...]] = (
    Chapter(
        name="kickoff",
        title="week 1, Monday: the team meets; a goal, a promise, a preference",
        entities=(
            entity(names.IRIS, "Iris", "the planner"),
            entity(names.BRUNO, "Bruno", "the builder"),
            entity(names.MARA, "Mara", "the reviewer"),
            entity(names.OTTO, "Otto", "the operator"),
            entity(names.LENA, "Lena Hartmann", "Lena", "the owner"),
            entity(names.FERRYTIME, "Ferrytime", "Ferry Time", "the ferry timetable service"),
            entity(names.FEED, "tide feed", "Tidewatch feed", "the tide data"),
            entity(names.NORRHAVN, "Norrhavn", "North Harbour"),
        ),
        relations=(
            predicate("has_tide_readings", "is a pier for which the tide feed delivers readings"),
            predicate("refresh_interval", "delivers new data once in this time"),
        ),
        events=tuple(source for source, _ in _KICKOFF),
        atoms=(
            *(event for _, event in _KICKOFF),
            _goal("active", "kickoff_1", at=day("10-19", "10:00")),
            _import("open", "kickoff_3", at=day("10-19", "10:05")),
            atom(
                names.WARN_BY_MAIL,
                {
                    "holder": names.LENA,
                    "polarity": "prefers",
                    "target": "a report by e-mail",
                    "applicability_scope": "an outage or another incident of Ferrytime",
                    "strength": "medium",
                },
                "kickoff_4",
                at=day("10-19", "10:09"),
            ),
        ),
    ),
    Chapter(
        name="feed",
        title="week 1, Thursday: the supplier's data sheet",
        events=(
            source(
                "datasheet",
                "document",
                "file://suppliers/tidewatch/datasheet-2026.pdf#page=3",
                day("10-22"),
                text="Stations: Sundby, Klint, Norrhavn … Values are refreshed every 15 minutes.",
            ),
        ),
        atoms=(
            atom(
                "story/belief/feed-interval",
                {
                    "subject": names.FEED,
                    "relation": "rel:refresh_interval",
                    "object": {"value_type": "quantity", "value": 15, "unit": "minutes"},
                    "modality": "observed",
                },
                "datasheet",
                at=day("10-22"),
            ),
            atom(
                names.COVERED,
                {
                    "subject": names.NORRHAVN,
                    "relation": "rel:has_tide_readings",
                    "object": True,
                    "modality": "observed",
                    "qualifiers": {"feed": names.FEED, "according_to": "the supplier's data sheet"},
                    "validity_interval": {"from": day("10-01", "00:00")},
                    "graph_relations": [{"relation": "rel:goal_relevance", "target_ref": names.GOAL}],
                },
                "datasheet",
                at=day("10-22"),
            ),
        ),
    ),
    Chapter(
        name="first-deploy",
        title="week 2: a procedure is written down and works once; the promise is kept",
        events=(
            source(
                "runbook",
                "document",
                "git://ferrytime/runbook.md@4f1c",
                day("10-27"),
                text="Deploy: build, copy, restart, look at the departures page.",
            ),
            source(
                "deploy_log_1",
                "tool_result",
                "ci://ferrytime/deploy/1",
                day("10-28", "14:10"),
                exit_code=0,
                text="restarted in 3 s, departures page answers",
            ),
            source(
                "import_log",
                "tool_result",
                "ci://ferrytime/import/7",
                day("10-29", "11:30"),
                exit_code=0,
                text="1,204 departures imported, 0 rejected",
            ),
        ),
        atoms=(
            atom(
                names.DEPLOY_OLD,
                {
                    "name": "proc:deploy_ferrytime",
                    "trigger_context": "a release of Ferrytime is to go live",
                    "steps": [
                        "build the release",
                        "copy it to the server",
                        "restart the service",
                        "look at the departures page",
                    ],
                    "owner": names.OTTO,
                },
                "runbook",
                at=day("10-27"),
                level="medium",
            ),
            atom(
                "story/outcome/deploy-1",
                {
                    "subject_agent": names.OTTO,
                    "action_type": "deploy Ferrytime",
                    "success_status": "succeeded",
                    "actual_outcome": "the first test release went live in three seconds",
                    "graph_relations": [{"relation": "rel:supports", "target_ref": names.DEPLOY_OLD}],
                },
                "deploy_log_1",
                at=day("10-28", "14:10"),
            ),
            _import("fulfilled", "kickoff_3", "import_log", at=day("10-29", "11:30"), version=1),
        ),
    ),
    Chapter(
        name="bad-thursday",
        title="week 3, Thursday: the same procedure fails",
        events=(
            source(
                "deploy_log_2",
                "tool_result",
                "ci://ferrytime/deploy/2",
                day("11-05", "17:42"),
                exit_code=1,
                text="column pier_code does not exist; service stopped",
            ),
            source(
                "alert",
                "monitoring_alert",
                "monitor://ferrytime/departures/down",
                day("11-05", "17:44"),
                text="departures page down for 41 minutes",
            ),
        ),
        atoms=(
            atom(
                names.FAILED_DEPLOY,
                {
                    "subject_agent": names.OTTO,
                    "action_type": "deploy Ferrytime",
                    "success_status": "failed",
                    "expected_outcome": "the new release is live",
                    "actual_outcome": "the service stopped, since its database was not migrated",
                    "graph_relations": [{"relation": "rel:exception_to", "target_ref": names.DEPLOY_OLD}],
                },
                "deploy_log_2",
                "alert",
                at=day("11-05", "17:44"),
                salience=0.8,
            ),
            atom(
                names.BAD_THURSDAY,
                {
                    "task": "deploy release 2 of Ferrytime",
                    "outcome": "the departures page was down for 41 minutes",
                    "errors": ["the release expected a database column that no migration had made"],
                    "corrections": ["the old release was copied back by hand"],
                    "graph_relations": [
                        {"relation": "rel:derived_from", "target_ref": names.FAILED_DEPLOY},
                        {"relation": "rel:caused_by", "target_ref": names.FAILED_DEPLOY},
                    ],
                },
                "alert",
                at=day("11-05", "19:00"),
            ),
        ),
    ),
    Chapter(
        name="revised-procedure",
        title="week 3, Friday: Mara reviews, and the procedure is revised",
        events=(
            source(
                "review",
                "review",
                "review://ferrytime/18",
                day("11-06", "10:15"),
                reviewer=names.MARA,
                text="Migrate first, keep the old release, roll back on the first failed check.",
            ),
        ),
        atoms=(
            atom(
                names.DEPLOY_NEW,
                {
                    "name": "proc:deploy_ferrytime",
                    "trigger_context": "a release of Ferrytime is to go live",
                    "preconditions": ["the migration ran on a copy of the database"],
                    "steps": [
                        "build the release",
                        "migrate the database",
                        "copy the release beside the old one",
                        "switch over and restart",
                        "check the departures page of every pier",
                    ],
                    "known_failure_modes": ["a release that expects columns the database lacks"],
                    "recovery_strategies": ["switch back to the old release at the first failed check"],
                    "owner": names.OTTO,
                    "graph_relations": [
                        {"relation": "rel:caused_by", "target_ref": names.FAILED_DEPLOY},
                        {"relation": "rel:derived_from", "target_ref": names.BAD_THURSDAY},
                    ],
                },
                "review",
                "deploy_log_2",
                at=day("11-06", "10:15"),
                supersedes=[names.DEPLOY_OLD],
            ),
        ),
    ),
    Chapter(
        name="corrected-preference",
        title="week 4, Tuesday: Lena corrects what was remembered",
        events=tuple(source for source, _ in _CORRECTION),
        atoms=(
            *(event for _, event in _CORRECTION),
            atom(
                names.WARN_BY_CALL,
                {
                    "holder": names.LENA,
                    "polarity": "prefers",
                    "target": "a phone call, then a note in the on-call chat",
                    "applicability_scope": "an outage or another incident of Ferrytime",
                    "strength": "high",
                    "exceptions": ["no e-mail for outages"],
                    "graph_relations": [{"relation": "rel:caused_by", "target_ref": names.BAD_THURSDAY}],
                },
                "incident_2",
                at=day("11-10", "08:20"),
                level="very_high",
                salience=0.8,
                supersedes=[names.WARN_BY_MAIL],
            ),
        ),
    ),
    Chapter(
        name="conflict",
        title="week 4, Thursday: measurement disagrees with the data sheet",
        events=(
            source(
                "station_report",
                "measurement",
                "monitor://ferrytime/tide-feed/stations",
                day("11-12", "06:00"),
                station="Norrhavn",
                readings=0,
                days=14,
            ),
        ),
        atoms=(
            atom(
                names.NOT_COVERED,
                {
                    "subject": names.NORRHAVN,
                    "relation": "rel:has_tide_readings",
                    "object": False,
                    "modality": "observed",
                    "qualifiers": {"feed": names.FEED, "according_to": "14 days of measurement"},
                    "validity_interval": {"from": day("10-29", "06:00")},
                    "graph_relations": [{"relation": "rel:goal_relevance", "target_ref": names.GOAL}],
                },
                "station_report",
                at=day("11-12", "06:00"),
            ),
        ),
        edges=(edge(names.NOT_COVERED, "contradicts", names.COVERED, "datasheet", "station_report"),),
    ),
    Chapter(
        name="blocked-goal",
        title="week 5: the goal has a blocker, and Otto promises to see to it",
        events=(
            source(
                "minutes",
                "meeting_minutes",
                "file://ferrytime/minutes/2026-11-18.md",
                day("11-18", "15:00"),
                text="Six of seven piers are ready. Norrhavn waits for the supplier. Otto asks by the 24th.",
            ),
        ),
        atoms=(
            atom(
                names.ASK_SUPPLIER,
                {
                    "agent": names.OTTO,
                    "promised_action": "ask the supplier why Norrhavn is silent",
                    "recipient": names.IRIS,
                    "due_condition": "by 24 November",
                    "commitment_status": "open",
                    "graph_relations": [
                        {"relation": "rel:goal_relevance", "target_ref": names.GOAL},
                        {"relation": "rel:triggered_by", "target_ref": names.NOT_COVERED},
                    ],
                },
                "minutes",
                at=day("11-18", "15:00"),
            ),
            _goal(
                "blocked",
                "kickoff_1",
                "minutes",
                at=day("11-18", "15:00"),
                # The version that this one replaces.
                version=1,
                blockers=["no tide readings from Norrhavn, the last of seven piers"],
            ),
        ),
    ),
)
