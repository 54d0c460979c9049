"""Packets that this process gave out, kept for exactly the journal that they were read from (design §5)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a shard stands: the same hash of its journal's head is the same history."""

    graph_version: int
    head_hash: str
    #: How far what is derived reaches: model, vectors, counts of words; None before there are any.
    index_mark: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A packet as it was given out."""

    #: The packet's JSON.
    body: bytes
    #: When its memories were weighed, as seconds since 1970.
    evaluated_at_s: float


class PacketCache:
    """A bounded store of packets; of each shard it keeps those of one stand, the newest that it saw.

    A write makes every older packet unreachable at once, since whoever looks knows the new stand, and
    `purge` takes them out of memory.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Kept] = OrderedDict()
        #: Shard → the stand of its packets, and their keys.
        self._shards: dict[str, tuple[Stand, set[str]]] = {}
        self._size = 0

    @property
    def size_bytes(self) -> int:
        return self._size

    def holds(self, shard: str, key: str) -> bool:
        """True if there is such a packet, of whatever stand."""
        with self._mutex:
            return (shard, key) in self._kept

    def get(self, shard: str, stand: Stand, key: str) -> Kept | None:
        """The packet of this stand, if it is kept; it becomes the last to leave."""
        with self._mutex:
            known = self._shards.get(shard)
            if known is None or known[0] != stand or key not in known[1]:
                return None
            self._kept.move_to_end((shard, key))
            return self._kept[shard, key]

    def put(self, shard: str, stand: Stand, key: str, packet: Kept, bytes_max: int) -> None:
        """Keep a packet; the least lately used ones leave when all together are larger than `bytes_max`."""
        with self._mutex:
            known = self._shards.get(shard)
            if known is not None and known[0].graph_version > stand.graph_version:
                return
            if known is None or known[0] != stand:
                self._drop(shard)
                self._shards[shard] = (stand, set())
            self._remove(shard, key)
            if len(packet.body) > bytes_max:
                return
            self._shards[shard][1].add(key)
            self._kept[shard, key] = packet
            self._size += len(packet.body)
            while self._size > bytes_max:
                self._remove(*next(iter(self._kept)))

    def purge(self, shard: str, graph_version: int = 0) -> None:
        """Drop every packet of a shard, before a deletion is acknowledged.

        A packet of an older version than `graph_version`, whose reading is still under way, stays out.
        """
        with self._mutex:
            known = self._shards.get(shard)
            newest = max(graph_version, known[0].graph_version if known else 0)
            self._drop(shard)
            self._shards[shard] = (Stand(newest, ""), set())

    def _drop(self, shard: str) -> None:
        _, keys = self._shards.pop(shard, (None, set[str]()))
        for key in keys:
            self._size -= len(self._kept.pop((shard, key)).body)

    def _remove(self, shard: str, key: str) -> None:
        found = self._kept.pop((shard, key), None)
        if found is not None:
            self._size -= len(found.body)
            self._shards[shard][1].discard(key)
