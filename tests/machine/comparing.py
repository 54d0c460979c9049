"""What the product says of a shard, in the model's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.domain.ids import RecordKind, kind_of
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from tests.faults.journal import newest
from tests.machine.model import Accepted, Json, Model, Refused, State

_INCLUDED: Final = ("include_proposed", "include_archived", "include_low_health", "include_superseded")
_DERIVATIONS: Final = {
    "submitted": "submitted",
    "envelope.supersedes": "supersedes",
    "payload.graph_relations": "graph_relations",
}


def check_answer(expected: Accepted | Refused, told: Mapping[str, Any], model: Model) -> None:
    """The answer is the one that the model expects: code, or receipt."""
    if isinstance(expected, Refused):
        assert told.get("code") in expected.codes, f"{told} where {sorted(expected.codes)} was expected"
        return
    assert "receipt" in told, f"{told} where a receipt was expected"
    receipt: Json = told["receipt"]
    assert told["replayed"] is (expected.replayed is not None)
    if expected.replayed is not None:
        assert receipt == expected.replayed
        return
    lists = {name: receipt[name] for name in ("created", "updated", "linked", "reused")}
    for name, refs in lists.items():
        assert len(refs) == len(set(refs)), f"{name} names a record twice"
    assert {name: set(refs) for name, refs in lists.items()} == {
        "created": expected.created,
        "updated": expected.updated,
        "linked": expected.linked,
        "reused": expected.reused,
    }
    assert receipt["graph_version"] == model.graph_version + expected.events
    assert len(receipt["event_ids"]) == expected.events
    for name in ("atom_refs", "edge_refs", "evidence_refs"):
        wanted = getattr(expected, name)
        assert wanted is None or receipt[name] == wanted, f"{name}: {receipt[name]} in place of {wanted}"


def check_atoms(context: Context, model: Model) -> None:
    """A listing of every atom in every state is the model's."""
    listed = list_atoms(context, {"lifecycle_states": [], "limit": 200})

    assert listed["next_cursor"] is None
    assert listed["graph_version"] == model.graph_version
    found = {item["atom_id"]: _atom(item["record"]) for item in listed["items"]}
    assert len(found) == len(listed["items"])
    _alike(found, model.state.atoms)
    states = {item["atom_id"]: item["state_key"] for item in listed["items"]}
    _alike(states, {ref: model.state.state_key(ref) for ref in found})


def check_records(context: Context, model: Model) -> None:
    """The newest bodies of all records are the model's, and there is nothing else."""
    found = State(streams=model.state.streams)
    for ref, body in newest(context.graph, context.scope.shard).items():
        kind = kind_of(ref)
        getattr(found, _KINDS[kind])[ref] = _RECORDS[kind](body)

    for name, records in found.kinds().items():
        _alike(records, getattr(model.state, name))


def check_atom(context: Context, model: Model, ref: str, pick: int) -> None:
    """One atom by its id: as it is, as an ordinary read tells of it, and as it was at an earlier version."""
    atom = model.state.atoms.get(ref)
    whole = get_atom(context, {"atom_id": ref, **dict.fromkeys(_INCLUDED, True)})
    plain = get_atom(context, {"atom_id": ref})

    assert whole["found"] is (atom is not None)
    if atom is None:
        assert plain == whole
        return
    assert _atom(whole["item"]["record"]) == atom
    assert [entry["evidence_id"] for entry in whole["item"]["evidence"]] == atom["evidence_refs"]
    provenance = whole["item"]["provenance"]
    assert provenance["superseded_by"] == sorted(model.state.successors(ref))
    versions = [entry["version"] for entry in provenance["revision_history"]]
    assert versions == list(range(atom["version"], 0, -1))
    assert plain["found"] is (model.state.state_key(ref) == "live")
    # What was known then. A policy never changes here, so the past stays readable.
    at, then = model.history[pick % len(model.history)]
    known = then.atoms.get(ref)
    past = get_atom(context, {"atom_id": ref, "as_of_version": at, **dict.fromkeys(_INCLUDED, True)})
    assert past["found"] is (known is not None)
    if known is not None:
        assert _atom(past["item"]["record"]) == known
        assert past["item"]["provenance"]["superseded_by"] == sorted(then.successors(ref))


def _alike(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Equal, told record by record."""
    refs = dict.fromkeys([*wanted, *found])
    differing = {ref: (found.get(ref), wanted.get(ref)) for ref in refs if found.get(ref) != wanted.get(ref)}
    assert not differing, f"stored, and as the model has it: {differing}"


def _atom(body: Json) -> Json:
    return {
        "type": body["type"],
        "payload": body["payload"],
        "evidence_refs": body["evidence_refs"],
        "score": body["confidence"]["score"],
        "health": body["health_status"],
        "supersedes": body.get("supersedes", []),
        "state": body["lifecycle_state"],
        "version": body["version"],
    }


def _edge(body: Json) -> Json:
    return {
        **{name: body[name] for name in ("source_ref", "relation", "target_ref", "evidence_refs", "version")},
        "state": body["lifecycle_state"],
        "derivation": _DERIVATIONS[body["derivation"]],
        "score": body["confidence"]["score"],
        "weight": body["weight"],
    }


def _evidence(body: Json) -> Json:
    payload = body["payload"]
    if payload.get("archived"):
        # The text itself is in the archive; its size tells which one it was.
        text: str = "x" * (payload["size_bytes"] - len('{"text":""}'))
    else:
        text = payload.get("text") or payload["reason"]
    return {"source_ref": body["source_ref"], "text": text, "version": body["version"]}


def _entity(body: Json) -> Json:
    content = {name: body.get(name) for name in ("merged_into", "version")}
    content["split_into"] = body.get("split_into") or []
    # One that an atom brought has the name of its id as label; nobody else gives labels here.
    by_name = {"by_name": True} if body.get("labels") else {}
    return {**content, "aliases": body.get("aliases") or [], **by_name}


def _relation(body: Json) -> Json:
    return {name: body[name] for name in ("description", "version")} | {"weight": body["spread_weight"]}


def _client(body: Json) -> Json:
    return {"version": body["version"], "revoked": "revoked_at" in body}


_KINDS: Final[Mapping[RecordKind, str]] = {
    "atom": "atoms",
    "edge": "edges",
    "evidence": "evidence",
    "entity": "entities",
    "relation": "relations",
    "client": "clients",
}
_RECORDS: Final = {
    "atom": _atom,
    "edge": _edge,
    "evidence": _evidence,
    "entity": _entity,
    "relation": _relation,
    "client": _client,
}
