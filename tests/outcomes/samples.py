"""What outcome tests store, recall, tell and look at."""

from __future__ import annotations

from typing import Any

from amos_graph.commands.execution import Context
from amos_graph.commands.outcomes import record_outcome
from amos_graph.commands.plan import Receipt
from tests.administrator import run
from tests.recall.samples import edge, fact, packet, store

#: Recalled in this order for `harbour`: by a word, and by one and two edges from it.
NEAR, MID, FAR = "near", "mid", "far"
SUPPORTS, CAUSES = "edge_supports", "edge_causes"


def harbour(context: Context) -> None:
    """Three atoms in a row, of which only the first has the word that is asked for."""
    store(
        context,
        fact(NEAR, "the harbour opens at six"),
        fact(MID, "the crane needs a pilot"),
        fact(FAR, "pilots are short in June"),
        edges=(
            edge(NEAR, "supports", MID, edge_id=SUPPORTS, weight=0.8),
            edge(MID, "causes", FAR, edge_id=CAUSES, weight=0.6),
        ),
    )


def recalled(context: Context, **request: Any) -> dict[str, Any]:
    """A packet of all three."""
    return packet(context, "harbour", **request)


def tell(context: Context, found: dict[str, Any], **told: Any) -> Receipt:
    """Record an outcome of a packet."""
    return record_outcome(context, {"packet_id": found["packet_id"], **told})


def usage(context: Context, ref: str) -> dict[str, Any]:
    """The counters of an atom; empty if nothing was ever told of it."""
    rows = run(
        context.graph,
        "MATCH (u:Usage {shard: $shard, ref: $ref}) RETURN properties(u) AS u",
        shard=context.scope.shard,
        ref=ref,
    )
    return rows[0]["u"] if rows else {}


def numbers(context: Context) -> dict[str, tuple[float, ...]]:
    """What stands in the graph: utility and salience of each atom, weight of each edge."""
    rows = run(
        context.graph,
        "MATCH (n {shard: $shard}) WHERE n:Atom OR n:Edge "
        "RETURN coalesce(n.id, n.edge_id) AS ref, n.utility AS utility, n.salience AS salience, "
        "n.weight AS weight",
        shard=context.scope.shard,
    )
    return {
        row["ref"]: (row["utility"], row["salience"]) if row["weight"] is None else (row["weight"],)
        for row in rows
    }


def count(context: Context, label: str) -> int:
    """How many nodes of a label the shard has."""
    text = f"MATCH (n:{label}) WHERE n.shard = $shard RETURN count(n) AS n"
    return run(context.graph, text, shard=context.scope.shard)[0]["n"]
