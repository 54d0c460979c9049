"""The second store, into which golden files are restored."""

from __future__ import annotations

from tests.machine.conftest import elsewhere, other_server

__all__ = ["elsewhere", "other_server"]
