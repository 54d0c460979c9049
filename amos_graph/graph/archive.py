"""The evidence archive: payloads too large for the graph, kept by their content (design §3).

A folder of this machine, or an object store by URL; either way a name is the digest of what lies
under it, so nothing is ever rewritten and nothing that lies there is half of itself.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Protocol

from amos_graph.domain.ids import shard_key
from amos_graph.errors import AmosError
from amos_graph.graph.object_store import ObjectStore
from amos_graph.settings import Settings


class Objects(Protocol):
    """Bytes under names with slashes; what is there under a name is there as a whole."""

    def holds(self, name: str) -> bool: ...

    def put(self, name: str, content: bytes) -> None: ...

    def get(self, name: str) -> bytes:
        """Raises FileNotFoundError when nothing lies there, and anything else when it cannot be told."""
        ...


class Archive:
    """Payloads by shard and digest, in a folder or in an object store."""

    def __init__(self, place: Path | Objects) -> None:
        self.objects: Objects = Folder(place) if isinstance(place, Path) else place

    def put(self, shard: str, content: bytes) -> str:
        """Store bytes durably and return their hexadecimal SHA-256.

        Written before the transaction that points at them: a crash leaves an object that nothing names,
        never a record without its object. Raises `unavailable` when it cannot be written.
        """
        digest = hashlib.sha256(content).hexdigest()
        name = _name(shard, digest)
        try:
            if not self.objects.holds(name):
                self.objects.put(name, content)
        except Exception as error:
            raise _unavailable("written", error) from error
        return digest

    def get(self, shard: str, digest: str) -> bytes:
        """The bytes of a digest, checked.

        Raises `not_found` when there are none, `internal` when they were altered, and `unavailable` when
        the archive cannot tell.
        """
        try:
            content = self.objects.get(_name(shard, digest))
        except FileNotFoundError as error:
            raise AmosError("not_found", "the archived payload is not there") from error
        except Exception as error:
            raise _unavailable("read", error) from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise AmosError("internal", "an archived payload differs from its digest")
        return content

    def pointer(self, shard: str, content: bytes) -> dict[str, Any]:
        """What stands in an evidence record for archived bytes; it names no place of this installation."""
        digest = hashlib.sha256(content).hexdigest()
        return {
            "archived": True,
            "sha256": digest,
            "size_bytes": len(content),
            "uri": f"archive://{shard}/{digest}",
        }


def open_archive(settings: Settings) -> Archive:
    """The archive of the settings. Raises `unavailable` when its store cannot be spoken to from here."""
    if settings.archive_url:
        return archive_at(settings.archive_url)
    return Archive(settings.archive_folder.expanduser())


def archive_at(place: str) -> Archive:
    """The archive at a URL, or in a folder. Raises as `open_archive` does."""
    if "://" not in place:
        return Archive(Path(place).expanduser())
    if place.startswith("file://"):
        # Our own folder makes every object durable before it is named; the adapter for files does not.
        return Archive(Path(place.removeprefix("file://")))
    return Archive(ObjectStore(place))


class Folder:
    """Objects as files below a folder that only its owner reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def holds(self, name: str) -> bool:
        return (self.folder / name).is_file()

    def put(self, name: str, content: bytes) -> None:
        path = self.folder / name
        # `parents` makes the folders above with the usual mode, so the root is made by itself.
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        Path(handle.name).replace(path)

    def get(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


def _name(shard: str, digest: str) -> str:
    return f"{shard_key(shard)}/{digest[:2]}/{digest}"


def _unavailable(what: str, error: Exception) -> AmosError:
    """A failure in words of ours: those of a store may hold addresses and keys."""
    number = error.errno if isinstance(error, OSError) else None
    reason = os.strerror(number) if number else type(error).__name__
    return AmosError("unavailable", f"the evidence archive cannot be {what}: {reason}")
