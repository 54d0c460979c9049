"""A second Neo4j beside the session's, to restore into; and a shard with a history worth keeping."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.upkeep.export import Exported, export
from tests.administrator import wipe
from tests.laws.populated import populate
from tests.samples import belief, interaction, source_event

LINE_BYTES_MAX = 10_000_000


@pytest.fixture
def second_archive(tmp_path: Path) -> Archive:
    """An archive that is still empty."""
    return Archive(tmp_path / "second" / "archive")


@dataclass(frozen=True, slots=True)
class Told:
    """A shard with a history, and how to make a file of it."""

    context: Context
    folder: Path

    @property
    def shard(self) -> str:
        return self.context.scope.shard

    def export(self, name: str = "journal.jsonl") -> Path:
        self.exported(name)
        return self.folder / name

    def exported(self, name: str = "journal.jsonl") -> list[Exported]:
        context = self.context
        return export(
            context.graph,
            context.archive,
            [self.shard],
            self.folder / name,
            line_bytes_max=LINE_BYTES_MAX,
        )


def history(context_of: Callable[..., Context], folder: Path) -> Told:
    """Every kind of record, records with many versions, supersessions, streams, archived payloads, keys."""
    context = context_of()
    populate(context)
    # A record that many commands in a row replace, so that one batch holds several versions of it.
    for version in range(1, 6):
        statement = belief(id="b4", payload={"object": f"try {version}"}, version=version)
        policy = {"allowed_identities": ["svc:test", f"svc:reader{version}"]}
        commit(context, {"atoms": [{**statement, "access_policy": policy}]})
    # A chain of supersessions, and an end of it that is archived.
    commit(context, {"atoms": [belief(id="b5", payload={"object": "five"}, supersedes=["b3"])]})
    commit(context, {"atoms": [belief(id="b3", payload={"object": "3"}, supersedes=["b2"], version=1)]})
    # It no longer says that it supersedes b3, which is live again.
    commit(context, {"atoms": [belief(id="b5", payload={"object": "5"}, version=1)]})
    commit(context, {"atoms": [interaction("c2", 1, id="said3"), interaction("c2", 2, id="said4")]})
    archive(context, {"atom_id": "said3", "reason": "not to be kept"})
    archive(context, {"atom_id": "b1", "reason": "superseded by events"})
    keyed = context_of(idempotency_key="once")
    commit(keyed, {"events": [source_event("evd_key", payload={"text": "y" * 20_000})]})
    # A command that changes nothing has a receipt of the version that it found.
    commit(context, {"events": [source_event("evd_key", payload={"text": "y" * 20_000})]})
    return Told(context, folder)


@pytest.fixture
def told(context_of: Callable[..., Context], tmp_path: Path) -> Told:
    """A shard with a history, of this test alone."""
    return history(context_of, tmp_path)


@pytest.fixture
def there(told: Told, second: Graph, second_archive: Archive) -> Iterator[Context]:
    """The same caller on the second store, which forgets the shard afterwards."""
    yield replace(told.context, graph=second, archive=second_archive)
    wipe(second, told.shard)


@pytest.fixture
def tampered(told: Told) -> Iterator[Told]:
    """A shard that a test does harm to; it does not stay in the store that other tests verify."""
    yield told
    wipe(told.context.graph, told.shard)
