"""Runs of an agent as episodes: does what was asked bring the episodes of the same kind of task first?

The kind of a task is not in the data. It is taken to be the first tool with an effect that the run
called (`cancel_reservation`), and a run that called none is of the kind that only asks. A kind of one
run has no other to be found by and is not asked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.domain.ids import derived_id
from amos_graph.domain.tokens import STOP_WORDS, tokens_of
from amos_graph.queries.recall import recall
from bench.stores import send

RUNS: Final = Path("agent-runs") / "airline-runs.jsonl"
EFFECTS: Final = ("book_", "cancel_", "update_", "send_", "transfer_")
ASKS: Final = "asks"
#: Messages of the user that an episode tells, and those that are asked.
TOLD: Final = 8
ASKED: Final = 2


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One run: what its user wrote, which tools were called, and whether it was rewarded."""

    id: str
    said: Sequence[str]
    tools: Sequence[str]
    rewarded: bool

    @property
    def ref(self) -> str:
        """The id of its episode."""
        return f"run/{self.id}"

    @property
    def kind(self) -> str:
        """The first tool with an effect."""
        return next((tool for tool in self.tools if tool.startswith(EFFECTS)), ASKS)


def read_runs(folder: Path) -> list[AgentRun]:
    """Every run, in the order of the file."""
    with (folder / RUNS).open(encoding="utf-8") as lines:
        return [_run(json.loads(line)) for line in lines]


def _run(row: dict[str, Any]) -> AgentRun:
    messages: list[dict[str, Any]] = row["messages"]
    return AgentRun(
        id=row["run"],
        said=[entry["content"] for entry in messages if entry["role"] == "user"],
        tools=[call["name"] for entry in messages for call in entry.get("tool_calls") or ()],
        rewarded=row["reward"] > 0,
    )


def load(context: Context, runs: Sequence[AgentRun]) -> None:
    """An episode for each run, on the evidence of its messages."""
    send(context, {"events": [_evidence(run) for run in runs], "atoms": [_episode(run) for run in runs]})


def reciprocal_ranks(context: Context, runs: Sequence[AgentRun]) -> dict[str, list[float]]:
    """Way → for each run that is asked, 1 ÷ the place of the first other episode of its kind."""
    counts = Counter(run.kind for run in runs)
    kinds = {run.ref: run.kind for run in runs}
    found: dict[str, list[float]] = {"packets": [], "words in common": []}
    for run in (run for run in runs if counts[run.kind] > 1):
        question = "\n".join(run.said[:ASKED])
        items = recall(context, {"cues": [question], "max_items": min(len(runs), context.settings.items_max)})
        ranked = [str(item["atom_ref"]) for item in items["items"] if item["atom_ref"] != run.ref]
        found["packets"].append(_reciprocal(ranked, kinds, run.kind))
        found["words in common"].append(_reciprocal(_by_words(question, run, runs), kinds, run.kind))
    return found


def _reciprocal(ranked: Sequence[str], kinds: dict[str, str], kind: str) -> float:
    return next((1 / place for place, ref in enumerate(ranked, 1) if kinds[ref] == kind), 0.0)


def _by_words(question: str, own: AgentRun, runs: Sequence[AgentRun]) -> list[str]:
    """The other runs by how many telling words of the question they have, ties by id."""
    words = set(tokens_of(question)) - STOP_WORDS
    shared = {run.ref: len(words & set(tokens_of(_told(run)))) for run in runs if run is not own}
    return sorted(shared, key=lambda ref: (-shared[ref], ref))


def _told(run: AgentRun) -> str:
    return "\n".join(run.said[:TOLD])


def _evidence(run: AgentRun) -> dict[str, Any]:
    return {
        "evidence_id": derived_id("evd_", ["run", run.id]),
        "source_type": "conversation",
        "source_ref": f"run:{run.id}",
        "payload": {"said": list(run.said), "tools": list(run.tools), "rewarded": run.rewarded},
    }


def _episode(run: AgentRun) -> dict[str, Any]:
    return {
        "id": run.ref,
        "type": "episode",
        "payload": {"task": _told(run), "outcome": "rewarded" if run.rewarded else "not rewarded"},
        "evidence_refs": [derived_id("evd_", ["run", run.id])],
        "confidence": {"level": "high"},
    }
