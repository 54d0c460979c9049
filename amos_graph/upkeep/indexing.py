"""The index worker: vectors of memories and counts of words, made behind the commits that they follow.

A shard's mark says up to which version of the graph its vectors are in the index. The worker goes on
from there, group by group, and moves the mark when a group was answered, so that one that was killed
is followed where it ended. What stands beyond the mark is compared exactly by recall. All of it is
derived: it is in no event, no version and no digest, and can be made anew at any time.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.domain.projection import said_text
from amos_graph.encoding import Encoder, Statistics
from amos_graph.encoding.corpus import Counting, telling
from amos_graph.encoding.encoder import Rows, squares, whole
from amos_graph.encoding.latent import TEXTS_MIN, latent_of
from amos_graph.errors import AmosError
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph, settled
from amos_graph.queries.versions import hold_shard

#: Versions of the graph that are gone through before the mark moves, and atoms of one transaction.
GROUP_VERSIONS: Final = 500
GROUP_ATOMS: Final = 100
#: How long a worker that says nothing keeps a shard.
LEASE_S: Final = 30.0
#: Words are counted anew when a shard has grown by this part, and by so many events.
GROWTH: Final = 0.25
EVENTS_MIN: Final = 200
#: Memories of one access class whose words are counted; a fair sample of more.
SAMPLE_MAX: Final = 20_000
SHARDS_MAX: Final = 100_000
_PAGE: Final = 1_000
_SETTLE_S: Final = 30.0
_PAUSE_MAX_S: Final = 60.0

_log: Final = logging.getLogger(__name__)
#: Shard, versions that have their vectors, versions in all.
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class MarkRow:
    shard: str
    head: int
    indexed: int
    counted: int
    embedding_model: str | None


@dataclass(frozen=True, slots=True)
class TakenRow:
    outcome: str
    indexed: int
    counted: int
    embedding_model: str


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    outcome: str


@dataclass(frozen=True, slots=True)
class WrittenRow:
    outcome: str
    embedding_model: str | None


@dataclass(frozen=True, slots=True)
class UnindexedRow:
    id: str
    type: str
    version: int
    search_text: str
    embedded: str | None


@dataclass(frozen=True, slots=True)
class SampledRow:
    content_digest: str
    access_class: str
    id: str
    type: str
    search_text: str | None


_MARKS = procedure("upkeep/list_index_marks", MarkRow)
_TAKE = procedure("upkeep/take_index", TakenRow)
_MOVE = procedure("upkeep/move_index", OutcomeRow)
_UNINDEXED = procedure("upkeep/list_unindexed", UnindexedRow)
_WRITE = procedure("upkeep/write_embeddings", WrittenRow)
_SAMPLE = procedure("upkeep/sample_texts", SampledRow)
_STORE = procedure("upkeep/store_statistics")


@dataclass(slots=True)
class Indexed:
    """What became of one shard: how far its vectors reach, how many were made, who else is at it."""

    shard: str
    head: int
    indexed: int
    encoded: int = 0
    counted: bool = False
    held: bool = False

    def record(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def index_marks(graph: Graph) -> list[MarkRow]:
    """Every shard with memories, and how far its vectors reach."""
    return graph.read("index_marks", lambda tx: tx.many(_MARKS, limit=SHARDS_MAX))


def demand_model(graph: Graph, encoder: Encoder) -> None:
    """Raise `derived_index_stale`, with expected and got, if the store has another model's vectors."""
    for mark in index_marks(graph):
        if mark.embedding_model not in (None, encoder.model.key):
            raise other_model(mark.shard, str(mark.embedding_model), encoder.model.key)


def other_model(shard: str, expected: str, got: str) -> AmosError:
    """The refusal of vectors of one model among those of another."""
    message = f"the vectors of {shard} are of {expected}, this encoder makes {got}: run amos index --rebuild"
    return AmosError("derived_index_stale", message, details={"expected": expected, "got": got})


class Indexer:
    """One worker, which holds a shard while it is at it."""

    def __init__(self, graph: Graph, encoder: Encoder, stopping: threading.Event | None = None) -> None:
        self.graph = graph
        self.encoder = encoder
        self.worker = secrets.token_hex(8)
        self.stopping = stopping or threading.Event()

    def catch_up(self, shard: str, *, count: bool = False, tell: Tell | None = None) -> Indexed:
        """Make the vectors that are missing, and count words where it is time or `count` says so.

        Returns with `held` while another worker has the shard. Raises `derived_index_stale` for another
        model's vectors, with both names, and `unavailable` when the lease went to another worker.
        """
        taken = self._take(shard, reset=False)
        if taken.outcome == "other_model":
            raise other_model(shard, taken.embedding_model, self.encoder.model.key)
        # Under the lock, since the newest command may be applied only in part.
        head = self.graph.write("index_head", lambda tx: hold_shard(tx, shard))
        found = Indexed(shard, head, taken.indexed, held=taken.outcome == "held")
        if found.held:
            return found
        counted = taken.counted
        while found.indexed < head and not self.stopping.is_set():
            upto = min(found.indexed + GROUP_VERSIONS, head)
            found.encoded += self._group(shard, found.indexed, upto)
            self.move(shard, upto, counted)
            found.indexed = upto
            if tell:
                tell(shard, upto, head)
        due = head - counted >= max(EVENTS_MIN, counted * GROWTH)
        if (due or count) and not self.stopping.is_set():
            self._count(shard, head)
            counted = head
            found.counted = True
        # Whoever comes next need not wait for the end of the lease.
        self.move(shard, found.indexed, counted, lease_s=0.0)
        return found

    def forget(self, shards: Sequence[str]) -> None:
        """Have all vectors of these shards made anew by this encoder, whatever made them and is at them."""
        for shard in shards:
            self._take(shard, reset=True)

    def _take(self, shard: str, *, reset: bool) -> TakenRow:
        asked = {
            "shard": shard,
            "worker": self.worker,
            "embedding_model": self.encoder.model.key,
            "reset": reset,
            "now": _milliseconds(),
            "lease_ms": int(LEASE_S * 1000),
        }
        return self.graph.write("index_take", lambda tx: tx.one(_TAKE, **asked))

    def move(self, shard: str, indexed: int, counted: int, lease_s: float = LEASE_S) -> None:
        """Say how far vectors and counts reach. Raises `unavailable` when another worker has the shard."""
        asked = {
            "shard": shard,
            "worker": self.worker,
            "embedding_model": self.encoder.model.key,
            "indexed": indexed,
            "counted": counted,
            "leased_until": _milliseconds() + int(lease_s * 1000),
        }
        if self.graph.write("index_move", lambda tx: tx.one(_MOVE, **asked)).outcome == "lost":
            raise AmosError("unavailable", f"another worker took the vectors of {shard}")

    def _group(self, shard: str, after: int, upto: int) -> int:
        """The vectors of what was written between two versions; how many had to be made."""
        rows = self.graph.read(
            "index_list", lambda tx: tx.many(_UNINDEXED, shard=shard, after=after, upto=upto)
        )
        for start in range(0, len(rows), GROUP_ATOMS):
            self._write(shard, rows[start : start + GROUP_ATOMS])
        return sum(row.embedded != self.encoder.model.key for row in rows)

    def _write(self, shard: str, rows: Sequence[UnindexedRow]) -> None:
        missing = [row for row in rows if row.embedded != self.encoder.model.key]
        made = self.vectors_of([said_text(row.id, row.type, row.search_text) for row in missing])
        vectors = {row.id: vector for row, vector in zip(missing, made, strict=True)}
        sent = [
            {"ref": row.id, "version": row.version, "fresh": row.id in vectors}
            | vectors.get(row.id, {"embedding": None, "squares": None})
            for row in rows
        ]
        self.send(shard, sent)

    def send(self, shard: str, rows: Sequence[dict[str, Any]]) -> None:
        """Write vectors. Raises `derived_index_stale` unless the shard is this worker's and model's."""
        model = self.encoder.model
        asked = {
            "shard": shard,
            "worker": self.worker,
            "embedding_model": model.key,
            "quantization": model.quantization,
            "rows": list(rows),
        }
        work = self.graph.write
        written = settled(lambda: work("index_write", lambda tx: tx.one(_WRITE, **asked)), _SETTLE_S)
        if written.outcome == "refused":
            raise other_model(shard, str(written.embedding_model), model.key)

    def vectors_of(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Vectors as they are stored: whole numbers, none for a text that says nothing.

        Raises `derived_index_stale` for an encoder that makes other vectors than it says; nothing is sent.
        """
        rows: Rows = self.encoder.encode(texts)
        wanted = (len(texts), self.encoder.model.dimensions)
        if rows.shape != wanted:
            raise AmosError(
                "derived_index_stale",
                f"{self.encoder.model.key}: expected vectors of {wanted[1]} numbers, got {rows.shape[-1]}",
                details={"expected": wanted[1], "got": int(rows.shape[-1])},
            )
        vectors = whole(rows)
        return [
            {"embedding": [int(value) for value in row] if square else None, "squares": square}
            for row, square in zip(vectors, squares(vectors), strict=True)
        ]

    def _count(self, shard: str, head: int) -> None:
        """Count the words of each access class, and place them by the company that they keep."""
        counting: dict[str, Counting] = {}
        for row in self._sampled(shard, counting, ()):
            counting.setdefault(row.access_class, Counting()).add(_words(row))
        for name in sorted(counting):
            counted, latent = counting[name], None
            if counted.atoms >= TEXTS_MIN:
                others = [other for other in counting if other != name]
                # One class at a time, so that memory is bounded, and nothing of another one counts.
                latent = latent_of(_words(row) for row in self._sampled(shard, {}, others))
            told = Statistics(counted.atoms, counted.counts(), latent)
            self._store(shard, head, sorted(counting), [_stored(name, told)])
        if not counting:
            self._store(shard, head, [], [])

    def _store(self, shard: str, head: int, classes: list[str], rows: list[dict[str, Any]]) -> None:
        asked = {"shard": shard, "graph_version": head, "classes": classes, "rows": rows}
        self.graph.write("index_count", lambda tx: tx.none(_STORE, **asked))

    def _sampled(
        self, shard: str, counting: dict[str, Counting], others: Sequence[str]
    ) -> Iterator[SampledRow]:
        """Live atoms with their texts, as many of each class as are counted."""
        after = ""
        while not self.stopping.is_set():
            full = [*others, *(name for name, each in counting.items() if each.atoms >= SAMPLE_MAX)]
            asked = {"shard": shard, "after": after, "full": full, "limit": _PAGE}
            page = self.graph.read("index_sample", lambda tx, asked=asked: tx.many(_SAMPLE, **asked))
            yield from (row for row in page if row.search_text is not None)
            if len(page) < _PAGE:
                return
            after = page[-1].content_digest


def _words(row: SampledRow) -> list[str]:
    return telling(said_text(row.id, row.type, row.search_text or ""))


def _stored(access_class: str, told: Statistics) -> dict[str, Any]:
    ordered = sorted(told.counts.items(), key=lambda pair: (-pair[1], pair[0]))
    latent = told.latent
    return {
        "access_class": access_class,
        "digest": told.digest,
        "atoms": told.atoms,
        "words": [word for word, _ in ordered],
        "counts": [count for _, count in ordered],
        "latent_words": list(latent.words) if latent else [],
        "latent": latent.vectors.tobytes() if latent else b"",
        "latent_rank": int(latent.vectors.shape[1]) if latent else 0,
        "latent_unit": latent.unit if latent else 0.0,
    }


def index_all(indexer: Indexer) -> int:
    """Bring every shard that is behind up to date; how many vectors were made.

    A shard that cannot be is told in the end, after the others: raises what the last one raised.
    """
    encoded, failed = 0, None
    for mark in index_marks(indexer.graph):
        if indexer.stopping.is_set():
            break
        if mark.indexed < mark.head or mark.embedding_model != indexer.encoder.model.key:
            try:
                encoded += indexer.catch_up(mark.shard).encoded
            except Exception as error:
                failed = error
    if failed is not None:
        raise failed
    return encoded


def keep_indexing(graph: Graph, encoder: Encoder, interval_s: float, stopping: threading.Event) -> None:
    """Index until told to stop; after a failure again, after ever longer pauses."""
    indexer = Indexer(graph, encoder, stopping)
    pause_s = interval_s
    while not stopping.wait(pause_s):
        try:
            index_all(indexer)
            pause_s = interval_s
        except Exception as error:
            pause_s = min(2 * pause_s, _PAUSE_MAX_S)
            reason = error.message if isinstance(error, AmosError) else type(error).__name__
            _log.warning("vectors are behind, again in %.0f s: %s", pause_s, reason)


def _milliseconds() -> int:
    return int(time.time() * 1000)
