"""A packet that was given once, worked out again: for outcomes of packets of which no note is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from amos_graph.commands.execution import Context
from amos_graph.domain.packets import check_request
from amos_graph.errors import AmosError
from amos_graph.queries.recall.packet import assembled, read_back

#: Refusals that only say that this was no request of a packet that can be worked out again.
_NOT_AGAIN: Final = ("schema_invalid", "scope_denied", "expected_version_conflict", "capacity_limited")


def packet_again(context: Context, request: Mapping[str, Any], graph_version: int) -> dict[str, Any] | None:
    """The packet that this request was answered with at this version; None if that cannot be told.

    It cannot without the request's own `evaluated_at`, beyond the head, or where the shard is too large to
    be read as it was. The same request, version and identity give the same packet, id included.
    """
    if request.get("evaluated_at") is None or not context.identity.may("memory.read"):
        return None
    try:
        asked = check_request(request, context.scope, "", context.settings.items_max)
        then = replace(asked, request=asked.request.model_copy(update={"as_of_version": graph_version}))
        within = replace(context, scope=asked.scope)
        return assembled(within, asked, read_back(within, then))
    except AmosError as error:
        if error.code in _NOT_AGAIN:
            return None
        raise
