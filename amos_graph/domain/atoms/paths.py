"""Places within payloads: whether a type can have one, and what is left of a payload that keeps some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, cast, get_args, get_origin

from pydantic import BaseModel

#: A place that keeps all below it.
_WHOLE: Final[Mapping[str, Any]] = {}


def has_path(model: type[BaseModel], path: str) -> bool:
    """True if a record of this model can have a value at `field.member.…`; lists are passed through.

    Below a free-form record, and below a value that may be one, every name is possible.
    """
    steps = path.split(".")
    return all(steps) and _reaches(model, steps)


def kept(record: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The parts of a record that lie at or below these paths, as they are nested there."""
    tree: dict[str, Any] = {}
    for path in sorted(paths):
        place = tree
        steps = path.split(".")
        for step in steps[:-1]:
            # A shorter path that keeps the whole comes first, and stays.
            if place.get(step) is _WHOLE:
                break
            place = place.setdefault(step, {})
        else:
            place.setdefault(steps[-1], _WHOLE)
    return _pruned(record, tree)


def _pruned(record: Mapping[str, Any], tree: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in record.items():
        below = tree.get(name)
        if below is _WHOLE:
            found[name] = value
        elif below is not None and isinstance(value, dict):
            found[name] = _pruned(cast("dict[str, Any]", value), below)
        elif below is not None and isinstance(value, list):
            found[name] = [_pruned(entry, below) for entry in _records(cast("list[Any]", value))]
    return found


def _records(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for value in values:
        if isinstance(value, dict):
            yield cast("dict[str, Any]", value)


def _reaches(annotation: Any, steps: Sequence[str]) -> bool:
    if not steps or annotation is Any or annotation is dict or get_origin(annotation) is dict:
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.items()
        named = {field.alias or name: field.annotation for name, field in fields}
        return steps[0] in named and _reaches(named[steps[0]], steps[1:])
    parts = get_args(annotation)
    inner = parts[:1] if get_origin(annotation) is Annotated else parts
    return any(_reaches(part, steps) for part in inner)
