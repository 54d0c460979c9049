"""The atom types that exist, by name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

# Importing a family declares its types; a new family adds its name here, a new type adds nothing.
from amos_graph.domain.atoms import action, cognition, governance, identity, interaction, motivation
from amos_graph.domain.atoms.payload import GraphRelation, Interval, Payload
from amos_graph.domain.model import validate
from amos_graph.errors import AmosError, Fault, invalid

PAYLOAD_BYTES_MAX: Final = 1_000_000

FAMILIES: Final = (cognition, motivation, action, interaction, identity, governance)

#: What the specification names beside the atoms and no atom is, each with the reason.
NO_ATOMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "self_narrative": "a self-narrative is generated and expires, and is never memory; "
        "record it as an artifact (POST /v1/artifacts:record), which cites what it is told from",
    }
)


def _declared(parent: type[Payload]) -> Iterator[type[Payload]]:
    for child in parent.__subclasses__():
        if "atom_type" in child.__dict__:
            yield child
        yield from _declared(child)


def _registry() -> Mapping[str, type[Payload]]:
    found: dict[str, type[Payload]] = {}
    labels: dict[str, str] = {}
    here = {family.__name__ for family in FAMILIES}
    for model in _declared(Payload):
        if model.__module__ not in here:
            continue
        # A type with two parents is met twice; two types of one name are a mistake.
        if found.setdefault(model.atom_type, model) is not model or model.atom_type in NO_ATOMS:
            raise TypeError(f"the atom type {model.atom_type} is declared twice")
        if labels.setdefault(model.label, model.atom_type) != model.atom_type:
            raise TypeError(f"the label {model.label} names two atom types")
    return MappingProxyType(dict(sorted(found.items())))


#: Atom type → its payload model.
PAYLOADS: Final[Mapping[str, type[Payload]]] = _registry()


#: Types that no ordinary command writes, each with its reason, until the guard that they need exists.
GUARDED: Final[Mapping[str, str]] = MappingProxyType(
    {name: model.guard for name, model in PAYLOADS.items() if model.guard}
)


def payload_type(atom_type: str, at: str = "type") -> type[Payload]:
    """The payload model of an atom type, guarded ones included.

    Raises `schema_invalid` for an unknown type, and for what is never an atom.
    """
    if atom_type in PAYLOADS:
        return PAYLOADS[atom_type]
    if atom_type in NO_ATOMS:
        raise invalid(at, NO_ATOMS[atom_type])
    raise invalid(at, f"no such atom type; known are {', '.join(PAYLOADS)}")


#: Guarded types that may be proposed: what they say binds nobody until it is ratified.
PROPOSABLE: Final = frozenset({"primal_guidance", "covenant"})
#: The guarded type that its own author writes, with a capability that the token alone has.
JUDGMENT: Final = "adjudication"


def refuse_guarded(atom_type: str, at: str = "type", *, allowed: Collection[str] = ()) -> None:
    """Raise `authorization_denied` for a type that only a guarded operation may write, but for `allowed`."""
    if atom_type in GUARDED and atom_type not in allowed:
        raise AmosError(
            "authorization_denied",
            f"{at}: {GUARDED[atom_type]}",
            [Fault(at, GUARDED[atom_type])],
            {"type": atom_type},
        )


def validate_payload(atom_type: str, value: Any, at: str = "payload") -> Payload:
    """The value as the payload of its type.

    Raises `schema_invalid` with a path below `at` for each fault, and as `payload_type` does.
    """
    above = at.rpartition(".")[0]
    payload = validate(payload_type(atom_type, f"{above}.type" if above else "type"), value, at)
    # Every way in comes through here, so that none of them takes what another refuses.
    size = len(json.dumps(payload.record(), ensure_ascii=False, separators=(",", ":")).encode())
    if size > PAYLOAD_BYTES_MAX:
        raise invalid(at, f"{size} bytes are more than {PAYLOAD_BYTES_MAX}; capture the rest as evidence")
    return payload


__all__ = [
    "FAMILIES",
    "GUARDED",
    "JUDGMENT",
    "NO_ATOMS",
    "PAYLOADS",
    "PAYLOAD_BYTES_MAX",
    "PROPOSABLE",
    "GraphRelation",
    "Interval",
    "Payload",
    "payload_type",
    "refuse_guarded",
    "validate_payload",
]
