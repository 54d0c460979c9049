"""The words of a text in the form in which words are compared, and those that say nothing of a topic."""

from __future__ import annotations

import re
from typing import Final

from amos_graph.domain.values import fold

#: Scripts without spaces are matched letter by letter, as the text index does.
_UNSPACED: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
#: One word of a folded text.
TOKEN: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")

#: Words that ask or join and say nothing of what is asked for. They count only where there is nothing else.
_STOP_WORDS: Final = """
    a about after all also am an and any are as at be been before but by can could did do does for from
    had has have he her him his how i if in into is it its just me my no not of on or our she should so some
    tell than that the their them then there these they this those to us was we were what when where which
    who whom whose why will with would you your don t s re ve ll d m
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())


def tokens_of(text: str) -> list[str]:
    """The words of a text in the form in which words are compared."""
    return TOKEN.findall(fold(text))
