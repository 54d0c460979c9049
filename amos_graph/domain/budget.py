"""How large a packet may be for who reads it: in tokens, in bytes, or both."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Final, Protocol, cast

from pydantic import Field, model_validator

from amos_graph.domain.model import Strict
from amos_graph.domain.value_kinds import fault

#: Words of letters, other runs of letters and digits, spaces, what is not ASCII, and single marks.
_PIECE: Final = re.compile(r"[A-Za-z0-9]+|[^\S\n]+|[^\x00-\x7f]+|.", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z]?[a-z]{0,14}|[A-Z]{1,15}")
_LETTERS_PER_TOKEN: Final = 3


class Budget(Strict):
    """What the rendered packet may take; both bounds hold where both are given."""

    tokens: int | None = Field(default=None, ge=1)
    bytes: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _bounds_something(self) -> Budget:
        if self.tokens is None and self.bytes is None:
            raise fault("names tokens or bytes")
        return self


class TokenCounter(Protocol):
    """Counts the tokens of a text as some model does; the same text always has the same count."""

    @property
    def name(self) -> str:
        """What a packet says that it was counted with."""
        ...

    def count(self, text: str) -> int: ...


class Estimate:
    """An estimate without any model's vocabulary, meant to lie above what tokenizers of today count.

    A plain word is a token for every three of its letters, as begun; a single space is free; every
    other ASCII character is one token, and so is every byte of other scripts, since a byte is the
    least that a byte-level tokenizer takes at once. Ids and digests are thus counted character by
    character. Only a budget in bytes is exact.
    """

    name = "estimate.1"

    def count(self, text: str) -> int:
        return sum(_tokens(piece) for piece in _PIECE.findall(text))


def _tokens(piece: str) -> int:
    if not piece[0].isascii():
        return len(piece.encode())
    if piece == " ":
        return 0
    if _WORD.fullmatch(piece):
        return -(-len(piece) // _LETTERS_PER_TOKEN)
    return len(piece)


def token_counter(name: str) -> TokenCounter:
    """The counter that a setting names: `estimate`, or an object as `package.module:name`.

    Raises `ValueError` when there is no such object or it cannot count.
    """
    if name == "estimate":
        return Estimate()
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"no token counter is called {name}: package.module:name") from error
    counter = cast("TokenCounter", found() if isinstance(found, type) else found)
    if not isinstance(getattr(counter, "name", None), str) or not callable(getattr(counter, "count", None)):
        raise ValueError(f"{name} is no token counter: it has a name and count(text)")  # noqa: TRY004
    return counter
