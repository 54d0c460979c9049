"""What a commit does, decided from data alone: create, replace, add evidence, or refuse (design §4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amos_graph.domain.atoms import payload_type
from amos_graph.domain.dictionary import ENUMS, RELATIONS
from amos_graph.domain.entries import EntityRecord
from amos_graph.domain.envelope import CheckedAtom
from amos_graph.domain.evidence import evidence_body
from amos_graph.domain.scope import Scope
from amos_graph.domain.state import Current, State
from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.policy.conflict import version_conflict
from amos_graph.policy.linking import (
    advance_streams,
    intrinsic_edges,
    standing_to_refresh,
    submitted_edges,
)
from amos_graph.policy.submission import Case, Decision, Pending, Submission, content

#: What the atom keeps for life.
_FIXED = ("type", "scope", "lifecycle_state")


def decide(submission: Submission, state: State, *, now: str, writer: str, shard_scope: Scope) -> Decision:
    """Decide a commit as a whole; nothing is decided in part.

    Raises `schema_invalid`, `not_found`, `evidence_denied` and `expected_version_conflict`, each with
    the path of the request that it is about.
    """
    case = Case(submission, state, now, writer, shard_scope)
    _dictionary(case)
    _evidence(case)
    for atom in submission.atoms:
        _atom(case, atom, atom.at)
    for atom in submission.atoms:
        _references(case, atom, atom.at)
    if not submission.proposing:
        advance_streams(case)
        intrinsic_edges(case)
        submitted_edges(case)
    standing_to_refresh(case)
    return case.decision


def _dictionary(case: Case) -> None:
    groups: tuple[tuple[str, Sequence[Any], dict[str, Pending]], ...] = (
        ("relations", case.submission.relations, case.decision.relations),
        ("enums", case.submission.enums, case.decision.enums),
        ("entities", case.submission.entities, case.decision.entities),
    )
    for name, entries, pending in groups:
        for index, entry in enumerate(entries):
            at = f"{name}[{index}]"
            if entry.id in pending:
                raise invalid(f"{at}.id", f"{entry.id} stands twice in this request")
            if entry.id in RELATIONS or entry.id in ENUMS:
                raise invalid(f"{at}.id", f"{entry.id} is built in")
            before = case.state.visible.get(entry.id)
            if isinstance(entry, EntityRecord):
                if entry.merged_into is not None:
                    _check_stands(case, entry.merged_into, f"{at}.merged_into")
                for number, part in enumerate(entry.split_into):
                    _check_stands(case, part, f"{at}.split_into[{number}]")
            pending[entry.id] = case.replace(entry.id, content(entry.record()), before, at, entry.version)


def _check_stands(case: Case, into: str, at: str) -> None:
    """An entity becomes one or several that exist and stand for themselves, so that chains never close."""
    pending, stored = case.decision.entities.get(into), case.state.visible.get(into)
    body = pending.body if pending else stored.body if stored else None
    if body is None:
        raise AmosError("not_found", f"{at}: no such entity", [Fault(at, "no such entity")])
    if body.get("merged_into") is not None:
        raise invalid(at, f"{into} is merged into {body['merged_into']} itself; name that one")
    if body.get("split_into"):
        raise invalid(at, f"{into} is split itself; name its parts")


def _evidence(case: Case) -> None:
    """Evidence is immutable: what happened does not change, so an id is new or says the same."""
    for ref, (event, scope) in case.submission.evidence.items():
        at = case.submission.evidence_at.get(ref, "events")
        case.refuse_hidden(ref, at)
        before = case.state.visible.get(ref)
        body = evidence_body(event, ref, scope, now=case.now, writer=case.writer)
        if before is not None:
            same = ("source_type", "source_ref", "checksum", "scope", "access_policy")
            if any(body.get(name) != before.body.get(name) for name in same):
                raise version_conflict(at, ref, 0, before.version, before.event_id, action="review")
        case.decision.evidence[ref] = Pending(
            ref, before.body if before else body, before, at, changed=before is None
        )


def _atom(case: Case, atom: CheckedAtom, at: str) -> None:
    envelope = atom.envelope
    case.check_evidence(envelope.evidence_refs, f"{at}.evidence_refs")
    ref = envelope.id
    if ref is None:
        ref = _same_content(case, atom) or atom.derived_id
        known = case.decision.atoms.get(ref) or _stored(case, ref, at)
        if known:
            _check_said_again(case, atom, known)
        pending = case.with_evidence(known, envelope.evidence_refs) if known else _new(case, atom, ref, at)
    elif ref in case.decision.atoms:
        raise invalid(f"{at}.id", f"{ref} stands twice in this request")
    else:
        before = case.state.visible.get(ref)
        pending = _update(case, atom, before, at) if before else _new(case, atom, ref, at)
    case.decision.atoms[ref] = pending
    case.decision.atom_refs.append(ref)


def _new(case: Case, atom: CheckedAtom, ref: str, at: str) -> Pending:
    case.refuse_hidden(ref, at, atom.envelope.version)
    body = _body(case, atom, ref)
    wanted = "proposed" if case.submission.proposing else "active"
    if body["lifecycle_state"] != wanted:
        raise invalid(f"{at}.lifecycle_state", f"a new atom is committed as {wanted}")
    if atom.envelope.version not in (None, 0, 1):
        raise version_conflict(at, ref, atom.envelope.version, 0, None)
    return Pending(ref, case.stamped(body, None), None, at)


def _body(case: Case, atom: CheckedAtom, ref: str) -> dict[str, Any]:
    body = {**atom.record(), "id": ref}
    if case.submission.proposing:
        body["lifecycle_state"] = "proposed"
    return body


def _same_content(case: Case, atom: CheckedAtom) -> str | None:
    """The atom that already says this: in the store, or earlier in the same request."""
    found = case.state.same_content.get(atom.content_digest)
    pending = case.decision.atoms.get(found) if found else None
    # An atom that this very request makes say something else does not say this any more.
    if found and (pending is None or _says(pending.body, atom)):
        return found
    for ref, pending in case.decision.atoms.items():
        put_away = pending.before is not None and pending.before.superseded
        if not put_away and _says(pending.body, atom):
            return ref
    return None


def _says(body: Mapping[str, Any], atom: CheckedAtom) -> bool:
    record = atom.record()
    return all(body.get(name) == record.get(name) for name in ("type", "payload", "scope", "access_policy"))


def _stored(case: Case, ref: str, at: str) -> Pending | None:
    """The stored atom of this id as it stands."""
    before = case.state.visible.get(ref)
    return Pending(ref, before.body, before, at, changed=False) if before else None


def _check_said_again(case: Case, atom: CheckedAtom, known: Pending) -> None:
    """Raise a conflict unless the atom of this id still says this and may take the evidence.

    Never silently: the same words with the same evidence may wait for a judgment, may have been put
    away, or their atom may have come to say something else. And a proposal changes nothing active.
    """
    body = known.body
    says, state = _says(body, atom), body["lifecycle_state"]
    may_take = state == ("proposed" if case.submission.proposing else "active")
    nothing_new = state == "active" and set(atom.envelope.evidence_refs) <= set(body["evidence_refs"])
    if not says or not (may_take or nothing_new):
        event_id = known.before.event_id if known.before else None
        raise version_conflict(known.at, known.ref, 0, body["version"], event_id, action="review")


def _update(case: Case, atom: CheckedAtom, before: Current, at: str) -> Pending:
    """The next version of an atom, replaced whole; what identifies it and its lifecycle stay."""
    body = case.with_moved(_body(case, atom, before.ref), before, atom.envelope.model_fields_set)
    if content(body) == content(before.body):
        return Pending(before.ref, before.body, before, at, changed=False)
    state = before.body["lifecycle_state"]
    if state != ("proposed" if case.submission.proposing else "active"):
        raise invalid(f"{at}.id", f"{before.ref} is {state}, and what it says stays as it is")
    faults = [
        Fault(f"{at}.{name}", f"cannot change from {before.body[name]!r}")
        for name in _FIXED
        if body[name] != before.body[name]
    ]
    if atom.envelope.created_at not in (None, before.body["created_at"]):
        faults.append(Fault(f"{at}.created_at", "cannot change"))
    kind = before.body["type"]
    if kind == "interaction_event":
        faults.append(Fault(f"{at}.payload", "an interaction event is immutable"))
    elif payload_type(kind).immutable and body["payload"] != before.body["payload"]:
        faults.append(Fault(f"{at}.payload", f"what a {kind} says is fixed; what follows is another atom"))
    if faults:
        raise AmosError("schema_invalid", f"{faults[0].path}: {faults[0].message}", faults)
    return case.replace(before.ref, body, before, at, atom.envelope.version)


def _references(case: Case, atom: CheckedAtom, at: str) -> None:
    """Relations must be defined; an entity that is new to the shard is entered together with the atom."""
    entities = case.decision.entities
    for found in atom.payload.references(f"{at}.payload"):
        if found.kind == "relation":
            case.relation(found.ref, found.path)
        elif found.kind == "enum" and found.ref not in ENUMS and found.ref not in case.decision.enums:
            if found.ref not in case.state.visible:
                raise invalid(found.path, f"{found.ref} is not in the dictionary")
        elif found.kind == "entity" and found.ref not in entities:
            before = case.state.visible.get(found.ref)
            body = before.body if before else case.stamped(_entity(found.ref, case.shard_scope), None)
            entities[found.ref] = Pending(found.ref, body, before, found.path, changed=before is None)


def _entity(ref: str, scope: Scope) -> dict[str, Any]:
    _, kind, slug = ref.split(":", 2)
    name = " ".join(slug.replace("_", " ").split())
    return {
        "id": ref,
        "type": kind,
        "canonical_name": name,
        "labels": [name],
        "scope": {"tenant_id": scope.tenant_id, "workspace_id": scope.workspace_id},
    }
