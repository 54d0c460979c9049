"""The built-in relations and controlled values, journaled once in the system shard (design §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from amos_graph.commands.execution import Command, Context, Moment, Plan, Receipt, execute
from amos_graph.commands.view import View
from amos_graph.domain.dictionary import ENUMS, RELATIONS
from amos_graph.domain.events import Draft, Write
from amos_graph.domain.ids import RecordKind
from amos_graph.domain.scope import Identity, Scope
from amos_graph.domain.state import Current
from amos_graph.graph.archive import open_archive
from amos_graph.graph.migrations import Progress, migrate
from amos_graph.graph.transactions import Graph
from amos_graph.policy.submission import content
from amos_graph.settings import Settings

#: No caller's scope can name it: tenant ids of users do not begin with an underscore.
SYSTEM_SCOPE: Final = Scope.model_construct(tenant_id="_system", workspace_id="_system")
_SEED: Final = "system.seed"
_KERNEL: Final = Identity(
    client_id="cli_kernel",
    service_id="svc:amos_graph",
    process_type="kernel",
    scope=SYSTEM_SCOPE,
    capabilities=frozenset({_SEED}),
)


def prepare(graph: Graph, settings: Settings, progress: Progress | None = None) -> list[str]:
    """Make a store ready to serve: schema first, then the built-in dictionary. Returns what was migrated.

    Raises as `migrate` does.
    """
    applied = migrate(graph, progress)
    seed_dictionary(graph, settings)
    return applied


def seed_dictionary(graph: Graph, settings: Settings) -> Receipt:
    """Bring the system shard to this version's dictionary; what did not change is not written again."""
    context = Context(graph, settings, open_archive(settings), _KERNEL, SYSTEM_SCOPE)
    entries: dict[str, tuple[RecordKind, dict[str, Any]]] = {
        **{ref: ("relation", relation.record()) for ref, relation in RELATIONS.items()},
        **{ref: ("enum", value.record()) for ref, value in ENUMS.items()},
    }
    command = Command(operation="seed_dictionary", capability=_SEED, payload=sorted(entries))

    def decided(view: View, moment: Moment) -> Plan:
        stored = {record.ref: record for record in view.records(entries)}
        drafts = [
            _draft(kind, ref, body, stored.get(ref), moment)
            for ref, (kind, body) in entries.items()
            if ref not in stored or content(stored[ref].body) != body
        ]
        return Plan(
            drafts=tuple(drafts),
            created=tuple(draft.writes[0].ref for draft in drafts if draft.writes[0].version == 1),
            updated=tuple(draft.writes[0].ref for draft in drafts if draft.writes[0].version > 1),
        )

    return execute(context, command, decided)


def _draft(
    kind: RecordKind, ref: str, body: Mapping[str, Any], before: Current | None, moment: Moment
) -> Draft:
    version = before.version + 1 if before else 1
    stamped = {
        **body,
        "version": version,
        "created_at": before.body["created_at"] if before else moment.now,
        "updated_at": moment.now,
        "last_writer": moment.writer,
    }
    return Draft(
        event_type=f"{kind}_defined",
        operation=f"define_{kind}",
        writes=(Write(kind, ref, version, stamped),),
    )
