"""The evidence archive: in a folder, behind a URL, and when the store behind the URL fails."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import fsspec  # pyright: ignore[reportMissingTypeStubs]
import pytest
from fsspec.implementations.memory import MemoryFileSystem  # pyright: ignore[reportMissingTypeStubs]

from amos_graph.commands.capture import capture
from amos_graph.commands.execution import Context
from amos_graph.domain.ids import shard_key
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive, Folder, archive_at, open_archive
from amos_graph.graph.object_store import EXTRA
from amos_graph.graph.transactions import Graph
from amos_graph.queries.verify import verify
from amos_graph.settings import Settings
from amos_graph.upkeep.export import export
from amos_graph.upkeep.restore import restore
from tests.administrator import run, wipe
from tests.samples import source_event

LINE_BYTES_MAX = 10_000_000
LARGE = {"text": "x" * 20_000}


class Failing(MemoryFileSystem):
    """fsspec's own store in memory, of a kind that is not known to show whole objects only."""

    protocol = "failing"
    store: ClassVar[dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    pseudo_dirs: ClassVar[list[str]] = [""]
    #: Bytes after which a write breaks, and whether anything can be read.
    breaks_after: ClassVar[int | None] = None
    reads: ClassVar[bool] = True

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        broken = self.breaks_after is not None
        written = value[: self.breaks_after] if broken else value
        super().pipe_file(path, written, mode, **kwargs)  # pyright: ignore[reportUnknownMemberType]
        if broken:
            raise OSError(28, "s3://AKIA:secret@bucket is full")

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        if not self.reads:
            raise TimeoutError
        return super().cat_file(path, start, end, **kwargs)  # pyright: ignore[reportUnknownMemberType]


@pytest.fixture
def failing() -> Iterator[type[Failing]]:
    fsspec.register_implementation("failing", Failing, clobber=True)  # pyright: ignore[reportUnknownMemberType]
    yield Failing
    Failing.breaks_after, Failing.reads = None, True
    Failing.store.clear()


Places = Callable[[str], str]


@pytest.fixture
def place(tmp_path: Path, failing: type[Failing]) -> Places:
    """An empty archive of each kind: a folder, the same as a URL, and three object stores."""
    known = {
        "folder": str(tmp_path / "archive"),
        "file": f"file://{tmp_path}/archive",
        "local": f"local://{tmp_path}/archive",
        "memory": f"memory://{uuid.uuid4().hex}/archive",
        "failing": f"failing://{uuid.uuid4().hex}",
    }
    return known.__getitem__


def _opened(url: str) -> tuple[Any, str]:
    """The file system of a place, and the place's path in it."""
    found: Any = fsspec
    files, root = found.url_to_fs(url)
    return files, root.rstrip("/")


def _alter(url: str, name: str, content: bytes | None) -> None:
    """Change or remove what lies under a name, past the archive."""
    files, root = _opened(url)
    if content is None:
        files.rm_file(f"{root}/{name}")
    else:
        files.pipe_file(f"{root}/{name}", content)


def _names(url: str) -> list[str]:
    """What lies there, below its root."""
    files, root = _opened(url)
    return sorted(path.removeprefix(root) for path in files.find(root))


KINDS = ("folder", "file", "local", "memory", "failing")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_put_is_there_under_its_digest(place: Places, kind: str) -> None:
    """Once for the same bytes, below its shard's key; other shards have none of it."""
    archive = archive_at(place(kind))
    digest = archive.put("t/w", b"payload")

    assert archive.put("t/w", b"payload") == digest
    assert _names(place(kind)) == [f"/{shard_key('t/w')}/{digest[:2]}/{digest}"]
    assert archive.get("t/w", digest) == b"payload"
    assert archive_at(place(kind)).get("t/w", digest) == b"payload"
    with pytest.raises(AmosError) as absent:
        archive.get("t/other", digest)
    assert (absent.value.code, absent.value.message) == ("not_found", "the archived payload is not there")


@pytest.mark.reliability("T08")
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_altered_or_lost_is_told(place: Places, kind: str) -> None:
    """Bytes that are not what their name says are a fault of the store, missing ones `not_found`."""
    archive = archive_at(place(kind))
    digest = archive.put("t/w", b"payload")
    name = f"{shard_key('t/w')}/{digest[:2]}/{digest}"
    _alter(place(kind), name, b"payloae")
    with pytest.raises(AmosError) as altered:
        archive.get("t/w", digest)
    _alter(place(kind), name, None)
    with pytest.raises(AmosError) as lost:
        archive.get("t/w", digest)

    assert (altered.value.code, lost.value.code) == ("internal", "not_found")


@pytest.mark.reliability("T26")
def test_a_store_that_breaks_shows_no_half_of_an_object(place: Places, failing: type[Failing]) -> None:
    """`unavailable`, to be tried again, in words that hold neither address nor key; then it is whole."""
    archive = archive_at(place("failing"))
    failing.breaks_after = 3
    with pytest.raises(AmosError) as broken:
        archive.put("t/w", b"payload")
    assert (broken.value.code, broken.value.retryable) == ("unavailable", True)
    assert broken.value.message == "the evidence archive cannot be written: No space left on device"
    assert _names(place("failing")) == []

    failing.breaks_after = None
    digest = archive.put("t/w", b"payload")
    failing.reads = False
    with pytest.raises(AmosError) as silent:
        archive.get("t/w", digest)
    assert (silent.value.code, silent.value.message) == (
        "unavailable",
        "the evidence archive cannot be read: TimeoutError",
    )
    failing.reads = True
    assert archive.get("t/w", digest) == b"payload"


def test_a_folder_that_cannot_be_read_is_no_payload_that_is_gone(tmp_path: Path) -> None:
    """A folder where a file should be is a fault of the disk."""
    archive = Archive(tmp_path)
    digest = archive.put("t/w", b"payload")
    path = tmp_path / shard_key("t/w") / digest[:2] / digest
    path.unlink()
    path.mkdir()

    with pytest.raises(AmosError) as refused:
        archive.get("t/w", digest)
    assert (refused.value.code, refused.value.retryable) == ("unavailable", True)


@pytest.mark.reliability("T26")
def test_a_capture_whose_payload_cannot_be_archived_writes_nothing(
    context: Context, place: Places, failing: type[Failing]
) -> None:
    """The archive comes before the transaction, so no record points at what is not there; then it goes on."""
    away = replace(context, archive=archive_at(place("failing")), idempotency_key="once")
    failing.breaks_after = 100
    event = source_event(payload=LARGE)
    with pytest.raises(AmosError) as broken:
        capture(away, {"event": event})
    assert (broken.value.code, broken.value.retryable) == ("unavailable", True)
    assert run(context.graph, "MATCH (n {shard: $shard}) RETURN n", shard=context.scope.shard) == []

    failing.breaks_after = None
    assert capture(away, {"event": event}).record["created"] == ["evd_turn1"]
    assert len(_names(place("failing"))) == 1


@pytest.mark.reliability("T29")
@pytest.mark.parametrize("ways", [("memory", "local"), ("local", "memory")])
def test_a_store_with_an_archive_elsewhere_is_exported_and_restored(
    context: Context, graph: Graph, tmp_path: Path, place: Places, ways: tuple[str, str]
) -> None:
    """Payloads travel in the file from one object store to the other, and a lost one is named."""
    shard, file = context.scope.shard, tmp_path / "journal.jsonl"
    source, target = map(place, ways)
    here, there = archive_at(source), archive_at(target)
    capture(replace(context, archive=here), {"event": source_event(payload=LARGE)})
    export(graph, here, [shard], file, line_bytes_max=LINE_BYTES_MAX)
    wipe(graph, shard)
    restore(graph, there, file, line_bytes_max=LINE_BYTES_MAX)

    assert verify(graph, shard).ok
    assert _names(source) == _names(target)
    again = tmp_path / "again.jsonl"
    export(graph, there, [shard], again, line_bytes_max=LINE_BYTES_MAX)
    assert file.read_bytes() == again.read_bytes()
    _alter(target, _names(target)[0].strip("/"), None)
    with pytest.raises(AmosError, match="event 1: evd_turn1: the archived payload is not there"):
        export(graph, there, [shard], again, line_bytes_max=LINE_BYTES_MAX)


# --- settings --------------------------------------------------------------------------------------


@pytest.mark.case("C66")
def test_archive_url_names_the_store_of_large_payloads(tmp_path: Path, place: Places) -> None:
    """What is archived by its settings lies in the store of the URL; a file URL is our own folder."""
    away = Settings.model_validate({"home": tmp_path, "archive_url": place("memory")})
    digest = open_archive(away).put("t/w", b"payload")

    assert archive_at(place("memory")).get("t/w", digest) == b"payload"
    assert not away.archive_folder.exists()
    url = Settings.model_validate({"home": tmp_path, "archive_url": place("file")})
    plain = Settings.model_validate({"home": tmp_path})
    for archive in (open_archive(url), open_archive(plain)):
        assert isinstance(archive.objects, Folder)
        assert archive.objects.folder == plain.archive_folder


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"archive_url": "bucket/prefix"}, "an object store is named like s3://bucket/prefix"),
        ({"archive_url": "s3://b", "archive": "/a"}, "AMOS_ARCHIVE names another place"),
    ],
)
def test_a_place_that_cannot_be_meant_is_refused(settings: dict[str, str], told: str) -> None:
    """What is no URL, and two places at once."""
    with pytest.raises(ValueError, match=told):
        Settings.model_validate({**settings, **({"archive": Path("/a")} if "archive" in settings else {})})


def test_without_the_extra_one_sentence_says_what_to_add(monkeypatch: pytest.MonkeyPatch) -> None:
    """fsspec is optional, and so is each adapter of it."""
    with pytest.raises(AmosError) as adapter:
        archive_at("s3://bucket/prefix")
    assert adapter.value.message == "AMOS_ARCHIVE_URL: Install s3fs to access S3"
    with pytest.raises(AmosError) as unknown:
        archive_at("nothing://bucket")
    assert unknown.value.message == "AMOS_ARCHIVE_URL: nothing:// cannot be opened: ValueError"
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(AmosError) as missing:
        archive_at("s3://bucket/prefix")
    assert (missing.value.code, missing.value.message) == ("unavailable", EXTRA)
    assert "pip install 'amos-graph[object-store]'" in EXTRA
