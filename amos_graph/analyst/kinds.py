"""A model for each atom type, made from its payload model: what is lifted there is a property here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, cast, get_args, get_origin

from neomodel import ArrayProperty, BooleanProperty, FloatProperty, IntegerProperty, StringProperty
from neomodel.properties import Property

from amos_graph.analyst.models import Atom, model
from amos_graph.domain.atoms import PAYLOADS
from amos_graph.domain.atoms.payload import Payload


class AnyProperty(Property[Any]):
    """A scalar or a list, as Neo4j holds it: what a field of several types was lifted to."""

    def inflate(self, value: Any, rethrow: bool = False) -> Any:  # noqa: ARG002 - neomodel's signature
        """The value itself."""
        return value

    def deflate(self, value: Any, rethrow: bool = False) -> Any:  # noqa: ARG002 - neomodel's signature
        """The value itself, so that a filter compares it as it is."""
        return value


_SCALARS: Final[Mapping[Any, type[Property[Any]]]] = MappingProxyType(
    {str: StringProperty, bool: BooleanProperty, int: IntegerProperty, float: FloatProperty}
)


def _types(annotation: Any) -> set[Any]:
    """What a field may hold, besides null: types of Python, and Any for what has no one type."""
    if get_origin(annotation) is Literal:
        return {type(value) for value in get_args(annotation)}
    if get_origin(annotation) is list:
        return {list} if _types(get_args(annotation)[0]) == {str} else {Any}
    parts = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        parts = parts[:1]
    if not parts:
        return {annotation} if annotation in _SCALARS else set() if annotation is type(None) else {Any}
    return {found for part in parts for found in _types(part)}


def _lifted(payload: type[Payload]) -> dict[str, Property[Any]]:
    """A property for each native one of a type; a field of a field is of any type."""
    return {name: _property(payload, path) for name, path in payload.lifted.items()}


def _property(payload: type[Payload], path: str) -> Property[Any]:
    found = _types(payload.model_fields[path].annotation) if path in payload.model_fields else {Any}
    if found == {list}:
        return ArrayProperty(StringProperty())
    only: type[Property[Any]] = _SCALARS.get(found.pop(), AnyProperty) if len(found) == 1 else AnyProperty
    return only()


def _kind(name: str, payload: type[Payload]) -> type[Atom]:
    said = (payload.__doc__ or "").strip()
    extra = {"stream_id": StringProperty()} if name == "interaction_event" else {}
    return cast("type[Atom]", model(payload.label, Atom, said, {**_lifted(payload), **extra}))


#: Atom type → its model, which is named after its label: `Belief = KINDS["belief"]`.
KINDS: Final[Mapping[str, type[Atom]]] = MappingProxyType(
    {name: _kind(name, payload) for name, payload in PAYLOADS.items()}
)
