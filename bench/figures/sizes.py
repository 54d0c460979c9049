"""How many bytes an atom, an edge and an event take: as canonical JSON, and on the disk."""

from __future__ import annotations

from typing import Final

from amos_graph.commands.execution import Context
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.events import event_record
from amos_graph.queries.journal import chain_page
from bench.figures import Figure, Measured, Run
from bench.measuring import plain_row
from bench.results import Row
from bench.rivals import read
from bench.samples import Samples
from bench.stores import Store, send

BATCH: Final = 500
EDGES_EACH: Final = 5


def _measure(run: Run) -> Measured:
    atoms = run.count(10_000, 40)
    samples = Samples(6)
    context = run.store.context("bench_sizes")
    tenants = context.settings.tenant
    send(context, samples.batch("first", min(BATCH, atoms), 0, []))
    empty = _settled_bytes(run.store)
    before = _head(run.store.context(tenants))
    refs: list[str] = []
    for start in range(0, atoms, BATCH):
        batch = samples.batch(f"size{start}", min(BATCH, atoms - start), 0, [])
        send(run.store.context(tenants), batch)
        refs += [atom["id"] for atom in batch["atoms"]]
        run.told("atoms", len(refs), atoms)
    with_atoms = _settled_bytes(run.store)
    middle = _head(run.store.context(tenants))
    for start in range(0, atoms, BATCH):
        part = refs[start : start + BATCH]
        proof = f"evd_size{start}"
        edges = [edge for ref in part for edge in samples.edges(ref, refs, EDGES_EACH, proof)]
        send(run.store.context(tenants), {"edges": edges})
        run.told("edges", start + len(part), atoms)
    with_edges = _settled_bytes(run.store)
    after = _head(run.store.context(tenants))
    edge_count = after[0] - middle[0]
    rows = [
        plain_row("sizes.logical_bytes_per_atom", (middle[1] - before[1]) / atoms, "bytes", atoms),
        plain_row("sizes.logical_bytes_per_edge", (after[1] - middle[1]) / edge_count, "bytes", edge_count),
        _event_row(run.store.context(tenants), before[0], after[0]),
    ]
    if with_atoms is not None and empty is not None and with_edges is not None:
        written, grown = after[0] - before[0], with_edges - with_atoms
        rows += [
            plain_row("sizes.physical_bytes_per_atom", (with_atoms - empty) / atoms, "bytes", atoms),
            plain_row("sizes.physical_bytes_per_edge", grown / edge_count, "bytes", edge_count),
            plain_row("sizes.physical_bytes_per_event", (with_edges - empty) / written, "bytes", written),
        ]
    return Measured(
        rows=tuple(rows),
        bars={row.figure.partition(".")[2]: row.value for row in rows},
        unit="bytes",
        notes=(
            "physical: growth of the store's files over a clean stop, with record, Version, event, indexes",
            "and without transaction logs; an atom and an edge are one event each",
        ),
    )


def _settled_bytes(store: Store) -> int | None:
    """The bytes of the store's files once nothing waits in memory; None where they are out of reach."""
    if store.local is None:
        return None
    store.stop()
    found = store.data_bytes()
    store.start()
    return found


def _head(context: Context) -> tuple[int, int]:
    """Events of the shard, and canonical bytes of all bodies."""
    row = read(context.graph, "read_sizes", shard=context.scope.shard)[0]
    return row["graph_version"], row["body_bytes"]


def _event_row(context: Context, first: int, last: int) -> Row:
    """The canonical bytes of an event itself; what it wrote is in Versions."""
    upto = min(last, first + 5_000)
    sizes: list[int] = []
    at = first
    while at < upto:
        rows = context.graph.read("bench", lambda tx, at=at: chain_page(tx, context.scope.shard, at, upto))
        sizes += [len(canonical_bytes(event_record(row.event))) for row in rows]
        at += len(rows)
    return plain_row("sizes.logical_bytes_per_event", sum(sizes) / len(sizes), "bytes", len(sizes))


FIGURE: Final = Figure(
    name="sizes",
    title="Bytes of an atom, an edge and an event",
    needs="fresh",
    rows=(
        "sizes.logical_bytes_per_atom",
        "sizes.logical_bytes_per_edge",
        "sizes.logical_bytes_per_event",
        "sizes.physical_bytes_per_atom",
        "sizes.physical_bytes_per_edge",
        "sizes.physical_bytes_per_event",
    ),
    measure=_measure,
)
