"""The class diagrams of the read models, as Mermaid text; docs/tables.py puts them into docs/analyst.md."""  # noqa: INP001 - imported by a script that is run by path

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from neomodel import StructuredNode
from neomodel.properties import Property

from amos_graph.analyst import KINDS, MODELS

#: neomodel types what its metaclass gives a class as unknown.
Model = Any
#: Class of neomodel's property → what a notebook gets.
_READ_AS: Final = {
    "StringProperty": "str",
    "IntegerProperty": "int",
    "FloatProperty": "float",
    "BooleanProperty": "bool",
    "JSONProperty": "JSON",
    "DateTimeNeo4jFormatProperty": "datetime",
    "ArrayProperty": "list~str~",
    "AnyProperty": "Any",
}
#: An arrow with more types than these says how many.
_TYPES_MAX: Final = 4


def class_diagram() -> str:
    """Every model but those of kinds, with what it is derived from and its relationships."""
    models: dict[str, Model] = {}
    for model in MODELS:
        _gather(model, models)
    derived = (
        f"{parent.__name__} <|-- {name}" for name, model in models.items() for parent in _parents(model)
    )
    return _diagram([*_classes(models.values()), *derived, *_arrows(MODELS)])


def kind_diagram() -> str:
    """The kinds of atom, with what each adds to `Atom`."""
    derived = [f"{parent.__name__} <|-- {model.__name__}" for model in _kinds() for parent in _parents(model)]
    return _diagram([*_classes(_kinds()), *derived])


def _kinds() -> list[Model]:
    return list(KINDS.values())


def _diagram(lines: Iterable[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"```mermaid\nclassDiagram\n{body}\n```\n"


def _gather(model: Model, found: dict[str, Model]) -> None:
    """A model after the ones that it is derived from."""
    for parent in _parents(model):
        _gather(parent, found)
    found.setdefault(model.__name__, model)


def _parents(model: Model) -> Iterator[Model]:
    """The models that it is derived from; one whose name begins with `_` is passed over."""
    for base in model.__bases__:
        if base.__name__.startswith("_"):
            yield from _parents(base)
        elif issubclass(base, StructuredNode) and base is not StructuredNode:
            yield base


def _classes(models: Iterable[Model]) -> Iterator[str]:
    """Each class with its own attributes, and its unique keys."""
    for model in models:
        yield f"class {model.__name__} {{"
        for name, found in vars(model).items():
            if isinstance(found, Property):
                yield f"  {_READ_AS[type(found).__name__]} {name}"
        if "unique" in vars(model):
            yield from (f"  unique({', '.join(key)})" for key in model.unique)
        yield "}"


def _arrows(models: Iterable[Model]) -> Iterator[str]:
    """Each relationship once, from where it goes out; those between the same two in one arrow."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for model in models:
        for definition in model.defined_properties(aliases=False, properties=False).values():
            definition.lookup_node_class()
            told = definition.definition
            if told["direction"].value >= 0:
                ends = (model.__name__, told["node_class"].__name__)
                found.setdefault(ends, {})[told["relation_type"]] = None
    for (source, target), types in found.items():
        said = ", ".join(types) if len(types) <= _TYPES_MAX else f"{len(types)} relations of edges"
        yield f"{source} --> {target} : {said}"
