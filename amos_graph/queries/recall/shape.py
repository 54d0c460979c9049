"""The packet as it is handed out: the wanted places of payloads, within the budget, rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from amos_graph.domain.atoms.paths import kept
from amos_graph.domain.budget import Budget, TokenCounter
from amos_graph.domain.canonical import canonical_text
from amos_graph.domain.packets import PacketRequest
from amos_graph.queries.rendering import sentence
from amos_graph.queries.targets import rendered

_BUDGET: Final = "budget_exhausted"


def shaped(packet: Mapping[str, Any], request: PacketRequest, counter: TokenCounter) -> dict[str, Any]:
    """A packet with everything that was found, cut to what the request takes and rendered for its target."""
    paths = request.result_payload_filter
    items = packet["items"] if paths is None else [_with_places(item, paths) for item in packet["items"]]
    whole = {**packet, "items": items}
    if request.token_or_byte_budget is None:
        return _rendered(whole, request)
    return _fitted(whole, request, request.token_or_byte_budget, counter)


def _with_places(item: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """The item with these places of its payload alone; its sentence says no more than they do."""
    smaller = {**item, "payload": kept(item["payload"], paths)}
    return {**smaller, "rendered_content": sentence(smaller)}


def _rendered(packet: Mapping[str, Any], request: PacketRequest) -> dict[str, Any]:
    text = rendered(packet, request.rendering_target)
    return dict(packet) if text is None else {**packet, "rendered": text}


def _fitted(
    packet: Mapping[str, Any], request: PacketRequest, budget: Budget, counter: TokenCounter
) -> dict[str, Any]:
    """The packet with as many items, from the first on, as the budget takes."""

    def tried(count: int) -> tuple[dict[str, Any], bool]:
        part = _rendered(_first(packet, count), request)
        text = _read(part)
        size = {"bytes": len(text.encode()), "tokens": counter.count(text)}
        told = {"counter": counter.name, **size, "asked": budget.record()}
        fits = all(size[unit] <= most for unit, most in budget.record().items())
        return {**part, "provenance": {**part["provenance"], "budget": told}}, fits

    # More items never read shorter, but for what their omission says; so the last step is made one by one.
    low, high = 0, len(packet["items"])
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tried(middle)[1] else (low, middle - 1)
    found, fits = tried(low)
    while not fits and low > 0:
        low -= 1
        found, fits = tried(low)
    return found


def _read(packet: Mapping[str, Any]) -> str:
    """What a packet's reader reads, which a budget bounds: the rendering, or else items and conflicts."""
    text = packet.get("rendered")
    if isinstance(text, str):
        return text
    if text is None:
        text = {"items": packet["items"], "conflicts": packet["conflicts"]}
    return canonical_text(text)


def _first(packet: Mapping[str, Any], count: int) -> Mapping[str, Any]:
    """The packet without the items behind the first `count`, with the omission that names them."""
    items, dropped = packet["items"][:count], packet["items"][count:]
    if not dropped:
        return packet
    refs = [item["atom_ref"] for item in items]
    omissions = _with_dropped(packet["omissions"], [item["atom_ref"] for item in dropped])
    trace, provenance = packet["attention_trace"], packet["provenance"]
    lineage = provenance.get("lineage")
    if lineage is not None:
        provenance = {**provenance, "lineage": {ref: lineage[ref] for ref in lineage if ref in refs}}
    return {
        **packet,
        "items": items,
        "conflicts": [_told(each, refs) for each in packet["conflicts"] if _concerns(each, refs)],
        "omissions": omissions,
        "attention_trace": {
            **trace,
            "selected_item_refs": refs,
            "reserved_places": {role: ref for role, ref in trace["reserved_places"].items() if ref in refs},
            "omitted_reasons": [entry["reason"] for entry in omissions],
        },
        "provenance": provenance,
    }


def _with_dropped(omissions: Sequence[Mapping[str, Any]], dropped: Sequence[str]) -> list[dict[str, Any]]:
    """The omissions, where what found no place among the items and what found no room are one thing."""
    others = [dict(entry) for entry in omissions if entry["reason"] != _BUDGET]
    before = [entry for entry in omissions if entry["reason"] == _BUDGET]
    count = len(dropped) + sum(entry["count"] for entry in before)
    refs = [*dropped, *(ref for entry in before for ref in entry["refs"])]
    entry = {"reason": _BUDGET, "count": count, "refs": refs}
    # `access_denied` is always said, and first.
    return [*others[:1], entry, *others[1:]]


def _concerns(conflict: Mapping[str, Any], refs: Sequence[str]) -> bool:
    return any(side["atom_ref"] in refs for side in conflict["sides"])


def _told(conflict: Mapping[str, Any], refs: Sequence[str]) -> dict[str, Any]:
    sides = [{**side, "in_packet": side["atom_ref"] in refs} for side in conflict["sides"]]
    return {**conflict, "sides": sides}
