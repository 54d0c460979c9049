"""The part of a shard that a command mentions, parted into what the caller may see and what not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from amos_graph.commands.view import View
from amos_graph.domain.association import edge_id
from amos_graph.domain.scope import Identity, Scope
from amos_graph.domain.state import Current, State
from amos_graph.policy.access import may_read_body
from amos_graph.policy.linking import associations
from amos_graph.policy.succession import SUPERSEDES


@dataclass(frozen=True, slots=True)
class Mentions:
    """Everything that a command will look at, known before the transaction."""

    refs: tuple[str, ...] = ()
    #: Content digests, looked up among atoms of `digest_states`.
    digests: tuple[str, ...] = ()
    digest_states: tuple[str, ...] = ("active",)
    streams: tuple[str, ...] = ()
    #: Atoms whose own edges are wanted.
    owners: tuple[str, ...] = ()


def together(mentions: Iterable[Mentions]) -> Mentions:
    """What several commands mention, once each; contents only as far as they mean the same states."""
    every = list(mentions)
    states = next((each.digest_states for each in every if each.digests), ())
    return Mentions(
        refs=tuple(dict.fromkeys(ref for each in every for ref in each.refs)),
        digests=tuple(
            dict.fromkeys(digest for each in every if each.digest_states == states for digest in each.digests)
        ),
        digest_states=states,
        streams=tuple(dict.fromkeys(ref for each in every for ref in each.streams)),
        owners=tuple(dict.fromkeys(ref for each in every for ref in each.owners)),
    )


def prefetch(view: View, mentioned: Mentions, edges_max: int) -> None:
    """Read what was found to be needed besides: atoms of equal content, own edges of atoms that exist."""
    same = view.same_content(mentioned.digests, mentioned.digest_states).values()
    view.records(same)
    owners = [record.ref for record in view.records(mentioned.owners)]
    if len(owners) > 1:
        view.own_edges(owners, edges_max)


def read_state(view: View, identity: Identity, scope: Scope, mentions: Mentions, edges_max: int) -> State:
    """The state that a decision rests on.

    Proposals are visible to stewards and, where `digest_states` names them, to whoever proposes;
    clients and scores to no command of this kind. Raises `capacity_limited` for more than `edges_max`
    own edges.
    """
    same = view.same_content(mentions.digests, mentions.digest_states)
    records = view.records([*mentions.refs, *same.values()])
    # Evidence that is added to an atom goes on to the edges that its record asks for.
    said = set(same.values())
    stated = [ref for record in records if record.ref in said for ref in _edges_asked_by(record)]
    if stated:
        records = view.records([*(record.ref for record in records), *stated])
    proposals = identity.may("memory.steward") or "proposed" in mentions.digest_states
    seen = {
        record.ref
        for record in records
        if record.kind not in ("client", "score", "refusal")
        and (proposals or record.body.get("lifecycle_state") != "proposed")
        and may_read_body(identity, scope, record.body)
    }
    # An atom that is new has none, and most owners are new.
    own = view.own_edges([ref for ref in (*mentions.owners, *said) if ref in seen], edges_max)
    successions = [edge for edges in own.values() for edge in edges if edge.body["relation"] == SUPERSEDES]
    superseded = view.records([edge.body["target_ref"] for edge in successions]) if successions else []
    return State(
        visible={record.ref: record for record in records if record.ref in seen},
        hidden=frozenset(record.ref for record in records if record.ref not in seen),
        same_content={digest: ref for digest, ref in same.items() if ref in seen},
        streams=view.streams(mentions.streams),
        own_edges=own,
        superseded={record.ref: record for record in superseded},
    )


def _edges_asked_by(atom: Current) -> Iterator[str]:
    """The edges that a stored atom asks for, and their other ends."""
    for relation, target in associations(atom.body.get("supersedes", []), atom.body["payload"]):
        yield target
        yield edge_id(atom.ref, relation, target)
