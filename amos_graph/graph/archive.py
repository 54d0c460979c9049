"""The evidence archive: payloads too large for the graph, kept by their content (design §3)."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

from amos_graph.domain.ids import shard_key
from amos_graph.errors import AmosError


class Archive:
    """A content-addressed folder. A file's name is the digest of its bytes, so it is never rewritten."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, shard: str, content: bytes) -> str:
        """Store bytes durably and return their hexadecimal SHA-256.

        Written before the transaction that points at them: a crash leaves a file that nothing names,
        never a record without its file. Raises `unavailable` when the disk refuses.
        """
        digest = hashlib.sha256(content).hexdigest()
        path = self._path(shard, digest)
        try:
            if path.is_file():
                return digest
            # `parents` makes the folders above with the usual mode, so the root is made by itself.
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as handle:
                handle.write(content)
                handle.flush()
                os.fsync(handle.fileno())
            Path(handle.name).replace(path)
        except OSError as error:
            raise AmosError(
                "unavailable", f"the evidence archive cannot be written: {error.strerror}"
            ) from error
        return digest

    def get(self, shard: str, digest: str) -> bytes:
        """The bytes of a digest, checked.

        Raises `not_found` when there are none and `internal` when they were altered.
        """
        try:
            content = self._path(shard, digest).read_bytes()
        except OSError as error:
            raise AmosError("not_found", "the archived payload is not there") from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise AmosError("internal", "an archived payload differs from its digest")
        return content

    def pointer(self, shard: str, content: bytes) -> dict[str, Any]:
        """What stands in an evidence record for archived bytes; it names no path of this machine."""
        digest = hashlib.sha256(content).hexdigest()
        return {
            "archived": True,
            "sha256": digest,
            "size_bytes": len(content),
            "uri": f"archive://{shard}/{digest}",
        }

    def _path(self, shard: str, digest: str) -> Path:
        return self.folder / shard_key(shard) / digest[:2] / digest
