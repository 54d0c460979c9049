"""Which access classes a caller may see: resolved first, so that hidden records never take a slot."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.domain.scope import AccessPolicy, Scope
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Tx
from amos_graph.policy.access import may_cite, may_read

#: Classes whose scope matches one request; each is a combination of scope and policy that somebody wrote.
CLASSES_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class ClassRow:
    access_class: str
    access_policy: str | None
    scope: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Visible:
    """The classes that a caller may see, and whether the caller's own policy withheld others."""

    classes: list[str]
    withheld: bool
    #: The classes whose policy names the packet's processor, which private memories demand.
    targeted: tuple[str, ...] = ()
    #: The classes of which the caller may know what their records rest on.
    cited: tuple[str, ...] = ()


_CLASSES = procedure("recall/list_access_classes", ClassRow)


def visible_classes(tx: Tx, context: Context, processor: str | None = None) -> Visible:
    """Resolve the classes of the context's scope for its identity and, in a packet, its processor."""
    rows = tx.many(_CLASSES, shard=context.scope.shard, scope=context.scope.record(), limit=CLASSES_MAX)
    judged = {row.access_class: _judged(context, row, processor) for row in rows}
    allowed = {access_class: judgment for access_class, judgment in judged.items() if judgment.allows}
    return Visible(
        classes=[*allowed],
        withheld=len(allowed) < len(rows),
        targeted=tuple(access_class for access_class, judgment in allowed.items() if judgment.targeted),
        cited=tuple(access_class for access_class, judgment in allowed.items() if judgment.cited),
    )


@dataclass(frozen=True, slots=True)
class _Judgment:
    allows: bool
    #: Whether the policy names the processor.
    targeted: bool
    cited: bool


def _judged(context: Context, row: ClassRow, processor: str | None) -> _Judgment:
    scope = Scope.model_validate({name: value for name, value in row.scope.items() if value is not None})
    policy = AccessPolicy.model_validate(json.loads(row.access_policy)) if row.access_policy else None
    identity, asked = context.identity, context.scope
    seen_by = policy.processor_visibility if policy else []
    return _Judgment(
        allows=may_read(identity, asked, scope, policy, processor),
        targeted=processor is not None and (processor in seen_by or "all" in seen_by),
        cited=may_cite(identity, asked, scope, policy),
    )
