"""From what a caller wrote to what is looked up: user text is data, never search syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from amos_graph.domain.ids import ENTITY_ID, with_names
from amos_graph.domain.mentions import name_key
from amos_graph.domain.tokens import STOP_WORDS, TOKEN, tokens_of
from amos_graph.domain.values import fold
from amos_graph.policy.entity_links import Stretch

#: Distinct words of the cues that are looked up. Words beyond are left out, the last ones first,
#: and the packet says how many.
TERMS_MAX: Final = 64
#: Words of a name that is looked up among entities.
NAME_WORDS_MAX: Final = 6
#: Words of the cues whose combinations are looked up as names and as ids.
NAME_CHUNKS_MAX: Final = 64
#: Lucene takes 1,024 clauses in a query and counts every word of a phrase as one.
CLASSES_PER_QUERY: Final = 600

_EDGE: Final = re.compile(r"^\W+|\W+$")
_POSSESSIVE: Final = re.compile(r"['’]s$")
_WORD: Final = re.compile(r"\S+")
_ATOM_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@/+\-]{0,199}")


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of a text that are looked up, each once, in order."""

    tokens: tuple[str, ...]
    #: What goes to the text index: the words as written, and their parts.
    phrases: tuple[str, ...]
    #: Words that were left out because there were too many.
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Names:
    """What a text may name: stretches of it that could be names of entities, and ids."""

    stretches: tuple[Stretch, ...]
    entity_ids: tuple[str, ...]
    atom_ids: tuple[str, ...]
    #: The texts themselves, whose meaning is looked for.
    texts: tuple[str, ...] = ()


def terms_of(texts: Iterable[str], terms_max: int = TERMS_MAX) -> Terms:
    """The words of some texts, without stop words unless there are no others."""
    written = [with_names(text) for text in texts]
    chunks = [chunk for text in written for chunk in _chunks(fold(text))]
    every = list(dict.fromkeys(token for chunk in chunks for token in TOKEN.findall(chunk)))
    telling = [token for token in every if token not in STOP_WORDS] or every
    kept = telling[:terms_max]
    wanted = set(kept)
    # The index folds less than we do (it keeps ß and full-width letters): words also go to it as written.
    as_written = [chunk for text in written for chunk in _chunks(text.lower())]
    phrases = [
        phrase
        for chunk in (*chunks, *as_written)
        for phrase in (chunk, *TOKEN.findall(chunk))
        if wanted.intersection(tokens_of(phrase))
    ]
    unique = list(dict.fromkeys(phrases))[: 2 * terms_max]
    return Terms(tuple(kept), tuple(unique), len(telling) - len(kept))


def joined(one: Terms, other: Terms) -> Terms:
    """The words of both, each once."""
    return Terms(
        tuple(dict.fromkeys((*one.tokens, *other.tokens))),
        tuple(dict.fromkeys((*one.phrases, *other.phrases)))[: 2 * TERMS_MAX],
        one.left_out + other.left_out,
    )


def names_of(texts: Sequence[str]) -> Names:
    """Every run of up to six words that could be a name, and every id that is written out."""
    stretches: list[Stretch] = []
    entities: list[str] = []
    atoms: list[str] = []
    left = NAME_CHUNKS_MAX
    for number, text in enumerate(texts):
        entities += [found.rstrip(".:/,+-@") for found in ENTITY_ID.findall(text)]
        atoms += [
            form
            for chunk in text.split()[:NAME_CHUNKS_MAX]
            for form in (chunk, _EDGE.sub("", chunk))
            if _ATOM_ID.fullmatch(form)
        ]
        words = list(_WORD.finditer(text))[:left]
        left -= len(words)
        for first in range(len(words)):
            for last in range(first, min(first + NAME_WORDS_MAX, len(words))):
                found = _stretch(number, text, words[first].start(), words[last].end())
                if found is not None:
                    stretches.append(found)
    return Names(
        tuple(stretches),
        _unique(entities),
        _unique(atoms)[: 2 * NAME_CHUNKS_MAX],
        tuple(map(with_names, texts)),
    )


def _stretch(number: int, text: str, start: int, end: int) -> Stretch | None:
    """A run of words, unless nothing in it could be a name."""
    written = text[start:end]
    forms, key = _forms(fold(written)), name_key(written)
    if not forms or not key:
        return None
    found = Stretch(number, start, end, tuple(forms), key)
    stopped = len(found.tokens) == 1 and found.tokens <= STOP_WORDS
    return None if stopped or not found.tokens else found


def text_queries(shard_key: str, terms: Terms, states: Sequence[str], classes: Sequence[str]) -> list[str]:
    """The Lucene queries for some words within a shard, some states and some access classes.

    They are made of quoted phrases only, in which nothing but the quote and the backslash is special.
    """
    if not terms.phrases or not states:
        return []
    words = " ".join(f"search_text:{_quoted(phrase)}" for phrase in terms.phrases)
    kept = " ".join(f"state_key:{_quoted(state)}" for state in states)
    return [
        f"+shard_key:{_quoted(shard_key)} +({kept}) +({_classes(classes[start : start + CLASSES_PER_QUERY])})"
        f" +({words})"
        for start in range(0, len(classes), CLASSES_PER_QUERY)
    ]


def _classes(classes: Sequence[str]) -> str:
    return " ".join(f"access_class:{_quoted(digest)}" for digest in classes)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _chunks(folded: str) -> list[str]:
    trimmed = (_EDGE.sub("", chunk) for chunk in folded.split())
    return [chunk for chunk in trimmed if chunk]


def _forms(words: str) -> list[str]:
    """A name as it may stand in a sentence: with its punctuation, without, and without a possessive."""
    bare = _EDGE.sub("", words)
    return [form for form in dict.fromkeys((words, bare, _POSSESSIVE.sub("", bare))) if form]


def _unique(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))
