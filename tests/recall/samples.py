"""What recall tests store: short statements, edges between them, and the packet read back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.domain.model import validate
from amos_graph.domain.packets import MemoryPacket
from amos_graph.queries.recall import recall
from tests.samples import source_event


def fact(ref: str, statement: str, **changes: Any) -> dict[str, Any]:
    """A semantic atom that states something."""
    payload = {"statement": statement, **changes.pop("payload", {})}
    return {
        "id": ref,
        "type": "semantic",
        "payload": payload,
        "evidence_refs": ["evd_turn1"],
        "confidence": {"level": "high", "score": 0.9},
        **changes,
    }


def edge(source: str, relation: str, target: str, **changes: Any) -> dict[str, Any]:
    """An association at full confidence."""
    return {
        "source_ref": source,
        "relation": f"rel:{relation}",
        "target_ref": target,
        "confidence": {"score": 1.0},
        **changes,
    }


def store(
    context: Context, *atoms: dict[str, Any], edges: tuple[dict[str, Any], ...] = (), **lists: Any
) -> None:
    """Commit atoms and edges, with the one source event that they all cite and everyone sees."""
    shard = {name: getattr(context.scope, name) for name in ("tenant_id", "workspace_id")}
    commit(
        context, {"events": [source_event(scope=shard)], "atoms": list(atoms), "edges": list(edges), **lists}
    )


def packet(context: Context, *cues: str, **request: Any) -> dict[str, Any]:
    """The packet for some cues, made anew each time, and its shape checked."""
    found = recall(without_cache(context), {"cues": list(cues), **request})
    validate(MemoryPacket, found)
    return found


def without_cache(context: Context) -> Context:
    """The same caller, to whom no packet is given twice."""
    settings = context.settings.model_copy(update={"packet_cache_bytes_max": 0})
    return replace(context, settings=settings)


def refs(found: dict[str, Any]) -> list[str]:
    """The atoms of a packet in order."""
    return [item["atom_ref"] for item in found["items"]]


def reasons(found: dict[str, Any]) -> dict[str, Any]:
    """Reason → count of the packet's omissions."""
    return {entry["reason"]: entry.get("count") for entry in found["omissions"]}
