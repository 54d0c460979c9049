"""Which entities an entity id stands for: what was merged into the same one, and its parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

#: Steps up to what an entity became, and down to what became the same; entities that are told.
STEPS_MAX: Final = 5
STANDS_FOR_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Sameness:
    """Merges and splits as they stand at one version; the same walk as `recall/find_entities`."""

    #: Entity → the one that it was merged into.
    merged_into: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Entity → the ones that it was split into.
    split_into: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    @classmethod
    def of(cls, entities: Iterable[Mapping[str, Any]]) -> Self:
        """What entity records, or their nodes, say."""
        stored = list(entities)
        return cls(
            {entity["id"]: entity["merged_into"] for entity in stored if entity.get("merged_into")},
            {entity["id"]: entity["split_into"] for entity in stored if entity.get("split_into")},
        )

    def stands_for(self, ref: str) -> list[str]:
        """Every id that means what this one means, itself included, in order."""
        same, level = {ref}, {ref}
        for _ in range(STEPS_MAX):
            level = {into for each in level for into in self._became(each)} - same
            same |= level
        level = set(same)
        for _ in range(STEPS_MAX):
            level = {each for each, into in self.merged_into.items() if into in level} - same
            same |= level
        return sorted({ref, *sorted(same)[:STANDS_FOR_MAX]})

    def resolved(self, ref: str) -> str:
        """The one entity that this one became; itself, and what was split, stay."""
        for _ in range(STEPS_MAX):
            if ref not in self.merged_into:
                break
            ref = self.merged_into[ref]
        return ref

    def _became(self, ref: str) -> Collection[str]:
        return {*self.split_into.get(ref, ()), *([self.merged_into[ref]] if ref in self.merged_into else [])}
