"""The packet: one search of one graph version, assembled with everything that explains it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from amos_graph.commands.execution import Context
from amos_graph.commands.manifests import note
from amos_graph.domain.budget import token_counter
from amos_graph.domain.ids import derived_id
from amos_graph.domain.packets import Asked, check_request
from amos_graph.domain.times import now, parse_time
from amos_graph.encoding import open_encoder
from amos_graph.errors import AmosError, Fault
from amos_graph.graph.packet_cache import Stand
from amos_graph.graph.transactions import Tx
from amos_graph.policy.components import POLICY_ID, WEIGHTS
from amos_graph.policy.inhibition import Inhibition
from amos_graph.queries.recall.cache import KEYED_BY, cache_key, keep, kept_packet
from amos_graph.queries.recall.candidates import resolved
from amos_graph.queries.recall.contents import (
    ConflictRow,
    Stored,
    conflict,
    item,
)
from amos_graph.queries.recall.meaning import Meaning
from amos_graph.queries.recall.past import read_past
from amos_graph.queries.recall.search import Search, open_gate, search
from amos_graph.queries.recall.shape import shaped
from amos_graph.queries.recall.source import Present, Source
from amos_graph.queries.recall.trace import degradation, omitted, trace
from amos_graph.queries.steady import Head, read_head, steady
from amos_graph.queries.versions import hold_shard, readable_version


@dataclass(frozen=True, slots=True)
class Reading:
    """All that was read for one packet, at one version."""

    graph_version: int
    search: Search
    stored: Stored
    conflicts: list[ConflictRow]
    lineage: dict[str, Any]
    #: What nearness of meaning depends on beside the graph: the encoder's model, and the words counted.
    index_version: str
    #: Where the journal certainly stood; unknown to a reading under the lock.
    stand: Stand | None = None


def recall(context: Context, request: Mapping[str, Any]) -> dict[str, Any]:
    """The MemoryPacket for a MemoryPacketRequest, as JSON (`POST /v1/packets:retrieve`).

    The same request at the same graph version and `evaluated_at` gives the same items, byte for byte,
    and where the packet is still kept, the packet itself (decision 0029).
    Reading writes nothing but, behind the answer, a note of what the packet held, and creates no shard.

    Raises `authorization_denied` without `memory.read` or for another client's identity,
    `schema_invalid` with the path of what is not understood, `scope_denied`, and
    `expected_version_conflict` while the shard has not reached `min_graph_version`.
    """
    context.identity.demand("memory.read")
    asked = check_request(request, context.scope, now(), context.settings.items_max)
    claimed = asked.request.client_identity
    if claimed not in (None, context.identity.client_id, context.identity.service_id):
        raise AmosError(
            "authorization_denied",
            "client_identity: is not the identity of this token",
            [Fault("client_identity", "is not the identity of this token")],
        )
    within = replace(context, scope=asked.scope)
    key = cache_key(within, asked)
    known = kept_packet(within, asked, key)
    if known is not None:
        return known
    past = asked.request.as_of_version is not None or asked.request.valid_at is not None
    reading = read_back(within, asked) if past else settled(within, asked)
    packet = assembled(within, asked, reading)
    keep(within, asked, key, reading.stand, packet)
    note(within, packet)
    return packet


def read_back(context: Context, asked: Asked) -> Reading:
    """A reading of the shard as it was at a version, or of what held at an instant as it is known now.

    Raises `schema_invalid` for a version that the shard has not reached and `capacity_limited` for a
    shard that is too large to be read as a whole.
    """

    shard = asked.scope.shard
    version, stand, applied = context.graph.read("recall_version", lambda tx: _version_asked(tx, asked))
    if not applied:
        # Whoever holds the lock after a command sees all of it, and what is applied never changes.
        context.graph.write("recall_barrier", lambda tx: hold_shard(tx, shard))
    reading = context.graph.read("recall_past", lambda tx: _read_past(tx, context, asked, version))
    return replace(reading, stand=stand)


def _version_asked(tx: Tx, asked: Asked) -> tuple[int, Stand | None, bool]:
    """The version that a packet of the past is read at, where the journal stands, and if all is applied."""
    head = read_head(tx, asked.scope.shard)
    _demand_reached(asked, head.graph_version if head else 0)
    version = readable_version(tx, asked.scope.shard, asked.request.as_of_version)
    return version, _stand(head), head is None or version <= head.undoubted


def _read_past(tx: Tx, context: Context, asked: Asked, version: int) -> Reading:
    gate = open_gate(tx, context, asked)
    encoder = open_encoder(context.settings.encoder)
    source = read_past(tx, gate, version, context.settings.past_records_max, encoder)
    reading = _read_from(source, asked, version)
    if reading is None:
        raise AmosError("internal", "an atom that was found in the past could not be read there")
    return reading


def settled(context: Context, asked: Asked) -> Reading:
    """A reading of exactly one graph version."""
    reading, head = steady(
        context.graph,
        asked.scope.shard,
        "recall",
        lambda tx, version: _read(tx, context, asked, version),
        touches,
    )
    return replace(reading, stand=_stand(head))


def _stand(head: Head | None) -> Stand | None:
    return Stand(head.graph_version, head.head_hash, head.index_mark) if head else None


def _read(tx: Tx, context: Context, asked: Asked, version: int) -> Reading | None:
    """All that a packet needs, or None if something that was found was gone when it was to be read."""
    _demand_reached(asked, version)
    gate, settings = resolved(tx, open_gate(tx, context, asked)), context.settings
    meaning = Meaning(tx, gate, open_encoder(settings.encoder), settings.tail_max)
    return _read_from(Present(tx, gate, meaning), asked, version)


def _demand_reached(asked: Asked, version: int) -> None:
    """Raise `expected_version_conflict` while the shard has not reached the request's min_graph_version."""
    wanted = asked.request.min_graph_version
    if wanted is not None and version < wanted:
        # No fault of the server: its journal is never behind itself, so the caller saw another store.
        raise AmosError(
            "expected_version_conflict",
            f"min_graph_version: the shard stands at version {version}",
            [Fault("min_graph_version", f"the shard stands at version {version}")],
            {
                "target_ref": asked.scope.shard,
                "expected_version": wanted,
                "actual_version": version,
                "conflicting_event_id": None,
                "recommended_action": "retry",
            },
        )


def _read_from(source: Source, asked: Asked, version: int) -> Reading | None:
    found = search(source, asked)
    selected = [entry.traits.id for entry in found.selected]
    conflicts = source.conflicts(selected) if asked.request.include_conflicts else []
    shown = dict.fromkeys([*selected, *(row.other_id for row in conflicts)])
    stored = source.contents(list(shown))
    if len(stored) < len(shown):
        return None
    lineage = source.lineage(selected) if asked.request.include_provenance else {}
    return Reading(version, found, stored, conflicts, lineage, source.index_version)


def touches(reading: Reading, changes: list[dict[str, Any]]) -> bool:
    """True unless these writes cannot have changed what was read.

    A first version of a record that was not read is an addition, and what was read is as it was before
    it. An addition that joins atoms which were read changes degrees and contradictions, and a
    supersession changes the standing of its target. Every later version may have been seen either way.
    A score is of the atom, or of the edge between the atoms, that it names.
    """
    search_ = reading.search
    ways = [entry.relevance.activation for entry in search_.selected]
    read = {
        *search_.read,
        *search_.found.entities,
        *search_.found.expired,
        *(ref for refs in search_.found.suppressed.values() for ref in refs),
        *reading.stored,
        *(row.edge_id for row in reading.conflicts),
        *(step["edge_id"] for rows in reading.lineage.values() for step in rows),
        *(str(step.get("edge_id")) for way in ways if way for step in way.path),
        *(p["evidence_id"] for row in reading.stored.values() for p in row.evidence),
    }
    return any(
        (change["version"] > 1 and not change["scored"])
        or change["ref"] in read
        or change["relation"] == "rel:supersedes"
        or (change["relation"] is not None and search_.cut)
        or not read.isdisjoint({change["source_ref"], change["target_ref"]})
        for change in changes
    )


def assembled(context: Context, asked: Asked, reading: Reading) -> dict[str, Any]:
    """The packet of a reading."""
    found, request = reading.search, asked.request
    instants = (parse_time(asked.evaluated_at), found.gate.at)
    held: dict[str, list[Inhibition]] = {}
    for one in found.inhibitions:
        held.setdefault(one.inhibited, []).append(one)
    items = [
        item(one, reading.stored[one.entry.id], rank, held.get(one.entry.id, ()), instants)
        for rank, one in enumerate(found.bundle.places, 1)
    ]
    selected = [entry["atom_ref"] for entry in items]
    omissions = omitted(asked, found, reading.conflicts)
    record = asked.record()
    named = [record, reading.graph_version, context.identity.client_id]
    packet: dict[str, Any] = {
        "packet_id": derived_id("pkt_", [*named, [[i["atom_ref"], i["version"], i["score"]] for i in items]]),
        "schema_version": "amos.v1",
        "request": record,
        "graph_version": reading.graph_version,
        "generated_at": now(),
        "evaluated_at": asked.evaluated_at,
        "target_processor": request.target_processor,
        "retrieval_mode": request.retrieval_mode,
        "scope": asked.scope.record(),
        "shared_view_ref": None,
        "pressure_mode": "green",
        "degradation": degradation(found),
        "items": items,
        "conflicts": [conflict(row, reading.stored, selected) for row in reading.conflicts],
        "omissions": omissions,
        "attention_trace": trace(asked, found, omissions),
        "provenance": {
            "policy_id": POLICY_ID,
            "weights": dict(WEIGHTS),
            "encoder": open_encoder(context.settings.encoder).model.key,
            "index_version": reading.index_version,
            **({"lineage": reading.lineage} if request.include_provenance else {}),
        },
        "cache_policy": {
            "cacheable": True,
            "keyed_by": list(KEYED_BY),
            "valid_at_graph_version": reading.graph_version,
        },
    }
    return shaped(packet, request, token_counter(context.settings.token_counter))
