"""Checkpoints: a shard's head, signed and kept outside the store (reliability T09, T10).

A journal cannot show that its tail was cut, that it was written anew from some event on, or that two
copies went different ways. A head that was signed before, and a key that was known before, can.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import Field

from amos_graph.domain.canonical import canonical_bytes, parse_json
from amos_graph.domain.model import Strict, validate
from amos_graph.domain.times import Timestamp
from amos_graph.errors import AmosError, invalid

#: Goes before what is signed, so that a signature can never pass for one of something else.
_CONTEXT: Final = b"amos-checkpoint.v1\n"


class Checkpoint(Strict):
    """Which store, which shard, how many events, and the head's hash; signed unless it was made by hand."""

    schema_version: Literal["amos.v1"]
    store_id: Annotated[str, Field(min_length=1, max_length=200)]
    shard: Annotated[str, Field(min_length=3, max_length=200)]
    graph_version: Annotated[int, Field(ge=1, le=2**53 - 1)]
    head_hash: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    taken_at: Timestamp | None = None
    #: Which key signed it: a hint only, what counts is the key that the reader knows already.
    key_id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")] | None = None
    signature: Annotated[str, Field(max_length=200)] | None = None

    def signed_bytes(self) -> bytes:
        """What the signature is of."""
        record = {name: value for name, value in self.record().items() if name != "signature"}
        return _CONTEXT + canonical_bytes(record)


def parse_checkpoint(raw: bytes, at: str = "checkpoint") -> Checkpoint:
    """The checkpoint of a file's text. Raises `schema_invalid` when it holds none."""
    return validate(Checkpoint, parse_json(raw, at=at), at)


def sign(head: Mapping[str, Any], taken_at: str, key: Ed25519PrivateKey) -> Checkpoint:
    """A head as a signed checkpoint."""
    unsigned = validate(
        Checkpoint, {**head, "taken_at": taken_at, "key_id": key_id(key.public_key())}, "checkpoint"
    )
    signature = base64.b64encode(key.sign(unsigned.signed_bytes())).decode()
    return unsigned.model_copy(update={"signature": signature})


def key_id(key: Ed25519PublicKey) -> str:
    """A short name of a public key."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]


def signer_of(checkpoint: Checkpoint, pinned: Sequence[Ed25519PublicKey]) -> str | None:
    """The id of the pinned key that signed a checkpoint; None for one that claims no signature.

    Raises `authorization_denied` for a signature that none of the pinned keys made: which key is to be
    trusted is the reader's to say and never the checkpoint's.
    """
    if checkpoint.signature is None:
        return None
    try:
        signature = base64.b64decode(checkpoint.signature, validate=True)
    except ValueError as error:
        raise invalid("signature", "it is not base64") from error
    for key in pinned:
        try:
            key.verify(signature, checkpoint.signed_bytes())
        except InvalidSignature:
            continue
        return key_id(key)
    raise AmosError(
        "authorization_denied",
        f"the checkpoint of {checkpoint.shard} at {checkpoint.graph_version} was signed by none of the "
        f"{len(pinned)} known public keys (it names the key {checkpoint.key_id}), or it was changed",
    )


def public_pem(key: Ed25519PublicKey) -> str:
    """A public key as a file holds it."""
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def private_pem(key: Ed25519PrivateKey) -> str:
    """A private key as a file holds it, for its owner alone."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def parse_public(pem: bytes, at: str) -> Ed25519PublicKey:
    """The Ed25519 public key of a PEM text. Raises `schema_invalid` when it is none."""
    try:
        key = serialization.load_pem_public_key(pem)
    except ValueError as error:
        raise invalid(at, "it holds no public key in PEM form") from error
    if not isinstance(key, Ed25519PublicKey):
        raise invalid(at, "it holds no Ed25519 key")
    return key


def parse_private(pem: bytes, at: str) -> Ed25519PrivateKey:
    """The Ed25519 private key of a PEM text. Raises `schema_invalid` when it is none."""
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (TypeError, ValueError) as error:
        raise invalid(at, "it holds no private key in PEM form") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise invalid(at, "it holds no Ed25519 key")
    return key


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two checkpoints say of each other, without a store."""

    outcome: Literal["same", "conflict", "ordered", "other_store", "other_shard"]
    message: str

    def record(self) -> dict[str, str]:
        return {"outcome": self.outcome, "message": self.message}


def compare(one: Checkpoint, other: Checkpoint) -> Comparison:
    """Compare two heads; two of equal size that differ prove that the history was forked (T10)."""
    if one.shard != other.shard:
        return Comparison("other_shard", f"they are of two shards: {one.shard} and {other.shard}")
    if one.store_id != other.store_id:
        return Comparison("other_store", f"they are of two stores: {one.store_id} and {other.store_id}")
    if one.graph_version != other.graph_version:
        earlier, later = sorted((one.graph_version, other.graph_version))
        return Comparison(
            "ordered",
            f"one is at {earlier}, the other at {later}: whether the first is a prefix of the second "
            "shows only a store that both are verified against",
        )
    if one.head_hash != other.head_hash:
        return Comparison(
            "conflict",
            f"{one.shard} has two histories of {one.graph_version} events: this store was forked, or its "
            "past was rewritten",
        )
    return Comparison("same", f"both are the head of {one.shard} at {one.graph_version}")
