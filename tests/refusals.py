"""What a call was refused with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from amos_graph.errors import AmosError


def refusal(call: Callable[[], object]) -> AmosError:
    """The error of a call that must be refused."""
    with pytest.raises(AmosError) as refused:
        call()
    return refused.value
