"""Every kind of figure, in the order in which they are measured."""

from __future__ import annotations

from typing import Final

from bench.figures import Figure
from bench.figures.batch import FIGURE as BATCH
from bench.figures.commit import FIGURE as COMMIT
from bench.figures.groups import FIGURE as GROUPS
from bench.figures.journal import FIGURE as JOURNAL
from bench.figures.recall import FIGURE as RECALL
from bench.figures.restart import FIGURE as RESTART
from bench.figures.sizes import FIGURE as SIZES
from bench.figures.tail import FIGURE as TAIL

#: Sizes come last among those on the fresh store, since they restart it.
FIGURES: Final[dict[str, Figure]] = {
    figure.name: figure for figure in (COMMIT, GROUPS, BATCH, TAIL, JOURNAL, SIZES, RECALL, RESTART)
}
