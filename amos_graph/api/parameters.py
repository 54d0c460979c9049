"""Query parameters, as strict as a body: no unknown name, no repeated value, no guessed type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, get_origin

from fastapi import Request, Response
from pydantic import BaseModel

from amos_graph.api.calls import Call, below, within
from amos_graph.commands.execution import Context
from amos_graph.domain.model import validate
from amos_graph.domain.scope import SCOPE_FIELDS, AskedScope
from amos_graph.errors import invalid

_INTEGER: Final = re.compile(r"-?[0-9]{1,16}")
_BOOLEANS: Final = {"true": True, "false": False}


def read_query(
    request: Request, model: type[BaseModel] | None, *, scoped: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters as the fields of `model`, and those that narrow the scope.

    Raises `schema_invalid` for a name that is neither, and for a value of the wrong kind.
    """
    kinds = {name: _kind(field.annotation) for name, field in model.model_fields.items()} if model else {}
    values: dict[str, Any] = {}
    scope: dict[str, Any] = {}
    for name, text in request.query_params.multi_items():
        if name in kinds:
            if kinds[name] == "list":
                values.setdefault(name, []).append(text)
                continue
            _once(values, name)
            values[name] = _value(name, text, kinds[name])
        elif scoped and name in SCOPE_FIELDS:
            _once(scope, name)
            scope[name] = text
        else:
            raise invalid(f"query.{name[:80]}", "no such parameter")
    return values, validate(AskedScope, scope, "query").record()


def listed(
    request: Request,
    call: Call,
    model: type[BaseModel],
    act: Callable[[Context, Mapping[str, Any]], Mapping[str, Any]],
) -> Response:
    """The answer to a listing, whose filters and scope stand in the query."""
    asked, scope = read_query(request, model)
    call = within(call, scope)
    with below("query"):
        return call.reading(act(call.context, asked))


def _once(found: Mapping[str, Any], name: str) -> None:
    if name in found:
        raise invalid(f"query.{name}", "given twice")


def _kind(annotation: Any) -> str:
    text = str(annotation)
    if get_origin(annotation) is list or text.startswith("list"):
        return "list"
    return next((kind for kind in ("bool", "int") if re.search(rf"\b{kind}\b", text)), "str")


def _value(name: str, text: str, kind: str) -> Any:
    if kind == "int":
        if not _INTEGER.fullmatch(text):
            raise invalid(f"query.{name}", "not an integer")
        return int(text)
    if kind == "bool":
        if text not in _BOOLEANS:
            raise invalid(f"query.{name}", "neither true nor false")
        return _BOOLEANS[text]
    return text
