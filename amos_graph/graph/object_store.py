"""Archived payloads in an object store by URL: `s3://…`, `gs://…`, whatever fsspec has an adapter for."""

from __future__ import annotations

import importlib
import uuid
from contextlib import suppress
from typing import Any, Final, Protocol

from amos_graph.errors import AmosError

EXTRA: Final = "AMOS_ARCHIVE_URL needs the extra object-store: pip install 'amos-graph[object-store]'"
#: Protocols whose stores show an object when all of it has arrived, and never before.
_WHOLE: Final = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "oss", "memory"})


class _FileSystem(Protocol):
    """What is used of an fsspec file system."""

    protocol: str | tuple[str, ...]

    def isfile(self, path: str) -> bool: ...

    def pipe_file(self, path: str, value: bytes) -> None: ...

    def cat_file(self, path: str) -> bytes: ...

    def makedirs(self, path: str, exist_ok: bool) -> None: ...

    def mv(self, path1: str, path2: str) -> None: ...

    def rm_file(self, path: str) -> None: ...


class ObjectStore:
    """Objects below a URL. Credentials and addresses are the adapter's own matter, as its documents say."""

    def __init__(self, url: str) -> None:
        """Raises `unavailable`, in a sentence, when the extra or the adapter of the URL is missing."""
        protocol = url.partition("://")[0]
        try:
            fsspec: Any = importlib.import_module("fsspec")
        except ImportError as error:
            raise AmosError("unavailable", EXTRA) from error
        try:
            # A remembered listing would tell that an object is there which somebody has deleted since.
            found: tuple[_FileSystem, str] = fsspec.url_to_fs(url, use_listings_cache=False)
        except ImportError as error:
            # In the words of fsspec, which name the package: "Install s3fs to access S3".
            raise AmosError("unavailable", f"AMOS_ARCHIVE_URL: {error}") from error
        except Exception as error:
            message = f"AMOS_ARCHIVE_URL: {protocol}:// cannot be opened: {type(error).__name__}"
            raise AmosError("unavailable", message) from error
        self._files, root = found
        self._root = root.rstrip("/")
        named = self._files.protocol
        self._whole = not _WHOLE.isdisjoint([named] if isinstance(named, str) else named)

    def holds(self, name: str) -> bool:
        return self._files.isfile(self._path(name))

    def put(self, name: str, content: bytes) -> None:
        """Write one object, which is there as a whole or not at all."""
        path = self._path(name)
        if self._whole:
            self._files.pipe_file(path, content)
            return
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        # Beside it, because a rename is one step only within a folder.
        partial = f"{path}.{uuid.uuid4().hex}.part"
        try:
            self._files.pipe_file(partial, content)
            self._files.mv(partial, path)
        except BaseException:
            with suppress(Exception):
                self._files.rm_file(partial)
            raise

    def get(self, name: str) -> bytes:
        return self._files.cat_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"
