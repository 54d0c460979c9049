"""Packets, provenance, history and verification as tables of at most 100 columns.

Every text that was stored is shown as data: without markup, and without control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from amos_graph.domain.captions import clip
from amos_graph.queries.rendering import sentence

Json = Mapping[str, Any]
WIDTH: Final = 100

_SAID_MAX: Final = 400
_PART_NAMES: Final[Mapping[str, str]] = {
    "direct_cue_match": "cue",
    "edge_activation": "edges",
    "attention_focus": "focus",
    "attention_type_boost": "type boost",
    "staleness_penalty": "stale",
    "contradiction_penalty": "contradiction",
    "redundancy_penalty": "redundant",
    "attention_suppression_penalty": "suppressed",
}

#: Said in every packet, since saying it only where it applies would tell that something is hidden.
_OMITTED: Final[Mapping[str, str]] = {"access_denied": "whatever this reader may not see"}


def packet_view(packet: Json) -> RenderableType:
    """A packet: its items with their arithmetic, then paths, evidence, conflicts and omissions."""
    items: Sequence[Json] = packet["items"]
    if not items:
        return Group(_line("Nothing is remembered about this."), *_omissions(packet))
    parts = [_items(items), *_paths(items), *_evidence(items), *_conflicts(packet), *_omissions(packet)]
    return Group(*parts)


def _items(items: Sequence[Json]) -> RenderableType:
    table = _table("", "#", "memory", "score", "made of")
    for item in items:
        memory = Text(clip(item["rendered_content"], _SAID_MAX))
        memory.append(f"\n{_named(item)}", style="dim")
        table.add_row(str(item["rank"]), memory, f"{item['score']:.3f}", Text("\n".join(_parts(item))))
    return table


def _parts(item: Json) -> list[str]:
    """The parts of the score that are not nothing, greatest first; they add up to it."""
    parts = [(name, value) for name, value in item["score_parts"].items() if value]
    ordered = sorted(parts, key=lambda part: (-abs(part[1]), part[0]))
    return [f"{value:+.3f} {_PART_NAMES.get(name, name)}" for name, value in ordered]


def _named(item: Json) -> str:
    return clip(f"{item['atom_ref']} v{item['version']}", 90)


def _paths(items: Sequence[Json]) -> list[RenderableType]:
    table = _table("How it was reached, edge by edge", "#", "from", "edge", "to")
    for item in items:
        for step in item.get("activation_path", []):
            name = step.get("name", step["relation"].removeprefix("rel:"))
            arrow = f"─ {name} →" if step.get("along", True) else f"← {name} ─"
            table.add_row(str(item["rank"]), _id(step["source"]), Text(arrow), _id(step["target"]))
    return [table] if table.row_count else []


def _evidence(items: Sequence[Json]) -> list[RenderableType]:
    table = _table("On what evidence", "#", "kind", "source", "captured")
    for item in items:
        for pointer in item.get("evidence", []):
            table.add_row(str(item["rank"]), *_pointer(pointer))
    return [table] if table.row_count else []


def _pointer(pointer: Json) -> tuple[Text, Text, Text]:
    return _id(pointer["source_type"]), _id(pointer["source_ref"]), Text(pointer["captured_at"][:16] + "Z")


def _conflicts(packet: Json) -> list[RenderableType]:
    views: list[RenderableType] = []
    for conflict in packet.get("conflicts", []):
        table = _table("These cannot both hold", "side", "says", "evidence", "observed")
        for name, side in zip("AB", conflict["sides"], strict=False):
            said = Text(clip(side["rendered_content"], _SAID_MAX))
            said.append(f"\n{clip(side['atom_ref'], 90)}", style="dim")
            seen = side.get("observed_at") or side["created_at"]
            table.add_row(name, said, Text(_proofs(side)), Text(seen[:10]))
        views.append(table)
    return views


def _omissions(packet: Json) -> list[RenderableType]:
    told: list[str] = []
    for omission in packet.get("omissions", []):
        refs = ", ".join(clip(ref, 60) for ref in omission.get("refs", [])[:3])
        count = omission.get("count")
        reason = str(omission["reason"])
        told.append(
            _OMITTED.get(reason, reason.replace("_", " "))
            + (f" {count}" if count is not None else "")
            + (f" ({refs}{' …' if (count or 0) > 3 else ''})" if refs else "")
        )
    return [_line("Left out: " + "; ".join(told), style="dim")] if told else []


def history_view(title: str, states: Iterable[tuple[str, Json]]) -> RenderableType:
    """One memory at several points of time: each a name and the answer of `get` there."""
    table = _table(title, "when", "what was held", "standing", "evidence")
    for name, answer in states:
        item = answer["item"]
        if item is None:
            reasons = ", ".join(entry["reason"] for entry in answer["omissions"]) or "not known yet"
            table.add_row(Text(name), "", Text(reasons), "")
            continue
        by = item["provenance"].get("superseded_by", [])
        standing = f"superseded by {', '.join(by)}" if by else item["lifecycle_state"]
        said = Text(clip(sentence(item["record"]), _SAID_MAX))
        said.append(f"\n{_named(item)}", style="dim")
        table.add_row(Text(name), said, Text(standing), Text(_proofs(item)))
    return table


def _proofs(side: Json) -> str:
    return "\n".join(clip(f"{p['source_type']} {p['source_ref']}", 90) for p in side.get("evidence", []))


def verify_view(report: Json) -> RenderableType:
    """A verification: what was looked at, and each fault by kind and place."""
    if report["ok"]:
        records = sum(report["records"].values())
        return _line(
            f"Verified: {report['events']} events and {records} records of {report['shard']}, no fault."
        )
    table = _table(f"Faults of {report['shard']}", "kind", "record", "what")
    for fault in report["faults"][:20]:
        table.add_row(_id(fault["kind"]), _id(str(fault.get("ref") or "")), _id(fault["message"]))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        width=None,
        padding=(0, 1),
    )
    for column in columns:
        right = column in ("#", "score", "figure")
        # Columns shrink, widest first, and fold; a least width beyond that would push others off the page.
        table.add_column(column, justify="right" if right else "left", overflow="fold", no_wrap=right)
    return table


def _id(text: str) -> Text:
    return Text(clip(text, 200))


def _line(text: str, style: str = "") -> Text:
    return Text(text, style=style)
