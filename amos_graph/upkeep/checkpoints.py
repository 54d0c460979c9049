"""The key that signs checkpoints, in AMOS_HOME, and the keys that a reader knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from amos_graph.domain.checkpoint import (
    Checkpoint,
    parse_checkpoint,
    parse_private,
    parse_public,
    private_pem,
    public_pem,
    sign,
)
from amos_graph.domain.times import now
from amos_graph.errors import AmosError
from amos_graph.graph.local.config import write_private
from amos_graph.graph.local.locks import file_lock

#: A checkpoint or a key is a few hundred bytes; a larger file is none.
_BYTES_MAX: Final = 10_000
_LOCK_S: Final = 10.0


def signing_key(home: Path) -> Ed25519PrivateKey:
    """The key of this home; made on first use, readable by its owner only.

    Raises `schema_invalid` for a file that holds no key, `unavailable` when the disk refuses.
    """
    folder = home.expanduser() / "keys"
    path = folder / "checkpoint.key"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Two first uses at once must not sign with two keys.
        with file_lock(folder / ".lock", _LOCK_S):
            if not path.is_file():
                write_private(path, private_pem(Ed25519PrivateKey.generate()))
            key = parse_private(path.read_bytes(), str(path))
            public = folder / "checkpoint.pub"
            if not public.is_file():
                write_private(public, public_pem(key.public_key()))
    except OSError as error:
        raise AmosError("unavailable", f"{error.filename or folder}: {error.strerror or error}") from error
    return key


def take(head: Mapping[str, Any], home: Path) -> Checkpoint:
    """A head as a checkpoint, signed with the key of this home. Raises as `signing_key` does."""
    return sign(head, now(), signing_key(home))


def known_keys(files: Iterable[Path], home: Path) -> list[Ed25519PublicKey]:
    """The public keys that the reader names; without any, that of this home if it has one."""
    own = home.expanduser() / "keys" / "checkpoint.pub"
    named = list(files) or ([own] if own.is_file() else [])
    return [parse_public(read_small(path), str(path)) for path in named]


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file. Raises `schema_invalid` when it holds none."""
    return parse_checkpoint(read_small(path), str(path))


def read_small(path: Path) -> bytes:
    """The bytes of a small file. Raises `unavailable` when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_BYTES_MAX)
    except OSError as error:
        raise AmosError("unavailable", f"{path} cannot be read: {error.strerror}") from error
