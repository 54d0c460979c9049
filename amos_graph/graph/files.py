"""Where the shipped statements lie: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent.parent


def _folder(name: str) -> Path:
    shipped = _PACKAGE / f"_{name}"
    return shipped if shipped.is_dir() else _PACKAGE.parent / name


CYPHER: Final = _folder("cypher")
CONSTRAINTS: Final = _folder("constraints")
