"""Where the content of a memory comes from, as its sources are called: its trust class.

The class is told, with each item of a packet, to whoever uses it. It makes no memory an instruction:
what is stored is data, whatever its class (C77).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

TrustClass = Literal["system", "user", "agent", "conversation", "tool", "document", "unknown"]
#: From the most trusted to the least. `conversation` is a turn of which the source does not say whose it is.
TRUST_CLASSES: Final[tuple[TrustClass, ...]] = get_args(TrustClass)

_WORDS: Final[Mapping[TrustClass, str]] = MappingProxyType(
    {
        "system": "system configuration config developer archive",
        "user": "user human person owner operator",
        "agent": "agent assistant model llm processor note",
        "conversation": "conversation chat dialogue transcript message turn",
        "tool": "tool command terminal shell api sensor evaluator test environment",
        "document": "document page web website file email mail attachment article book repository commit "
        "issue dataset passage",
    }
)
_CLASS_OF: Final[Mapping[str, TrustClass]] = {
    word: trust for trust, words in _WORDS.items() for word in words.split()
}
_WORD: Final = re.compile(r"[a-z]+")


def trust_class(sources: Iterable[str]) -> TrustClass:
    """The class of the least trusted of these sources, by the words of their names; `unknown` of none.

    A name that says two things says the less trusted one: `user_uploaded_document` is a document. That
    something was said in a conversation says nothing beside who said it: `user_turn` is a user's. A
    `note` is its writer's, and what writes here is an agent unless the source names a person.
    """
    return _least({_class_of(source) for source in sources})


def _class_of(source: str) -> TrustClass:
    found = {_CLASS_OF[word] for word in _WORD.findall(source.lower()) if word in _CLASS_OF}
    if len(found) > 1:
        found.discard("conversation")
    return _least(found)


def _least(classes: Container[str]) -> TrustClass:
    for trust in reversed(TRUST_CLASSES):
        if trust in classes:
            return trust
    return "unknown"
