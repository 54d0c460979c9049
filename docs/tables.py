"""The tables of the documents that are made from the code; `python docs/generate.py` writes them.

A table stands between `<!-- table: NAME -->` and `<!-- end: NAME -->`; NAME is a function of TABLES.
"""  # noqa: INP001 - imported by a script that is run by path

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from diagram import class_diagram, kind_diagram
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from amos_graph.domain.atoms import GUARDED, PAYLOADS
from amos_graph.domain.atoms.payload import Payload, is_data
from amos_graph.domain.dictionary import RELATIONS, VOCABULARIES
from amos_graph.domain.events import EVENT_TYPES
from amos_graph.domain.ids import relationship_type
from amos_graph.domain.lifecycle import HEALTH_DEFAULTS, HEALTH_STATUSES, MEANINGS, TRANSITIONS
from amos_graph.domain.scope import CAPABILITIES
from amos_graph.graph.files import CONSTRAINTS
from amos_graph.graph.migrations import schema_name, shipped
from amos_graph.policy.bundle import ROLES
from amos_graph.policy.components import COMPONENTS
from amos_graph.policy.inhibition import KINDS
from amos_graph.queries.report import REPORTS, browser_params
from amos_graph.settings import Settings

DOCS: Final = Path(__file__).resolve().parent
_PLACE: Final = re.compile(r"(<!-- table: ([a-z-]+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)
#: A comment, possibly of several lines, and the setting below it.
_SETTING: Final = re.compile(r"((?:    #: .*\n)+)    ([a-z_0-9]+): ")
_SHARED: Final = (*BaseModel.model_fields, *Payload.model_fields)


def rendered(text: str) -> str:
    """A document with each of its tables as the code is now."""
    return _PLACE.sub(lambda place: f"{place[1]}{TABLES[place[2]]()}{place[3]}", text)


def atom_types() -> str:
    """Each atom type: its fields and its slot."""
    return _table(
        ("type", "label", "must have", "may have", "one at a time"),
        (_atom_type(name, model) for name, model in PAYLOADS.items()),
    )


def _atom_type(name: str, model: type[Payload]) -> list[str]:
    fields = {
        field.alias or key: field.is_required()
        for key, field in model.model_fields.items()
        if key not in _SHARED
    }
    return [
        _code(name),
        _code(model.label),
        _codes(key for key, required in fields.items() if required),
        _codes(key for key, required in fields.items() if not required),
        _codes(model.slot),
    ]


def native_lifting() -> str:
    """Each atom type: what of its payload is native, when it holds, and how entities are linked."""
    return _table(
        ("type", "native properties", "`valid_from`, `valid_until`", "roles of `REFERS_TO`"),
        (_native_lifting(name, model) for name, model in PAYLOADS.items()),
    )


def _native_lifting(name: str, model: type[Payload]) -> list[str]:
    native = [_code(key) + ("" if key == path else f" ({_code(path)})") for key, path in model.lifted.items()]
    roles = [
        model.roles.get(key, key)
        for key, field in model.model_fields.items()
        if key not in (model.apart | set(_SHARED)) and _may_name_entity(field)
    ]
    return [_code(name), ", ".join(native), _codes(path for path in model.holds if path), _codes(roles)]


def _may_name_entity(field: FieldInfo) -> bool:
    # `None` marks nothing; Annotated wants one mark at least.
    return not is_data(field) and _takes_entity(Annotated[field.annotation, *field.metadata, None])


def _takes_entity(annotation: Any) -> bool:
    """True if an entity id may stand somewhere in a value of this type."""
    if _is_record(annotation):
        return any(_may_name_entity(field) for field in annotation.model_fields.values())
    with suppress(ValidationError):
        TypeAdapter[Any](annotation).validate_python("ent:kind:name", strict=True)
        return True
    # No text that is one. A record holds anything; of lists and alternatives, what they are made of counts.
    kind, parts = get_origin(annotation), get_args(annotation)
    if kind is Annotated:
        composed = get_origin(parts[0]) is not None or _is_record(parts[0])
        return composed and _takes_entity(parts[0])
    return kind is dict or (kind is not Literal and any(map(_takes_entity, parts)))


def _is_record(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def guarded_types() -> str:
    """The types that are refused, and why."""
    return _table(("type", "why it is refused"), ([_code(n), why] for n, why in GUARDED.items()))


def edge_relations() -> str:
    """The relations between atoms."""
    return _table(
        ("relation", "native type", "meaning", "passes on", "inverse", "kept or pruned"),
        (
            [
                _code(relation.id),
                _code(relationship_type(relation.id)),
                relation.description,
                f"{relation.spread_weight:g}",
                "itself" if relation.symmetric else _code(relation.inverse or ""),
                "protected" if relation.protected else "prunable" if relation.prunable else "",
            ]
            for relation in RELATIONS.values()
            if relation.kind == "edge"
        ),
    )


def payload_relations() -> str:
    """The predicates inside payloads."""
    single = [r.id for r in RELATIONS.values() if r.kind == "payload" and r.single_valued]
    many = [r.id for r in RELATIONS.values() if r.kind == "payload" and not r.single_valued]
    return f"One value at a time: {_codes(single)}.\n\nAny number of values: {_codes(many)}.\n"


def vocabularies() -> str:
    """Every closed list of values."""
    return _table(
        ("list", "values"), ([_code(group), _codes(values)] for group, values in VOCABULARIES.items())
    )


def transitions() -> str:
    """What may follow what in an atom's life."""
    return _table(
        ("from", "to", "by"),
        (
            [_code(before), _code(after), _code(guard) if guard else "an ordinary command"]
            for (before, after), guard in TRANSITIONS.items()
        ),
    )


def health() -> str:
    """What ordinary recall does with each health status."""
    return _table(
        ("health", "what recall does", "in the words of the specification"),
        (
            [_code(status), HEALTH_DEFAULTS[status].replace("_", " "), MEANINGS["health_status"][status]]
            for status in HEALTH_STATUSES
        ),
    )


def components() -> str:
    """The terms of a score."""
    return _table(
        ("component", "weight", "what it is"),
        ([_code(name), f"{each.weight:+.2f}", each.meaning] for name, each in COMPONENTS.items()),
    )


def inhibitions() -> str:
    """What holds an atom back."""
    return _table(
        ("kind", "reason", "what it does"),
        (
            [_code(name), kind.meaning, f"{'below, ' if kind.below else ''}{_code(kind.component)}"]
            for name, kind in KINDS.items()
        ),
    )


def bundle_roles() -> str:
    """The roles of a bundle."""
    return _table(("role", "who fills it"), ([_code(name), role.meaning] for name, role in ROLES.items()))


def capabilities() -> str:
    """What a token can be allowed to do."""
    return _table(("capability", "allows to"), ([_code(n), what] for n, what in CAPABILITIES.items()))


def event_types() -> str:
    """The journal's event types."""
    return _table(
        ("event", "writes"), ([_code(name), ", ".join(sorted(kinds))] for name, kinds in EVENT_TYPES.items())
    )


def schema() -> str:
    """The constraints and indexes, in the order in which they are made."""
    return _table(
        ("name", "why"),
        (
            [_code(schema_name(migration)), _sentence(CONSTRAINTS / f"{migration.name}.cypher")]
            for migration in shipped()
        ),
    )


def settings() -> str:
    """Every setting with its default."""
    comments = _setting_comments()
    return _table(
        ("variable", "default", "what it is"),
        (
            [_code(f"AMOS_{name.upper()}"), _default(name, field.default), comments[name]]
            for name, field in Settings.model_fields.items()
        ),
    )


def _default(name: str, value: Any) -> str:
    if name == "home":
        return _code("~/.amos-graph")
    return "none" if value in (None, PydanticUndefined) else _code(f"{value}")


def _setting_comments() -> dict[str, str]:
    """The `#:` comment above each setting. Raises KeyError later for a setting without one."""
    source = (DOCS.parent / "amos_graph" / "settings.py").read_text(encoding="utf-8")
    return {name: " ".join(said.replace("#:", " ").split()) for said, name in _SETTING.findall(source)}


def reports() -> str:
    """The reports, what they show, their parameters beside `shard` and `limit`, and a sample for Browser."""
    return _table(
        ("report", "what it shows", "when", "parameters", "sample to paste"),
        (
            [
                f"[`{name}`](../cypher/report/{name}.cypher)",
                report.header.notes["title"],
                report.header.notes["purpose"],
                _codes(
                    f"{key} {kind.rstrip('?')}{'' if not kind.endswith('?') else ' (may be left out)'}"
                    for key, kind in report.header.params.items()
                    if key not in ("shard", "limit")
                ),
                _code(browser_params(report.header)),
            ]
            for name, report in REPORTS.items()
        ),
    )


def favourites() -> str:
    """The statements that draw."""
    return _table(
        ("favourite", "what it draws"),
        (
            [f"[`{path.stem}`](browser/{path.name})", _sentence(path)]
            for path in sorted((DOCS / "browser").glob("*.cypher"))
        ),
    )


TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "atom-types": atom_types,
    "bundle-roles": bundle_roles,
    "capabilities": capabilities,
    "class-diagram": class_diagram,
    "components": components,
    "edge-relations": edge_relations,
    "event-types": event_types,
    "favourites": favourites,
    "guarded-types": guarded_types,
    "health": health,
    "inhibitions": inhibitions,
    "kind-diagram": kind_diagram,
    "native-lifting": native_lifting,
    "payload-relations": payload_relations,
    "reports": reports,
    "schema": schema,
    "settings": settings,
    "transitions": transitions,
    "vocabularies": vocabularies,
}


def _sentence(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    said = [
        line.removeprefix("//").strip() for line in lines if line.startswith("//") and ":params" not in line
    ]
    return " ".join(said)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(map(_code, texts))


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(columns)
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join('---' for _ in names)} |"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"
