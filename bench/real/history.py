"""The PEP history as commands: each change evidence and a belief that takes the place of the one before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from amos_graph.domain.ids import derived_id
from amos_graph.domain.times import canonical_time
from amos_graph.upkeep.sending import Json

#: Changes, documents and edges of one command.
CHANGES_MAX: Final = 200
DOCUMENTS_MAX: Final = 100
EDGES_MAX: Final = 400

#: Field of a change → the relation of its beliefs.
PREDICATES: Final[Mapping[str, str]] = {
    "status": "rel:status",
    "title": "rel:title",
    "replaces": "rel:header_replaces",
    "superseded-by": "rel:header_superseded_by",
}
#: Header of a document → the relation of its edges. `rel:supersedes` would mean that one memory takes
#: another's place; that a proposal does is something else.
EDGES: Final[Mapping[str, str]] = {
    "superseded_by": "rel:replaced_by",
    "replaces": "rel:replaces",
    "requires": "rel:requires",
    "references": "rel:references",
}
#: Header of a document → the field of the history that tells when it was written.
_HISTORY: Final[Mapping[str, str]] = {"superseded_by": "superseded-by", "replaces": "replaces"}

RELATIONS: Final[tuple[Json, ...]] = (
    {
        "id": "rel:header_replaces",
        "kind": "payload",
        "description": "names as replaced",
        "single_valued": True,
    },
    {
        "id": "rel:header_superseded_by",
        "kind": "payload",
        "description": "names as its successor",
        "single_valued": True,
    },
    {
        "id": "rel:replaces",
        "kind": "edge",
        "description": "is the proposal that came in the place of",
        "inverse": "rel:replaced_by",
        "spread_weight": 0.7,
    },
    {
        "id": "rel:replaced_by",
        "kind": "edge",
        "description": "is the proposal in whose place came",
        "inverse": "rel:replaces",
        "spread_weight": 0.7,
    },
)


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one header field, as the repository's history tells it."""

    commit: str
    at: str
    pep: int
    field: str
    old: str | None
    new: str

    @property
    def evidence_id(self) -> str:
        return derived_id("evd_", ["pep-change", self.commit, self.pep, self.field, self.old, self.new])


@dataclass(frozen=True, slots=True)
class Command:
    """One commit, with the versions that it counts on."""

    payload: Json
    expected_versions: Mapping[str, int]
    #: How many lines of the input it stands for.
    count: int


def read_changes(path: Path, limit: int | None = None) -> list[Change]:
    """The changes in the order of commits, which is the truth where their times are not."""
    with path.open(encoding="utf-8") as file:
        changes = [Change(**json.loads(line)) for line in file]
    return changes[:limit]


def read_documents(path: Path, among: Iterable[int] | None = None) -> list[dict[str, Any]]:
    """The documents as they stand at the end, or those of them whose numbers are given."""
    wanted = None if among is None else set(among)
    with path.open(encoding="utf-8") as file:
        documents: list[dict[str, Any]] = [json.loads(line) for line in file]
    return [document for document in documents if wanted is None or document["pep"] in wanted]


def entity_ref(pep: int) -> str:
    return f"ent:pep:{pep}"


def belief_ref(pep: int, name: str, ordinal: int) -> str:
    return f"pep/{pep}/{name}/{ordinal}"


def document_ref(pep: int) -> str:
    return f"pep/{pep}/document"


@dataclass(slots=True)
class _Standing:
    """The belief that holds now about one field of one document."""

    atom: dict[str, Any]
    value: str
    ordinal: int
    version: int


@dataclass(slots=True)
class _Batch:
    events: list[Json] = field(default_factory=list[Json])
    entities: list[Json] = field(default_factory=list[Json])
    atoms: dict[str, Json] = field(default_factory=dict[str, Json])
    expected: dict[str, int] = field(default_factory=dict[str, int])

    def command(self) -> Command:
        lists = {"events": self.events, "entities": self.entities, "atoms": list(self.atoms.values())}
        payload = {name: records for name, records in lists.items() if records}
        return Command(payload, self.expected, len(self.events))


def change_commands(changes: Iterable[Change]) -> Iterator[Command]:
    """The history as commands. A belief that a command touched is touched again in the next one only."""
    yield Command({"relations": list(RELATIONS)}, {}, 0)
    standing: dict[tuple[int, str], _Standing] = {}
    clocks: dict[int, str] = {}
    batch = _Batch()
    for change in changes:
        known = standing.get((change.pep, change.field))
        if len(batch.events) >= CHANGES_MAX or (known and known.atom["id"] in batch.atoms):
            yield batch.command()
            batch = _Batch()
        if change.pep not in clocks:
            batch.entities.append(_entity(change.pep))
        # A document's time never steps back, whatever the clocks of its committers did.
        clocks[change.pep] = max(canonical_time(change.at), clocks.get(change.pep, ""))
        batch.events.append(_evidence(change))
        if known is not None and known.value == change.new:
            _confirm(batch, known, change)
        else:
            standing[change.pep, change.field] = _replace(batch, known, change, clocks[change.pep])
    if batch.events:
        yield batch.command()


def _entity(pep: int) -> Json:
    return {
        "id": entity_ref(pep),
        "type": "pep",
        "canonical_name": f"PEP {pep}",
        "aliases": [f"PEP-{pep}", f"pep-{pep:04}"],
    }


def _evidence(change: Change) -> Json:
    return {
        "evidence_id": change.evidence_id,
        "source_type": "commit",
        "source_ref": f"commit:{change.commit}",
        "captured_at": change.at,
        "payload": {
            "commit": change.commit,
            "at": change.at,
            "pep": change.pep,
            "field": change.field,
            "old": change.old,
            "new": change.new,
        },
    }


def _confirm(batch: _Batch, known: _Standing, change: Change) -> None:
    """The same value said again is further evidence for what is held, not another belief."""
    refs = [*known.atom["evidence_refs"], change.evidence_id]
    _rewrite(batch, known, {**known.atom, "evidence_refs": refs})


def _replace(batch: _Batch, known: _Standing | None, change: Change, since: str) -> _Standing:
    """A new belief, valid from where the one before it ceases to be."""
    if known is not None:
        interval = {**known.atom["payload"]["validity_interval"], "until": since}
        _rewrite(
            batch,
            known,
            {**known.atom, "payload": {**known.atom["payload"], "validity_interval": interval}},
        )
    ordinal = known.ordinal + 1 if known else 1
    atom: dict[str, Any] = {
        "id": belief_ref(change.pep, change.field, ordinal),
        "type": "belief",
        "payload": {
            "subject": entity_ref(change.pep),
            "relation": PREDICATES[change.field],
            # One status of the history is empty, which a plain text may not be.
            "object": {"value_type": "string_literal", "value": change.new},
            "modality": "observed",
            "qualifiers": {"commit": change.commit, "committed_at": change.at, "old": change.old},
            "validity_interval": {"from": since},
        },
        "evidence_refs": [change.evidence_id],
        "confidence": {"level": "very_high", "basis": {"source_type": "commit"}},
        "observed_at": change.at,
        "supersedes": [known.atom["id"]] if known else [],
    }
    batch.atoms[atom["id"]] = atom
    return _Standing(atom, change.new, ordinal, version=1)


def _rewrite(batch: _Batch, known: _Standing, atom: dict[str, Any]) -> None:
    batch.expected[atom["id"]] = known.version
    batch.atoms[atom["id"]] = atom
    known.atom, known.version = atom, known.version + 1


def document_commands(documents: Iterable[Json]) -> Iterator[Command]:
    """Each document as evidence, and one atom that the edges join."""
    rows = list(documents)
    for first in range(0, len(rows), DOCUMENTS_MAX):
        part = rows[first : first + DOCUMENTS_MAX]
        yield Command(
            {
                "events": [_document_evidence(document) for document in part],
                "atoms": [_document(document) for document in part],
            },
            {},
            len(part),
        )


def document_evidence_ref(document: Json) -> str:
    return derived_id("evd_", ["pep-document", document["pep"], document["sha256"]])


def _document_evidence(document: Json) -> Json:
    return {
        "evidence_id": document_evidence_ref(document),
        "source_type": "document",
        "source_ref": f"pep:{document['pep']}",
        "payload": dict(document),
    }


def _document(document: Json) -> Json:
    summary = f" {document['abstract']}" if document["abstract"] else ""
    return {
        "id": document_ref(document["pep"]),
        "type": "semantic",
        "payload": {
            "statement": f"PEP {document['pep']}: {document['title']}.{summary}",
            "topic": entity_ref(document["pep"]),
        },
        "evidence_refs": [document_evidence_ref(document)],
        "confidence": {"level": "very_high", "basis": {"source_type": "document"}},
    }


def edge_commands(documents: Iterable[Json], changes: Iterable[Change]) -> Iterator[Command]:
    """The references between documents as typed edges, on the evidence of header and history."""
    edges = list(_edges(list(documents), list(changes)))
    for first in range(0, len(edges), EDGES_MAX):
        part = edges[first : first + EDGES_MAX]
        yield Command({"edges": part}, {}, len(part))


def _edges(documents: list[Json], changes: list[Change]) -> Iterator[Json]:
    present = {document["pep"] for document in documents}
    written: dict[tuple[int, str], list[Change]] = {}
    for change in changes:
        written.setdefault((change.pep, change.field), []).append(change)
    for document in documents:
        for header, relation in EDGES.items():
            for target in dict.fromkeys(document[header]):
                if target not in present or target == document["pep"]:
                    continue
                history = written.get((document["pep"], _HISTORY.get(header, "")), [])
                proofs = [change.evidence_id for change in history if target in numbers(change.new)]
                yield {
                    "source_ref": document_ref(document["pep"]),
                    "relation": relation,
                    "target_ref": document_ref(target),
                    "evidence_refs": [document_evidence_ref(document), *dict.fromkeys(proofs)],
                    "confidence": {"level": "very_high"},
                }


def numbers(text: str) -> list[int]:
    """The document numbers that a header names (`PEP 216`, `241, 314`)."""
    return [int(word) for word in text.replace(",", " ").split() if word.isdigit()]
