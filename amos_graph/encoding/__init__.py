"""Text as vectors: two encoders behind one protocol, and what is known of words. Pure; no database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, Literal

from amos_graph.encoding.corpus import Corpus, Statistics
from amos_graph.encoding.encoder import Encoder, Model
from amos_graph.encoding.hashed import HashedEncoder
from amos_graph.encoding.wordllama import WordLlamaEncoder

EncoderName = Literal["hashed", "wordllama"]

_ENCODERS: Final[Mapping[str, Callable[[], Encoder]]] = MappingProxyType(
    {"hashed": HashedEncoder, "wordllama": WordLlamaEncoder}
)


@cache
def open_encoder(name: EncoderName) -> Encoder:
    """The encoder of a name, once in a process. Raises `unavailable` when what it needs is not installed."""
    return _ENCODERS[name]()


__all__ = ["Corpus", "Encoder", "EncoderName", "Model", "Statistics", "open_encoder"]
