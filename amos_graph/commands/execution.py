"""The one way to write: a command joins its shard's queue and is run once, alone or in a group.

Source: design §4.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from amos_graph.commands.group import NothingAcceptedError, Outcome, run_group
from amos_graph.commands.plan import Attempt, Command, Context, Decide, Moment, Plan, Receipt, attempt
from amos_graph.commands.refusals import noting
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph, TimeLimitError, settled

__all__ = ["Command", "Context", "Moment", "Plan", "Receipt", "execute"]

_log: Final = logging.getLogger(__name__)
#: How long a command whose commit was cut is settled before the caller is told to try again.
SETTLE_S: Final = 30.0


def execute(context: Context, command: Command, decide: Decide) -> Receipt:
    """Run a command once, whatever happens to the connection.

    Raises `authorization_denied`, `idempotency_conflict`, what `decide` raises, and `unavailable`
    when the outcome could not be settled in time.
    """
    try:
        context.identity.demand(command.capability)
        return _submitted(context, command, decide)
    except AmosError as error:
        _note(context, command, error)
        raise


def _note(context: Context, command: Command, error: AmosError) -> None:
    """Keep a refusal that is to be kept; that it could not be kept makes nothing of it allowed."""
    noted = noting(context, command, error)
    if noted is None:
        return
    # Under no key of the caller's, which stays free for the command itself.
    plain = replace(context, idempotency_key=None, expected_versions={}, causal_parent_ids=())
    try:
        _submitted(plain, *noted)
    except AmosError as failure:
        _log.warning("a refusal of %s could not be noted: %s", command.operation, failure.code)


def _submitted(context: Context, command: Command, decide: Decide) -> Receipt:
    settings = context.settings
    return context.graph.writers.submit(
        context.scope.shard,
        attempt(context, command, decide),
        partial(_together, context.graph, context.scope.shard),
        weight=len(command.mentions.refs),
        group_max=settings.group_max,
        weight_max=settings.group_refs_max,
    )


def _together(graph: Graph, shard: str, attempts: Sequence[Attempt]) -> list[Outcome]:
    """The outcomes of a group; one that cannot be written as a whole is run command by command."""
    if len(attempts) > 1:
        try:
            return _settled(graph, shard, attempts)
        except TimeLimitError:
            _log.warning("a group of %d commands took too long; each runs alone", len(attempts))
        except AmosError as error:
            if error.code == "unavailable":
                # Nobody gets through now, and each of them would wait for that in turn.
                return [AmosError(error.code, error.message) for _ in attempts]
            _log.warning("a group of %d commands failed (%s); each runs alone", len(attempts), error.code)
        except Exception:
            _log.exception("a group of %d commands failed; each runs alone", len(attempts))
    return [_alone(graph, shard, each) for each in attempts]


def _alone(graph: Graph, shard: str, each: Attempt) -> Outcome:
    try:
        return _settled(graph, shard, [each])[0]
    except Exception as error:
        return error


def _settled(graph: Graph, shard: str, attempts: Sequence[Attempt]) -> list[Outcome]:
    """Run a group's transaction until its fate is known; then the receipts tell."""
    flow = attempts[0].command.operation if len(attempts) == 1 else "commit_group"
    try:
        return settled(lambda: graph.write(flow, lambda tx: run_group(tx, shard, attempts)), SETTLE_S)
    except NothingAcceptedError as nothing:
        return nothing.outcomes
