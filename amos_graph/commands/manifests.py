"""What packets held and to whom they were given: kept behind the answer, so that no recall waits for it.

A manifest is no memory: it is outside every version and digest, bounded in number and age, and a shard
that nobody wrote to gets none. Source: design §5, "A bounded manifest (refs, paths) is kept".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from amos_graph.commands.plan import Context
from amos_graph.domain.outcomes import Manifest, manifest_from, manifest_of
from amos_graph.domain.times import now, parse_time
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, Tx
from amos_graph.queries.versions import hold_shard
from amos_graph.settings import Settings

#: A shard is tidied after this part of the manifests, or outcomes, that it may keep.
TIDY_SHARE: Final = 20


@dataclass(frozen=True, slots=True)
class ManifestRow:
    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Forgotten:
    forgotten: int


_KEEP = procedure("telemetry/keep_manifests")
_READ = procedure("telemetry/read_manifest", ManifestRow)
_TIDY_MANIFESTS = procedure("telemetry/tidy_manifests", Forgotten)
_TIDY_OUTCOMES = procedure("telemetry/tidy_outcomes", Forgotten)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A manifest, or only the news of an outcome, on its way to the store."""

    shard: str
    settings: Settings
    row: Mapping[str, Any] | None = None


def note(context: Context, packet: Mapping[str, Any]) -> None:
    """Have a packet's manifest kept, soon."""
    manifest = manifest_of(packet, context.identity.client_id)
    row = {
        "shard": context.scope.shard,
        "id": manifest.id,
        "kept_at": packet["generated_at"],
        "properties": manifest.properties(),
    }
    context.graph.outbox.put(_send, _Kept(context.scope.shard, context.settings, row))


def noted(context: Context, packet_id: str) -> Manifest | None:
    """The manifest of a packet of the context's shard that was given to its identity."""
    context.graph.outbox.flush()
    found = context.graph.read(
        "read_manifest", lambda tx: tx.maybe(_READ, shard=context.scope.shard, id=packet_id)
    )
    if found is None or found.manifest["client_id"] != context.identity.client_id:
        return None
    return manifest_from(found.manifest)


def tidy_soon(context: Context) -> None:
    """Have the raw outcomes of the context's shard kept within their bounds, soon."""
    context.graph.outbox.put(_send, _Kept(context.scope.shard, context.settings))


def _send(graph: Graph, rows: Sequence[_Kept]) -> None:
    manifests = [row.row for row in rows if row.row is not None]
    if manifests:
        graph.write("keep_manifests", lambda tx: tx.none(_KEEP, rows=manifests))
    for shard, settings in _due(graph, rows):
        graph.write("tidy", lambda tx, at=shard, by=settings: _tidy(tx, at, by))


def _due(graph: Graph, rows: Sequence[_Kept]) -> Iterator[tuple[str, Settings]]:
    """The shards of these rows that are to be tidied: at first, and after each share of what is kept."""
    tally = graph.outbox.tally
    for shard, settings in {row.shard: row.settings for row in rows}.items():
        known = shard in tally
        tally[shard] += sum(row.shard == shard for row in rows)
        if not known or tally[shard] >= min(settings.manifests_max, settings.outcomes_max) / TIDY_SHARE:
            tally[shard] = 0
            yield shard, settings


def _tidy(tx: Tx, shard: str, settings: Settings) -> None:
    hold_shard(tx, shard)
    instant = parse_time(now())
    for statement, days, keep in (
        (_TIDY_MANIFESTS, settings.manifest_days, settings.manifests_max),
        (_TIDY_OUTCOMES, settings.outcome_days, settings.outcomes_max),
    ):
        tx.one(statement, shard=shard, before=instant - timedelta(days=days), keep=keep)
