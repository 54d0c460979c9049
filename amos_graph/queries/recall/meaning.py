"""Nearness of meaning: what vectors propose, and how near candidates are, exactly and as the caller may know.

The index proposes; the numbers are products of whole numbers and the same wherever they are made. What
has no vector yet, the tail, is read before the index and compared here, so the next read sees every
write. A longer tail than one packet looks at is told (`derived_index_stale`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

import numpy as np

from amos_graph.domain.ids import derived_id
from amos_graph.domain.projection import said_text
from amos_graph.encoding import Corpus, Encoder, Statistics
from amos_graph.encoding.encoder import Whole, products, similarity, squares, whole
from amos_graph.encoding.latent import Latent
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.queries.recall.candidates import Found, Gate

#: Atoms that meaning proposes; hits of the index that are looked at for them, plainly and under a filter.
SIMILAR_MAX: Final = 50
SCAN_MAX: Final = 100
SCAN_FILTERED_MAX: Final = 1_000
#: Statistics and vectors of the tail that a process keeps, each by the digest of its content.
_STATISTICS_KEPT: Final = 256
_VECTORS_KEPT: Final = 8_192

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class IndexRow:
    indexed: int
    statistics: list[list[str]]
    tail: list[list[str]]
    scanned: int


@dataclass(frozen=True, slots=True)
class StatisticsRow:
    access_class: str
    digest: str
    atoms: int
    words: list[str]
    counts: list[int]
    latent_words: list[str]
    latent: bytes
    latent_rank: int
    latent_unit: float


@dataclass(frozen=True, slots=True)
class TextRow:
    id: str
    type: str
    content_digest: str
    search_text: str


@dataclass(frozen=True, slots=True)
class SimilarRow:
    #: Id, square of the vector's length, product with the probe.
    found: list[tuple[str, int, int]]
    compared: list[tuple[str, int, int]]
    scanned: int


_INDEX = procedure("recall/read_index", IndexRow)
_STATISTICS = procedure("recall/read_statistics", StatisticsRow)
_TEXTS = procedure("recall/read_texts", TextRow)
_SIMILAR = procedure("recall/find_similar", SimilarRow)


class _Kept(Generic[ValueT]):
    """The values used last, by a digest of what they were made of."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[str, ValueT] = OrderedDict()

    def get(self, key: str) -> ValueT | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: str, value: ValueT) -> None:
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)


_statistics: Final[_Kept[Statistics]] = _Kept(_STATISTICS_KEPT)
vectors_kept: Final[_Kept[Whole]] = _Kept(_VECTORS_KEPT)


@dataclass(frozen=True, slots=True)
class Similar:
    """How near atoms are to what is asked, and what is known of the index that proposed them."""

    #: Atom → nearness, 0..1, rounded; only what is above the encoder's floor.
    values: Mapping[str, float] = field(default_factory=dict[str, float])
    #: What meaning proposes, nearest first.
    ids: tuple[str, ...] = ()
    #: True if the filters left fewer than were wanted of as many hits as are looked at.
    truncated: bool = False
    #: True if records without vectors were not looked at.
    stale: bool = False

    def joined(self, found: Found) -> Found:
        """The candidates of words and names, and these after them."""
        return replace(
            found,
            ids=tuple(dict.fromkeys([*found.ids, *self.ids])),
            truncated=found.truncated or self.truncated,
            similar={**found.similar, **self.values},
            stale=found.stale or self.stale,
        )


class Probe:
    """What a request asks, as a vector, and its nearness to vectors in whole numbers."""

    def __init__(self, encoder: Encoder, texts: Sequence[str], corpus: Corpus) -> None:
        self.encoder = encoder
        self.row = whole(encoder.probe(texts, corpus))
        self.square = squares(self.row)[0]

    @property
    def numbers(self) -> list[int]:
        return [int(value) for value in self.row[0]]

    def near(self, product: int, square: int) -> float:
        """The nearness of a vector, 0 below the encoder's floor."""
        if not self.square or not square:
            return 0.0
        value = similarity(product, self.square, square)
        return value if value >= self.encoder.floor else 0.0

    def to(self, rows: Mapping[str, Whole]) -> dict[str, float]:
        """Key → nearness of each vector."""
        if not rows:
            return {}
        stacked = np.stack(list(rows.values()))
        made = zip(rows, products(self.row, stacked), squares(stacked), strict=True)
        return {key: self.near(product, square) for key, product, square in made}


def encoded(encoder: Encoder, texts: Mapping[str, str]) -> dict[str, Whole]:
    """Digest of content → vector, for what each says; they are kept for the next request."""
    rows = whole(encoder.encode(list(texts.values())))
    made = dict(zip(texts, rows, strict=True))
    for digest, row in made.items():
        vectors_kept.put(f"{encoder.model.key} {digest}", row)
    return made


def kept(encoder: Encoder, digests: Collection[str]) -> dict[str, Whole]:
    """Digest of content → vector, as far as the process has it."""
    found = {digest: vectors_kept.get(f"{encoder.model.key} {digest}") for digest in digests}
    return {digest: row for digest, row in found.items() if row is not None}


def nearest(values: Mapping[str, float]) -> tuple[str, ...]:
    """The atoms that meaning proposes: the nearest, ties by id."""
    ordered = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(atom for atom, value in ordered if value > 0)[:SIMILAR_MAX]


class Meaning:
    """The vectors of one shard, asked for one request in one transaction."""

    def __init__(self, tx: Tx, gate: Gate, encoder: Encoder, tail_max: int) -> None:
        self._tx = tx
        self._gate = gate
        self._encoder = encoder
        self._tail_max = tail_max
        self._probe: Probe | None = None
        #: Atom → digest of what it says, for what has no vector yet.
        self._tail: dict[str, str] = {}
        self._stale = False
        self.corpus = Corpus()

    @property
    def index_version(self) -> str:
        """What scores of meaning depend on beside the graph: the model, and the words that were counted."""
        return version_of(self._encoder, self.corpus)

    def propose(self, texts: Sequence[str], ids: Sequence[str]) -> Similar:
        """What is near to the texts, and how near these atoms are."""
        gate = self._gate
        if not gate.classes or not any(text.strip() for text in texts):
            return Similar()
        self._open()
        probe = self._probe = Probe(self._encoder, texts, self.corpus)
        if not probe.square:
            return Similar(stale=self._stale)
        near = self._to_tail(probe)
        entering = {atom: near[atom] for atom in self._tail if atom in near}
        scan_max = SCAN_FILTERED_MAX if gate.narrow else SCAN_MAX
        wanted = [atom for atom in ids if atom not in near]
        row = self._find(probe, wanted, scan_max)
        proposed = {atom: probe.near(product, square) for atom, square, product in row.found}
        near |= proposed
        near |= {atom: probe.near(product, square) for atom, square, product in row.compared}
        near |= self._from_texts(probe, [atom for atom in wanted if atom not in near])
        chosen = nearest({**proposed, **entering})
        told = {*ids, *chosen}
        return Similar(
            values={atom: value for atom, value in near.items() if value > 0 and atom in told},
            ids=chosen,
            truncated=row.scanned >= scan_max and len(proposed) < SIMILAR_MAX,
            stale=self._stale,
        )

    def of(self, ids: Collection[str]) -> dict[str, float]:
        """How near further atoms are to what was asked."""
        probe = self._probe
        if probe is None or not probe.square or not ids:
            return {}
        row = self._find(probe, list(ids), 0)
        found = {atom: probe.near(product, square) for atom, square, product in row.compared}
        found |= self._from_texts(probe, [atom for atom in ids if atom not in found])
        return {atom: value for atom, value in found.items() if value > 0}

    def _open(self) -> None:
        """Read the tail, before the index, and the words of the caller's classes."""
        gate = self._gate
        row = self._tx.one(
            _INDEX,
            shard=gate.shard,
            states=list(gate.states),
            embedding_model=self._encoder.model.key,
            limit=self._tail_max,
            **gate.filters(),
        )
        self._tail = {entry[0]: entry[1] for entry in row.tail}
        self._stale = row.scanned >= self._tail_max
        self.corpus = read_corpus(self._tx, gate.shard, row.statistics)

    def _find(self, probe: Probe, ids: Sequence[str], scan_max: int) -> SimilarRow:
        gate = self._gate
        return self._tx.one(
            _SIMILAR,
            shard=gate.shard,
            embedding_model=self._encoder.model.key,
            probe=probe.numbers,
            dimensions=self._encoder.model.dimensions,
            ids=list(ids),
            states=list(gate.states),
            scan_max=scan_max,
            **gate.filters(),
        )

    def _to_tail(self, probe: Probe) -> dict[str, float]:
        """Nearness of what has no vector yet; texts are read only where the process has not made one."""
        near = probe.to(kept(self._encoder, set(self._tail.values())))
        found = {atom: near[digest] for atom, digest in self._tail.items() if digest in near}
        return found | self._from_texts(probe, [atom for atom in self._tail if atom not in found])

    def _from_texts(self, probe: Probe, ids: Sequence[str]) -> dict[str, float]:
        """Nearness of atoms whose vector is missing or of another version, from what they say."""
        if not ids:
            return {}
        rows = self._tx.many(_TEXTS, shard=self._gate.shard, ids=list(ids))
        texts = {row.content_digest: said_text(row.id, row.type, row.search_text) for row in rows}
        near = probe.to(encoded(self._encoder, texts)) if texts else {}
        return {row.id: near[row.content_digest] for row in rows}


def corpus_of(tx: Tx, gate: Gate, encoder: Encoder) -> Corpus:
    """The words that were counted of what a caller may see."""
    row = tx.one(
        _INDEX,
        shard=gate.shard,
        states=list(gate.states),
        embedding_model=encoder.model.key,
        limit=0,
        **gate.filters(),
    )
    return read_corpus(tx, gate.shard, row.statistics)


def version_of(encoder: Encoder, corpus: Corpus) -> str:
    """The identity of a model and of the words that were counted for it."""
    return derived_id("idx_", [encoder.model.key, corpus.digest])


def read_corpus(tx: Tx, shard: str, told: Sequence[Sequence[str]]) -> Corpus:
    """The words of the classes that a caller may see; what the process knows already is not read again."""
    known = {digest: _statistics.get(digest) for _, digest in told}
    unknown = [name for name, digest in told if known[digest] is None]
    for row in tx.many(_STATISTICS, shard=shard, classes=unknown) if unknown else []:
        known[row.digest] = _counted(row)
        _statistics.put(row.digest, _counted(row))
    digests = [digest for _, digest in told if known[digest] is not None]
    return Corpus([entry for digest in digests if (entry := known[digest]) is not None], digests)


def _counted(row: StatisticsRow) -> Statistics:
    latent = None
    if row.latent_rank:
        numbers = np.frombuffer(row.latent, dtype=np.int8).reshape(-1, row.latent_rank)
        latent = Latent(row.latent_words, numbers, row.latent_unit)
    return Statistics(row.atoms, dict(zip(row.words, row.counts, strict=True)), latent)
