"""How words and meaning together say how strongly an atom is asked for, before activation spreads.

A weighted sum of what each says of the atom alone. Ranks are not used: the place of one atom would
move with what others are found, and an irrelevant atom could change the order of two relevant ones.
"""

from __future__ import annotations

from typing import Final

#: What each says in full; where both do, the seed is as strong as a seed can be.
LEXICAL: Final = 1.0
SEMANTIC: Final = 0.6


def fused(lexical: float, semantic: float) -> float:
    """The strength of a seed, 0..1, from the share of words that match and the nearness of meaning."""
    return min(1.0, LEXICAL * lexical + SEMANTIC * semantic)
