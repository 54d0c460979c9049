"""When a packet is given out again: for the same request of the same caller, while nothing was written.

Decision 0029 says what makes two requests the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.domain.canonical import digest
from amos_graph.domain.packets import Asked
from amos_graph.domain.times import now, parse_time
from amos_graph.graph.packet_cache import Kept, Stand
from amos_graph.graph.procedures import procedure
from amos_graph.policy.components import POLICY_ID

#: What a packet says of itself to those who keep it.
KEYED_BY: Final = (
    "request",
    "graph_version",
    "index_version",
    "evaluated_at",
    "client_identity",
    "grants",
    "policy_id",
)


@dataclass(frozen=True, slots=True)
class StandRow:
    graph_version: int
    head_hash: str
    index_mark: str | None


_STAND = procedure("recall/read_stand", StandRow)


def cache_key(context: Context, asked: Asked) -> str | None:
    """The digest of all that decides a packet beside the journal; None where none is kept.

    Which access classes the caller may see follows from the caller and the journal. How far vectors
    and counts of words reach belongs to where the shard stands.
    """
    settings, who = context.settings, context.identity
    stated = asked.request.evaluated_at
    if not settings.packet_cache_bytes_max or (stated is None and not settings.packet_cache_age_s):
        return None
    caller = [who.client_id, who.service_id, who.process_type, who.trust_level, who.scope.record()]
    request = {**asked.record(), "evaluated_at": stated}
    made_by = [POLICY_ID, settings.encoder, settings.tail_max, settings.token_counter]
    return digest([request, caller, sorted(who.capabilities), made_by])


def kept_packet(context: Context, asked: Asked, key: str | None) -> dict[str, Any] | None:
    """The packet that was given to the same request at the same stand of the journal, byte for byte."""
    packets, shard = context.graph.packets, asked.scope.shard
    if key is None or not packets.holds(shard, key):
        return None
    row = context.graph.read("recall_kept", lambda tx: tx.maybe(_STAND, shard=shard))
    found = packets.get(shard, Stand(row.graph_version, row.head_hash, row.index_mark), key) if row else None
    if found is None or (asked.request.evaluated_at is None and not _young(context, found)):
        return None
    return json.loads(found.body)


def keep(
    context: Context, asked: Asked, key: str | None, stand: Stand | None, packet: dict[str, Any]
) -> None:
    """Keep a packet for the next who asks the same; `stand` is the one that it was read at."""
    if key is None or stand is None:
        return
    # Not the canonical form, in which 1.0 is 1: what comes out must be what went in.
    body = json.dumps(packet, ensure_ascii=False, separators=(",", ":")).encode()
    kept = Kept(body, parse_time(asked.evaluated_at).timestamp())
    context.graph.packets.put(asked.scope.shard, stand, key, kept, context.settings.packet_cache_bytes_max)


def _young(context: Context, kept: Kept) -> bool:
    age_s = parse_time(now()).timestamp() - kept.evaluated_at_s
    return 0 <= age_s <= context.settings.packet_cache_age_s
