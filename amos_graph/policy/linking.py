"""Edges, streams and standing: what a commit does between atoms, decided from data alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from amos_graph.domain.association import AssociationEdge, edge_id
from amos_graph.domain.atoms.compaction import summarized
from amos_graph.domain.dictionary import PROVENANCE_RELATIONS
from amos_graph.domain.projection import state_key, stream_id
from amos_graph.domain.scope import Scope
from amos_graph.domain.state import StreamHead
from amos_graph.errors import AmosError, Fault, invalid
from amos_graph.policy.submission import Case, Pending, content
from amos_graph.policy.succession import SUPERSEDES, check_succession

ADJUDICATES: Final = "rel:adjudicates"
INVOKES: Final = "rel:invokes"


def submitted_edges(case: Case) -> None:
    """The edges that the request itself lists."""
    for index, edge in enumerate(case.submission.edges):
        case.decision.edge_refs.append(_edge(case, edge, f"edges[{index}]", "submitted"))


def intrinsic_edges(case: Case) -> None:
    """The edges that an atom's own record asks for: `supersedes`, `graph_relations`, what it summarizes.

    An edge of that origin that the new version no longer asks for is archived.
    """
    for ref, pending in list(case.decision.atoms.items()):
        if not pending.changed:
            continue
        known: Collection[str] = pending.before.body["evidence_refs"] if pending.before else ()
        wanted = {_edge(case, edge, at, derivation, known) for edge, at, derivation in _asked_by(pending)}
        for stored in case.state.own_edges.get(ref, ()):
            if stored.ref not in wanted:
                body = case.stamped({**stored.body, "lifecycle_state": "archived"}, stored)
                case.decision.edges[stored.ref] = Pending(stored.ref, body, stored, pending.at)


def governing_edges(case: Case, adjudication_ref: str, subject_ref: str, guidance: Iterable[str]) -> None:
    """The edges of a judgment: from the adjudication to its subject, and to the guidance that it invokes."""
    body = case.atom_body(adjudication_ref) or {}
    for relation, target in ((ADJUDICATES, subject_ref), *((INVOKES, ref) for ref in guidance)):
        asked = {
            "source_ref": adjudication_ref,
            "target_ref": target,
            "relation": relation,
            "evidence_refs": body["evidence_refs"],
            "confidence": body["confidence"],
        }
        edge = AssociationEdge.model_validate(asked)
        _edge(case, edge, "adjudication_ref", "ratification", body["evidence_refs"])


def associations(supersedes: Iterable[str], payload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Relation and other end of each edge that an atom's own record asks for."""
    for target in supersedes:
        yield SUPERSEDES, target
    relations: list[dict[str, Any]] = payload.get("graph_relations") or []
    for relation in relations:
        yield relation["relation"], relation["target_ref"]
    for target in summarized(payload):
        yield _SUMMARIZES, target


def _asked_by(pending: Pending) -> Iterator[tuple[AssociationEdge, str, str]]:
    """Each edge that an atom asks for; evidence and confidence are the atom's unless narrowed."""
    body = pending.body
    common = {name: body[name] for name in ("scope", "access_policy") if name in body}
    for index, target in enumerate(body.get("supersedes", [])):
        at = f"{pending.at}.supersedes[{index}]"
        asked = {"target_ref": target, "relation": SUPERSEDES}
        yield _derived(pending, common | asked, at), at, "envelope.supersedes"
    for index, relation in enumerate(body["payload"].get("graph_relations") or []):
        at = f"{pending.at}.payload.graph_relations[{index}]"
        asked = {
            name: value for name, value in relation.items() if name in _EDGE_FIELDS and value is not None
        }
        yield _derived(pending, common | asked, at), at, "payload.graph_relations"
    for index, target in enumerate(summarized(body["payload"])):
        at = f"{pending.at}.payload.context_compaction.source_refs[{index}]"
        asked = {"target_ref": target, "relation": _SUMMARIZES}
        yield _derived(pending, common | asked, at), at, "payload.context_compaction"


_SUMMARIZES: Final = "rel:summarizes"
#: Fields of a graph_relation that an edge has too.
_EDGE_FIELDS: Final = ("relation", "target_ref", "evidence_refs", "confidence")


def _derived(pending: Pending, asked: Mapping[str, Any], at: str) -> AssociationEdge:
    if asked["target_ref"] == pending.ref:
        raise invalid(at, "an atom cannot be joined to itself")
    inherited = {name: pending.body[name] for name in ("confidence", "evidence_refs")}
    return AssociationEdge.model_validate({"source_ref": pending.ref, **inherited, **asked})


def _edge(
    case: Case, edge: AssociationEdge, at: str, derivation: str, known_evidence: Collection[str] = ()
) -> str:
    """Enter one edge; what its atom rested on before needs not be seen again by whoever adds to it."""
    kind, weight = case.relation(edge.relation, f"{at}.relation")
    if kind != "edge":
        raise invalid(f"{at}.relation", f"{edge.relation} is a payload relation; it joins no atoms")
    if derivation != "submitted" and _waits(case, edge):
        return edge_id(edge.source_ref, edge.relation, edge.target_ref)
    source = _end(case, edge.source_ref, edge.relation, f"{at}.source_ref")
    _end(case, edge.target_ref, edge.relation, f"{at}.target_ref")
    named = [ref for ref in edge.evidence_refs if ref not in known_evidence]
    case.check_evidence(named, f"{at}.evidence_refs")
    scope = edge.scope or Scope.model_validate(source["scope"])
    # An edge of the atom's own takes the atom's scope, and needs none to be told apart.
    own_scope = edge.scope if derivation == "submitted" else None
    ref = edge.edge_id or edge_id(edge.source_ref, edge.relation, edge.target_ref, own_scope)
    case.refuse_hidden(ref, at, edge.version)
    body = {
        **content(edge.record()),
        "edge_id": ref,
        "scope": scope.record(),
        "weight": weight if edge.weight is None else edge.weight,
        "derivation": derivation,
    }
    if edge.access_policy is not None:
        body["access_policy"] = edge.access_policy.record()
    elif edge.scope is None and "access_policy" in source:
        # An edge tells of its source, so no more people see it than see the source.
        body["access_policy"] = source["access_policy"]
    if edge.relation == SUPERSEDES:
        check_succession(case, edge.source_ref, edge.target_ref, ref, at)
    case.decision.edges[ref] = _pending(case, edge, ref, body, at)
    return ref


def _waits(case: Case, edge: AssociationEdge) -> bool:
    """True for an own edge whose other end is put away: it stays detached, and stands in nobody's way."""
    stored = case.state.visible.get(edge_id(edge.source_ref, edge.relation, edge.target_ref))
    return stored is not None and stored.body["lifecycle_state"] == "detached"


def _pending(case: Case, edge: AssociationEdge, ref: str, body: Mapping[str, Any], at: str) -> Pending:
    standing = case.decision.edges.get(ref)
    before = case.state.visible.get(ref)
    if standing is not None and standing.body["lifecycle_state"] == "active":
        if edge.edge_id is not None:
            raise invalid(f"{at}.edge_id", f"{ref} stands twice in this request")
        if body["derivation"] == "submitted":
            _warn_of_what_stays(case, edge, standing.body, at)
            return case.with_evidence(standing, edge.evidence_refs, derivation="submitted")
        return case.with_evidence(standing, edge.evidence_refs)
    if before is not None:
        body = case.with_moved(body, before, ("weight",) if edge.weight is not None else ())
    if before is not None and edge.edge_id is None:
        known = Pending(ref, before.body, before, at, changed=False)
        derivation = body["derivation"]
        if "submitted" in (derivation, before.body["derivation"]):
            # The same association said again: evidence is added, a detached or archived edge comes
            # back. What somebody submitted is theirs, whatever an atom's own record asks for later.
            if derivation == "submitted":
                _warn_of_what_stays(case, edge, {**before.body, **before.stated}, at)
            return case.with_evidence(
                known, edge.evidence_refs, lifecycle_state="active", derivation="submitted"
            )
        return _followed(case, known, body)
    if before is not None:
        for name in ("source_ref", "target_ref", "relation", "scope"):
            if body[name] != before.body[name]:
                raise invalid(f"{at}.{name}", "an edge keeps its ends, its relation and its scope")
    return case.replace(ref, body, before, at, edge.version)


#: Fields of an edge that are changed under its id only, with the version that was read.
_KEPT: Final = ("weight", "confidence", "health_status", "access_policy", "valid_from")


def _warn_of_what_stays(case: Case, edge: AssociationEdge, body: Mapping[str, Any], at: str) -> None:
    """Note each field that an edge without an id states otherwise than the edge that is there."""
    stated = edge.record()
    if edge.access_policy is not None:
        stated["access_policy"] = edge.access_policy.record()
    case.decision.warnings.extend(
        f"{at}.{name}: {body['edge_id']} is there already and keeps its own; "
        "to change it, send its edge_id and version"
        for name in _KEPT
        if name in edge.model_fields_set and name in stated and stated[name] != body.get(name)
    )


def _followed(case: Case, known: Pending, body: Mapping[str, Any]) -> Pending:
    """An own edge at what its atom says now: confidence and audience follow, evidence is kept."""
    evidence = dict.fromkeys([*known.body["evidence_refs"], *body["evidence_refs"]])
    wanted = {**body, "lifecycle_state": "active", "evidence_refs": list(evidence)}
    if content(wanted) == content(known.body):
        return known
    return Pending(known.ref, case.stamped(wanted, known.before), known.before, known.at)


def _end(case: Case, ref: str, relation: str, at: str) -> Mapping[str, Any]:
    """The atom at one end of an edge, which the caller must be able to see."""
    body = case.atom_body(ref)
    if body is None:
        raise AmosError("not_found", f"{at}: no such atom", [Fault(at, "no such atom")])
    if body["lifecycle_state"] == "proposed":
        raise invalid(at, "a proposal joins nothing until it is ratified")
    if body["lifecycle_state"] != "active" and relation not in PROVENANCE_RELATIONS:
        raise invalid(at, f"the atom is {body['lifecycle_state']}; only provenance may point at it")
    return body


def advance_streams(case: Case) -> None:
    """Advance interaction streams event by event (spec, "interaction_stream head").

    Raises `expected_version_conflict` when an event does not follow its conversation's head.
    """
    for pending in case.decision.atoms.values():
        if pending.body["type"] != "interaction_event" or pending.before is not None:
            continue
        stream, payload = stream_id(pending.body), pending.body["payload"]
        row = case.decision.streams.get(stream)
        stored = case.state.streams.get(stream, StreamHead(0, None))
        head = StreamHead(row["version"], row["head_ref"]) if row else stored
        if payload["sequence"] != head.version + 1:
            raise _out_of_turn(pending, stream, head)
        _check_reply(case, pending)
        case.decision.streams[stream] = {
            "stream_id": stream,
            "conversation_id": payload["conversation_id"],
            "version": payload["sequence"],
            "head_ref": pending.ref,
        }


def _out_of_turn(pending: Pending, stream: str, head: StreamHead) -> AmosError:
    at = f"{pending.at}.payload.sequence"
    return AmosError(
        "expected_version_conflict",
        f"{at}: the conversation stands at {head.version}",
        [Fault(at, f"the next sequence is {head.version + 1}")],
        {
            "target_ref": stream,
            "expected_version": pending.body["payload"]["sequence"] - 1,
            "actual_version": head.version,
            "conflicting_event_id": None,
            "recommended_action": "refresh",
        },
    )


def _check_reply(case: Case, pending: Pending) -> None:
    reply_to = pending.body["payload"].get("reply_to")
    if reply_to is None:
        return
    body = case.atom_body(reply_to)
    if (
        body is None
        or body["type"] != "interaction_event"
        or stream_id(body) != stream_id(pending.body)
        or body["payload"]["sequence"] >= pending.body["payload"]["sequence"]
    ):
        raise invalid(f"{pending.at}.payload.reply_to", "not an earlier event of this conversation")


def standing_to_refresh(case: Case) -> None:
    """Note the atoms whose place in ordinary recall has to be worked out anew."""
    touched = {ref for ref, pending in case.decision.atoms.items() if pending.before and pending.changed}
    touched |= {
        pending.body["target_ref"]
        for pending in case.decision.edges.values()
        if pending.changed and pending.body["relation"] == SUPERSEDES
    }
    for ref in sorted(touched):
        freed = case.state.superseded.get(ref)
        body = case.atom_body(ref) or (freed.body if freed else None)
        if body is not None:
            case.decision.standing[ref] = state_key(
                body["lifecycle_state"], body["health_status"], superseded=False
            )
