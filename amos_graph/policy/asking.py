"""Which relations a cue asks for: “what did it need” is about `rel:requires`, whatever words memories use.

A small table of English, no grammar: a word that people use for a relation names it and its inverse,
and a relation's own name names it too, so that what a shard adds (`rel:blocks`) is found by “blocked”.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from amos_graph.domain.dictionary import RELATIONS
from amos_graph.policy.ranking import Activation

#: Relation → words by which it is asked for, beside the forms of its own name.
_WORDS: Final[Mapping[str, str]] = {
    "rel:requires": "need needs needed needing requirement requirements prerequisite prerequisites",
    "rel:depends_on": "depend depends depended depending dependency dependencies",
    "rel:references": "cite cites cited citing mention mentions mentioned refer refers referred",
    "rel:causes": "cause caused causing lead leads led result results resulted trigger",
    "rel:supports": "confirm confirms confirmed back backs backed",
    "rel:contradicts": "conflict conflicts conflicting disagree disagrees disagreed oppose opposes opposed",
    "rel:corrects": "correction corrections fix fixed",
    "rel:governs": "policy policies rule rules apply applies applied",
    "rel:exception_to": "exception exceptions except",
    "rel:similar_to": "similar like alike resemble resembles",
    "rel:precedes": "preceding previous earlier",
    "rel:follows": "following next later",
}
#: An atom is what a cue is about if it matches at least this part of what the best one matches.
ABOUT: Final = 0.5


@dataclass(frozen=True, slots=True)
class About:
    """The words of a cue, beside those that ask for a relation, that match an atom, and their share."""

    words: frozenset[str]
    share: float


_ENDINGS: Final = ("", "s", "es", "d", "ed", "ing")


def _forms(word: str) -> set[str]:
    """The forms of a verb as far as they are made by an ending: blocks, block, blocked, blocking."""
    stems = {word, *(word[: -len(end)] for end in _ENDINGS if end and word.endswith(end))}
    return {stem + end for stem in stems if len(stem) > 2 for end in _ENDINGS}


def _named() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for ref, words in _WORDS.items():
        inverse = RELATIONS[ref].inverse
        for word in words.split():
            found.setdefault(word, set()).update({ref, inverse} if inverse else {ref})
    return MappingProxyType({word: frozenset(refs) for word, refs in found.items()})


_NAMED: Final = _named()


def asked_relations(words: Iterable[str]) -> dict[str, frozenset[str]]:
    """The ids of relations that some words of a cue name, each with those words.

    Ids that no relation has are among them: whether a shard has `rel:blocks` is for its edges to say.
    """
    found: dict[str, set[str]] = {}
    for word in words:
        refs = set(_NAMED.get(word, ()))
        if word.isascii() and word.isalpha():
            forms = {f"rel:{form}" for form in _forms(word)}
            refs |= forms
            refs |= {inverse for ref in forms & RELATIONS.keys() if (inverse := RELATIONS[ref].inverse)}
        for ref in refs:
            found.setdefault(ref, set()).add(word)
    return {ref: frozenset(named) for ref, named in found.items()}


def answered(
    asked: Mapping[str, frozenset[str]], walked: Mapping[str, Activation], about: Mapping[str, About]
) -> dict[str, frozenset[str]]:
    """What was reached by an edge that was asked for, with the words of the cue that it answers.

    Such an atom matches the words that asked: “need” is said by the edge `rel:requires` that leads to it.
    And it matches those by which the cue names where the way begins: what a memory says of needing in
    general is no answer to what this one needed. The way must begin at what the cue is about.
    """
    enough = max((one.share for one in about.values()), default=0.0) * ABOUT
    found: dict[str, frozenset[str]] = {}
    for ref, way in walked.items():
        words = asked.get(str(way.path[-1]["relation"])) if way.path else None
        seed = about.get(way.seed)
        if words and seed is not None and seed.share >= enough:
            found[ref] = words | seed.words
    return found
