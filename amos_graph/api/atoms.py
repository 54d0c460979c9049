"""`/v1/atoms`: commit, propose, get, list, archive, restore, govern."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from amos_graph.api.calls import Posted, Queried, bare, lift_scope
from amos_graph.api.contract import get, post
from amos_graph.api.parameters import listed
from amos_graph.commands.archive import ArchiveRequest, RestoreRequest, archive, restore
from amos_graph.commands.commit import CommitRequest, ProposeRequest, commit, propose
from amos_graph.commands.governing import GovernRequest, govern
from amos_graph.queries.get import GetRequest, get_atom
from amos_graph.queries.list import ListRequest, list_atoms

router = APIRouter(tags=["atoms"])


@router.post("/v1/atoms:commit", **post("atoms:commit", CommitRequest))
def commit_atoms(call: Posted) -> Response:
    """Commit atoms, edges, entities, dictionary entries and their evidence: all of them or none."""
    call = lift_scope(bare(call, "atom", "type"))
    return call.command(commit)


@router.post("/v1/atoms:propose", **post("atoms:propose", ProposeRequest))
def propose_atoms(call: Posted) -> Response:
    """Store candidates as proposals, which ordinary recall does not return."""
    call = lift_scope(call)
    return call.command(propose)


@router.post("/v1/atoms:get", **post("atoms:get", GetRequest))
def get_one(call: Posted) -> Response:
    """Get one atom by its id: now, as it was known at a version, as it held at an instant."""
    call = lift_scope(call)
    return call.read(get_atom)


@router.get("/v1/atoms", **get("atoms:list", ListRequest))
def list_page(request: Request, call: Queried) -> Response:
    """List atoms in order of creation, filtered, page by page."""
    return listed(request, call, ListRequest, list_atoms)


@router.post("/v1/atoms:archive", **post("atoms:archive", ArchiveRequest))
def archive_one(call: Posted) -> Response:
    """Archive an atom: out of ordinary recall, kept for audit; its live edges are detached with it."""
    call = lift_scope(call)
    return call.command(archive)


@router.post("/v1/atoms:restore", **post("atoms:restore", RestoreRequest))
def restore_one(call: Posted) -> Response:
    """Make an archived atom active again, with the edges that were detached with it."""
    call = lift_scope(call)
    return call.command(restore)


@router.post("/v1/atoms:govern", **post("atoms:govern", GovernRequest))
def govern_one(call: Posted) -> Response:
    """Pin or constrain an atom: another retention class, another access policy, and nothing else."""
    call = lift_scope(call)
    return call.command(govern)
