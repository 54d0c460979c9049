"""What a guarded transition looks at: the proposal, its judgment, what that cites, and what came before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amos_graph.commands.execution import Command, Context, Moment
from amos_graph.commands.state import Mentions, read_state
from amos_graph.commands.view import View
from amos_graph.domain.state import Current, State
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.diachronic import Progress, progress
from amos_graph.policy.linking import associations
from amos_graph.policy.ratification import Judged, bar_of, derived_risk, predecessor_ref
from amos_graph.policy.submission import Case, Submission


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a transition is decided: who asks for what, under which lock, at which moment."""

    context: Context
    view: View
    moment: Moment
    command: Command

    def state(self, refs: Iterable[str], owners: Iterable[str] = ()) -> State:
        """What the caller may see of these records, proposals among them."""
        mentions = Mentions(
            refs=tuple(dict.fromkeys(refs)), digest_states=("proposed",), owners=tuple(owners)
        )
        edges_max = self.context.settings.detached_edges_max
        return read_state(self.view, self.context.identity, self.context.scope, mentions, edges_max)

    def seen(self, ref: str, at: str) -> Current:
        """An atom that the caller may see. Raises `not_found`; a hidden one is absent."""
        record = self.state([ref]).visible.get(ref)
        if record is None or record.kind != "atom":
            raise AmosError("not_found", f"{at}: no such record", [Fault(at, "no such record")])
        return record

    def case(self, state: State) -> Case:
        """A decision that begins with nothing submitted."""
        return Case(Submission(), state, self.moment.now, self.moment.writer, self.context.scope)


@dataclass(frozen=True, slots=True)
class Hearing:
    """A proposal and its judgment, with everything that the checks look at."""

    state: State
    judged: Judged

    @property
    def proposal(self) -> Current:
        return self.judged.proposal

    @property
    def adjudication(self) -> Current:
        return self.judged.adjudication

    @property
    def judgment(self) -> Mapping[str, Any]:
        return self.judged.judgment


def hear(bench: Bench, proposal: Current, adjudication_ref: str, current: Current | None = None) -> Hearing:
    """Read what a judgment rests on; `current` is the constitutional record that is to give way.

    Raises `not_found`, and `authorization_denied` for what is no adjudication.
    """
    adjudication = bench.seen(adjudication_ref, "adjudication_ref")
    if adjudication.body["type"] != "adjudication":
        message = "adjudication: it is no adjudication in force"
        raise AmosError(
            "authorization_denied", message, [Fault("adjudication_ref", message)], {"risk": "high"}
        )
    follows = predecessor_ref(proposal.body)
    before = current or (bench.seen(follows, "proposal_ref") if follows else None)
    history = bench.view.adjudications(proposal.ref)
    judgment = adjudication.body["payload"]
    cited: list[str] = judgment["covenant_refs"]
    experience = {ref for one in history for ref in one.payload["diachronic"]["new_experience_refs"]}
    body = proposal.body
    ends = [ref for _, ref in associations(body.get("supersedes", []), body["payload"])]
    state = bench.state(
        [
            *(proposal.ref, adjudication.ref, *([before.ref] if before else [])),
            *(*cited, *sorted(experience), *ends),
            *(*body["evidence_refs"], *adjudication.body["evidence_refs"]),
        ],
        owners=[proposal.ref],
    )
    risk = derived_risk(body, before.body if before else None)
    counted: Progress = progress(
        history,
        judgment["ratifier"]["identity_ref"],
        frozenset(state.visible),
        bar_of(risk, judgment, current.body if current else None),
    )
    return Hearing(
        state,
        Judged(
            identity=bench.context.identity,
            capability=bench.command.capability,
            proposal=proposal,
            adjudication=adjudication,
            cited={ref: state.visible[ref] for ref in cited if ref in state.visible},
            predecessor=before,
            progress=counted,
            now=bench.moment.now,
        ),
    )
