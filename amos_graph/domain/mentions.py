"""Names in free text, found without a model: which stretches of a text name something, and by which key.

A name is known by its key: case, accents, punctuation, a leading article and a possessive are folded
away, so that `Akinoshū Kenji's` and `AKINOSHU KENJI` are one name. Nothing here knows a store: the same
text always holds the same names, so what links a text to a name follows from the text alone.

Names are told by capital letters. Scripts that have none give no mentions, and neither does a text
that is written in capitals throughout; such texts are found by their words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from amos_graph.domain.values import fold

#: Characters of a text in which names are looked for, names of a text, words of a name, letters of a key.
TEXT_MAX: Final = 20_000
NAMES_MAX: Final = 64
WORDS_MAX: Final = 12
KEY_MAX: Final = 120
#: Words and marks of a text that may be a title.
TITLE_PIECES_MAX: Final = 8

#: How sure it is that a stretch names something: a title, several words, one word, a part of a longer name.
TITLE: Final = 1.0
SEVERAL: Final = 0.9
SINGLE: Final = 0.7
PART: Final = 0.5

#: A word with what may stand inside one, or a single mark.
_PIECE: Final = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*|[^\w\s]")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_BRACKETED: Final = re.compile(r"\s*\([^()]*\)\s*$")
_ARTICLE: Final = re.compile(r"^(?:the|an?) (?=\S\S)")
#: Letters that are no letter with an accent, and are written without their stroke all the same.
_STROKES: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)
#: After these a sentence begins, or something of its own.
_OPENING: Final = frozenset('.!?…:;"“”„«»•–—*#|>')

_JOINING_WORDS: Final = """
    of the de la le du des da do dos di del della van von der den het ten ter al el bin ibn y e and
    & for in on
"""
_LEADING_WORDS: Final = """
    a an this that these those his her its their our my your he she it they we you i who whom whose
    which what when where why how there here by to from with without within under over into onto
    upon as if because since until while although though however but or nor so yet not no after
    before during between among through about against despite following prior along across around
    per via like unlike than then thus therefore moreover furthermore meanwhile also both each every
    either neither another other others such some any many most several few all one two three four
    five six seven eight nine ten is are was were be been being am do does did has have had can
    could may might must shall should will would let today yesterday tomorrow tonight currently later
    originally initially eventually finally additionally according once only even just again still
    now soon often usually typically generally yes please thanks thank hello hi hey ok okay well oh sure at
"""
_NO_NAMES: Final = """
    january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday spring summer autumn winter mr mrs ms dr st
    sir new old great first second third north south east west northern southern eastern western
"""
#: Words that join the parts of a name.
_JOINING: Final = frozenset(_JOINING_WORDS.split())
#: Words at which a name is also taken apart, since either side may be a name of its own.
_PARTING: Final = frozenset({"and", "&", "in", "for", "of"})
#: Words that begin a sentence, or stand before a name, and are no part of it.
_LEADING: Final = _JOINING | frozenset(_LEADING_WORDS.split())
#: Words that are written with a capital and name nothing by themselves.
_NO_NAME: Final = frozenset(_NO_NAMES.split())


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a text that names something."""

    #: The key by which the name is compared.
    name: str
    #: The stretch as it is written, and where it begins, in characters.
    span: str
    start: int
    #: How sure it is that the stretch names something, in 0..1.
    confidence: float

    def link(self) -> dict[str, Any]:
        """The properties of the MENTIONS that stands for it."""
        return {"confidence": self.confidence, "span": self.span, "start": self.start}


class _Piece(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def folded(self) -> str:
        return self.text.casefold()

    @property
    def capital(self) -> bool:
        return self.text != self.text.lower() and self.text[0].isalnum()


@lru_cache(maxsize=8_192)
def name_key(text: str) -> str:
    """A name without case, accents, punctuation, article and possessive; empty if nothing is left of it."""
    words = (_POSSESSIVE.sub("", word) for word in fold(text).split(" "))
    plain = unicodedata.normalize("NFD", " ".join(words)).translate(_STROKES)
    kept = (_bare(letter) for letter in plain if not "\u0300" <= letter <= "\u036f")
    return _ARTICLE.sub("", " ".join("".join(kept).split()))[:KEY_MAX].rstrip()


def name_keys(title: str) -> list[str]:
    """The keys that a title answers to: whole, without what is in brackets, and before its first comma."""
    bare = _BRACKETED.sub("", title)
    keys = (name_key(form) for form in (title, bare, bare.partition(",")[0]))
    return [key for key in dict.fromkeys(keys) if key]


def is_name(phrase: str) -> bool:
    """The proper-noun guard: true if a phrase names one particular thing, and is nothing beside the name.

    A vague description ("2 younger kids") or somebody's something ("Melanie's kids") would match everything
    of a broad topic in place of the one thing that is meant.
    """
    found = [mention for mention, _ in _spotted(phrase) if mention.confidence > PART]
    return len(found) == 1 and found[0].name == name_key(phrase)


def mentions(texts: Iterable[str]) -> list[Mention]:
    """The names in some texts, each name once where it is surest, in order; at most `NAMES_MAX`.

    A short text that is no sentence is taken for a title, and so for a name as a whole.
    """
    found: dict[str, Mention] = {}
    room = TEXT_MAX
    for text in texts:
        for mention in (*_title(text[:room]), *_confirmed(list(_spotted(text[:room])))):
            known = found.get(mention.name)
            if known is None or mention.confidence > known.confidence:
                found[mention.name] = mention
        room -= len(text)
        if room <= 0:
            break
    return list(found.values())[:NAMES_MAX]


def _bare(letter: str) -> str:
    """A letter, a figure or a mark that belongs to a letter of its script; else a space."""
    return letter if letter.isalnum() or unicodedata.category(letter)[0] == "M" else " "


def _title(text: str) -> Iterator[Mention]:
    """A short text as the names that it answers to, unless it is a sentence or begins as one goes on."""
    written = text.strip()
    if len(written) > KEY_MAX or written == written.lower():
        return
    pieces = list(_pieces(written))
    if not 0 < len(pieces) <= TITLE_PIECES_MAX or written[-1] in ".!?,;:" or _shouted(pieces):
        return
    if not (pieces[0].capital or pieces[0].text[0].isdigit()):
        return
    for key in name_keys(written):
        if _may_stand(key.split(" ")):
            yield Mention(key, written[:KEY_MAX], text.index(written), TITLE)


def _confirmed(found: Sequence[tuple[Mention, bool]]) -> Iterator[Mention]:
    """What was spotted, but for lone words that open a sentence and stand nowhere else as a name."""
    certain = {word for mention, opens in found if not opens for word in mention.name.split(" ")}
    return (mention for mention, opens in found if not opens or mention.name in certain)


def _spotted(text: str) -> Iterator[tuple[Mention, bool]]:
    """Runs of words with capitals, each with whether it is a lone word that opens a sentence."""
    if text == text.lower():
        return
    pieces = list(_pieces(text))
    if _shouted(pieces):
        return
    index, opening = 0, True
    while index < len(pieces):
        if not pieces[index].capital:
            opening = pieces[index].text in _OPENING
            index += 1
            continue
        run, after = _run(text, pieces, index)
        name = _trimmed(run)
        lone = opening and len(name) == 1 and len(run) == 1
        for part, confidence in _parts(name):
            words = name_key(" ".join(piece.text for piece in part)).split(" ")
            if _may_stand(words):
                span = text[part[0].start : part[-1].end]
                yield Mention(" ".join(words), span, part[0].start, confidence), lone
        index, opening = after, False


def _run(text: str, pieces: Sequence[_Piece], first: int) -> tuple[list[_Piece], int]:
    """The words with capitals from `first` on, joining words between them included, and what comes after."""
    run, last = [pieces[first]], first
    while len(run) < WORDS_MAX:
        place = last + 1
        if place < len(pieces) and len(pieces[last].text) == 1 and text[pieces[last].end :].startswith("."):
            place += 1
        joining = place
        while place < len(pieces) and place < joining + 2 and pieces[place].text in _JOINING:
            place += 1
        if place >= len(pieces) or not pieces[place].capital:
            break
        between = text[pieces[last].end : pieces[place].start]
        if "\n" in between or len(between) > 12:
            break
        run += [*pieces[joining:place], pieces[place]]
        last = place
    return run, last + 1


def _parts(name: Sequence[_Piece]) -> Iterator[tuple[Sequence[_Piece], float]]:
    """A name as a whole, and what stands between its joining words; of `X of Y` only `Y` names something."""
    if not name:
        return
    yield name, SEVERAL if len(name) > 1 else SINGLE
    cuts = [at for at, piece in enumerate(name) if piece.folded in _PARTING]
    begins = 0
    for at in (*cuts, len(name)):
        part = _trimmed(name[begins:at])
        generic = at < len(name) and name[at].folded == "of"
        if cuts and part and not generic:
            yield part, PART
        begins = at + 1


def _trimmed(run: Sequence[_Piece]) -> Sequence[_Piece]:
    first, last = 0, len(run)
    while first < last and run[first].folded in _LEADING:
        first += 1
    while last > first and run[last - 1].folded in _LEADING:
        last -= 1
    return run[first:last]


def _may_stand(words: Sequence[str]) -> bool:
    """Whether a key can tell one thing from others."""
    if len(words) == 1:
        return len(words[0]) > 1 and words[0] not in _NO_NAME | _LEADING
    return not all(word.isdigit() or word in _NO_NAME | _LEADING for word in words)


def _shouted(pieces: Sequence[_Piece]) -> bool:
    words = [piece.text for piece in pieces if piece.text.isalpha() and len(piece.text) > 1]
    return len(words) > 3 and sum(word.isupper() for word in words) > len(words) / 2


def _pieces(text: str) -> Iterator[_Piece]:
    for found in _PIECE.finditer(text):
        yield _Piece(found[0], *found.span())
