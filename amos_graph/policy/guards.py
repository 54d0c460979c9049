"""Guarded types on the ordinary ways: who may judge, and that nothing ordinary changes what binds."""

from __future__ import annotations

from amos_graph.domain.atoms import GUARDED, JUDGMENT
from amos_graph.domain.envelope import CheckedAtom
from amos_graph.domain.scope import Identity
from amos_graph.domain.state import Current
from amos_graph.errors import AmosError, Fault
from amos_graph.policy.ratification import identity_refs


def check_judge(identity: Identity, atom: CheckedAtom) -> None:
    """Raise `authorization_denied` unless an adjudication is its author's own.

    The token alone says who that is: it has the capability `self_adjudication`, and is bound to the
    agent that the adjudication names as its ratifier.
    """
    if atom.envelope.type != JUDGMENT:
        return
    identity.demand("self_adjudication")
    if atom.payload_record["ratifier"]["identity_ref"] not in identity_refs(identity):
        at = f"{atom.at}.payload.ratifier.identity_ref"
        message = "is not the identity of this token"
        raise AmosError("authorization_denied", f"{at}: {message}", [Fault(at, message)], {"risk": "high"})


def refuse_binding(atom: Current, at: str) -> None:
    """Raise `authorization_denied` for a change of what was judged or adopted, by any ordinary command."""
    kind = atom.body.get("type")
    if kind in GUARDED:
        message = f"{atom.ref} is a {kind}, which no ordinary command changes"
        raise AmosError(
            "authorization_denied", message, [Fault(at, message)], {"target_ref": atom.ref, "risk": "high"}
        )
