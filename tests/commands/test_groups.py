"""Commands that wait for one shard are committed in groups, and nobody can tell from any answer."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, LiteralString

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amos_graph.commands.archive import archive
from amos_graph.commands.capture import capture
from amos_graph.commands.commit import commit, propose
from amos_graph.commands.execution import (
    Context,
    Moment,
    Plan,
    Receipt,
    _together,  # pyright: ignore[reportPrivateUsage]
)
from amos_graph.commands.group import NothingAcceptedError, Outcome, run_group
from amos_graph.commands.plan import Attempt
from amos_graph.commands.view import View
from amos_graph.domain.events import Draft, Write
from amos_graph.errors import AmosError
from amos_graph.graph.admission import Admission
from amos_graph.graph.procedures import Procedure
from amos_graph.graph.transactions import Graph
from amos_graph.queries.verify import verify
from amos_graph.queries.versions import hold_shard
from tests import administrator
from tests.conftest import ContextOf
from tests.faults.journal import NODES, checked_journal, rows
from tests.samples import belief, interaction, source_event

Act = Callable[[Context, Mapping[str, Any]], Receipt]


class _KeptError(Exception):
    """Ends a command once its attempt is made."""


@dataclass
class _Keeper:
    """Stands where writers queue, and keeps what would be run."""

    attempts: list[Attempt] = field(default_factory=list[Attempt])

    def submit(self, _shard: str, work: Attempt, _run: object, **_limits: int) -> None:
        self.attempts.append(work)
        raise _KeptError


def _attempt(context: Context, act: Act, request: Mapping[str, Any]) -> Attempt:
    """The attempt that a command makes, with its ids, time and salts fixed, not yet run."""
    graph, keeper = Graph(context.graph.driver, observer=context.graph.observer), _Keeper()
    vars(graph)["writers"] = keeper
    with pytest.raises(_KeptError):
        act(replace(context, graph=graph), request)
    return keeper.attempts[0]


def _run(graph: Graph, shard: str, attempts: Sequence[Attempt]) -> list[Outcome]:
    try:
        return graph.write("test", lambda tx: run_group(tx, shard, attempts))
    except NothingAcceptedError as nothing:
        return nothing.outcomes


def _told(outcome: Outcome) -> Any:
    """Everything that the caller of a command hears."""
    if isinstance(outcome, Receipt):
        return (outcome.record, outcome.replayed)
    assert isinstance(outcome, AmosError), outcome
    return (outcome.code, outcome.message, outcome.faults, outcome.details)


_STORED: LiteralString = (
    NODES
    + """
RETURN labels(n) AS labels, properties(n) AS properties,
       COLLECT { MATCH (n)-[r]->(m) RETURN [type(r), properties(r), labels(m), properties(m)] } AS links
"""
)
_WIPE: LiteralString = NODES + "DETACH DELETE n"
#: Drawn anew for each journal and each lock.
_RANDOM = ("lock_token", "store_id")


def _stored(graph: Graph, shard: str) -> Counter[str]:
    """All that stands in a shard, node by node with its links, as text that compares."""

    def text(value: Any) -> str:
        return json.dumps(value, default=str, sort_keys=True)

    found: Counter[str] = Counter()
    for row in rows(graph, _STORED, shard=shard):
        for properties in [row["properties"], *(link[3] for link in row["links"])]:
            for name in _RANDOM:
                properties.pop(name, None)
        links = sorted(text([link[0], link[1], sorted(link[2]), link[3]]) for link in row["links"])
        found[text([sorted(row["labels"]), row["properties"], links])] += 1
    return found


_REFS = st.sampled_from(["a", "b", "c"])
_CONTENT = st.sampled_from(["ent:thing:x", "ent:thing:y"])
_EVIDENCE = st.lists(st.sampled_from(["evd_1", "evd_2", "evd_missing"]), max_size=2, unique=True)


@st.composite
def _atoms(draw: st.DrawFn) -> dict[str, Any]:
    atom = belief(payload={"object": draw(_CONTENT)}, evidence_refs=draw(_EVIDENCE))
    if draw(st.booleans()):
        atom["id"] = draw(_REFS)
        version = draw(st.sampled_from([None, 0, 1, 2]))
        if version is not None:
            atom["version"] = version
    if draw(st.integers(0, 3)) == 0:
        atom["supersedes"] = [draw(_REFS)]
    if draw(st.integers(0, 3)) == 0:
        relation = {"relation": "rel:supports", "target_ref": draw(_REFS)}
        atom["payload"]["graph_relations"] = [relation]
    return atom


_EDGES = st.fixed_dictionaries(
    {
        "source_ref": _REFS,
        "target_ref": _REFS,
        "relation": st.sampled_from(["rel:supports", "rel:contradicts", "rel:supersedes", "rel:mine"]),
        "confidence": st.just({"score": 0.5}),
    }
)
_SOURCES = st.builds(
    source_event,
    st.sampled_from(["evd_1", "evd_2"]),
    payload=st.fixed_dictionaries({"text": st.sampled_from(["one", "two"])}),
)
_TURNS = st.integers(1, 3).map(lambda number: interaction("c1", number, evidence_refs=["evd_1"]))
_ENTITIES = st.fixed_dictionaries(
    {"id": st.sampled_from(["ent:thing:x", "ent:thing:y"]), "type": st.just("thing")},
    optional={
        "aliases": st.just(["it"]),
        "merged_into": st.just("ent:thing:y"),
        "version": st.integers(1, 2),
    },
)
_RELATION = st.just({"id": "rel:mine", "kind": "edge", "description": "own"})
_COMMITS = st.one_of(
    st.fixed_dictionaries({"atoms": st.lists(_atoms(), min_size=1, max_size=2)}),
    st.fixed_dictionaries({"edges": st.lists(_EDGES, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"atoms": st.lists(_TURNS, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"entities": st.lists(_ENTITIES, min_size=1, max_size=1)}),
    st.fixed_dictionaries({"relations": st.tuples(_RELATION).map(list)}),
    st.fixed_dictionaries(
        {"events": st.lists(_SOURCES, min_size=1, max_size=1), "atoms": _atoms().map(lambda a: [a])}
    ),
)
_ACTS: st.SearchStrategy[tuple[Act, dict[str, Any]]] = st.one_of(
    st.tuples(st.just(commit), _COMMITS),
    st.tuples(st.just(commit), _COMMITS),
    st.tuples(st.just(propose), st.fixed_dictionaries({"candidates": _atoms().map(lambda a: [a])})),
    st.tuples(st.just(capture), st.fixed_dictionaries({"event": _SOURCES})),
    st.tuples(
        st.just(archive),
        st.fixed_dictionaries(
            {"atom_id": _REFS, "reason": st.just("old")}, optional={"expected_version": st.integers(1, 2)}
        ),
    ),
)
_ENVELOPES = st.fixed_dictionaries(
    {},
    optional={
        "idempotency_key": st.sampled_from(["k1", "k2"]),
        "expected_versions": st.dictionaries(_REFS, st.integers(0, 2), max_size=1),
        "causal_parent_ids": st.just(("evt_missing",)),
    },
)


def _groups(attempts: list[Attempt], sizes: Sequence[int]) -> Iterator[list[Attempt]]:
    at = 0
    while at < len(attempts):
        size = sizes[at % len(sizes)]
        yield attempts[at : at + size]
        at += size


@pytest.fixture
def wiped(graph: Graph, tenant: str) -> Callable[[], str]:
    """Empties the test's shard and names it."""

    def wipe() -> str:
        administrator.run(graph, _WIPE, shard=f"{tenant}/w")
        return f"{tenant}/w"

    return wipe


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    program=st.lists(st.tuples(_ACTS, _ENVELOPES), min_size=2, max_size=12),
    sizes=st.lists(st.integers(2, 8), min_size=1, max_size=3),
)
def test_a_group_equals_its_commands_run_one_by_one(
    context_of: ContextOf,
    graph: Graph,
    wiped: Callable[[], str],
    program: list[tuple[tuple[Act, dict[str, Any]], dict[str, Any]]],
    sizes: list[int],
) -> None:
    """Answers, events, hashes and the whole graph are the same, whatever fails, repeats or conflicts."""
    setup = [
        _attempt(context_of(), capture, {"events": [source_event("evd_1", payload={"text": "one"})]}),
        _attempt(context_of(), commit, {"atoms": [belief(id="a", evidence_refs=["evd_1"])]}),
    ]
    attempts: list[Attempt] = []
    for (act, request), envelope in program:
        try:
            attempts.append(_attempt(context_of(**envelope), act, request))
        except AmosError:
            continue  # Refused before it would join a queue.
    shard = wiped()
    for attempt in setup:
        _run(graph, shard, [attempt])
    alone = [_told(_run(graph, shard, [attempt])[0]) for attempt in attempts]
    expected = _stored(graph, shard)

    wiped()
    for attempt in setup:
        _run(graph, shard, [attempt])
    together = [_told(outcome) for group in _groups(attempts, sizes) for outcome in _run(graph, shard, group)]

    assert together == alone
    assert _stored(graph, shard) == expected
    checked_journal(graph, shard)


def test_the_same_content_twice_in_one_group_is_one_atom(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """The second command finds what the first one wrote in the same transaction, and links to it."""
    shard = f"{tenant}/w"
    _run(
        graph,
        shard,
        [_attempt(context_of(), capture, {"events": [source_event("evd_1"), source_event("evd_2")]})],
    )
    first, second = _run(
        graph,
        shard,
        [
            _attempt(context_of(), commit, {"atoms": [belief(evidence_refs=[evidence])]})
            for evidence in ("evd_1", "evd_2")
        ],
    )

    assert isinstance(first, Receipt)
    assert isinstance(second, Receipt)
    made = min(ref for ref in first.record["created"] if ref.startswith("atom_"))
    assert made in json.dumps(second.record)
    assert rows(graph, "MATCH (a:Atom {shard: $shard}) RETURN count(a) AS atoms", shard=shard) == [
        {"atoms": 1}
    ]


def _observed(context: Context, seen: list[str]) -> Context:
    """The same context on a Graph of its own that notes each statement."""

    def observe(procedure: Procedure[Any], *rest: Any) -> None:
        seen.append(procedure.name)
        if context.graph.observer:
            context.graph.observer(procedure, *rest)

    return replace(context, graph=Graph(context.graph.driver, observer=observe))


def test_writers_that_wait_are_committed_together_and_in_their_order(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """Twenty writers behind a held lock end in two transactions, in the order in which they came."""
    context = context_of()
    commit(context, {"events": [source_event()], "atoms": [belief(id="first")]})
    seen: list[str] = []
    observed = _observed(context, seen)
    came: list[str] = []
    held, release = threading.Event(), threading.Event()

    def hold(_tx: Any) -> None:
        held.set()
        release.wait(20)

    # A holder of the Neo4j lock keeps the first writer, the leader, in its transaction.
    def blocker() -> None:
        def work(tx: Any) -> None:
            hold_shard(tx, f"{tenant}/w")
            hold(tx)

        graph.write("test", work)

    blocking = threading.Thread(target=blocker)
    blocking.start()
    assert held.wait(20)
    outcomes: dict[str, Receipt] = {}

    def write(ref: str) -> None:
        outcomes[ref] = commit(
            replace(observed, idempotency_key=ref),
            {"atoms": [belief(id=ref, payload={"object": f"ent:t:{ref}"})]},
        )

    threads: list[threading.Thread] = []
    # The first one leads and so does not wait; that it has come shows in the queue's being there.
    queues, shard = observed.graph.writers._waiting, f"{tenant}/w"  # pyright: ignore[reportPrivateUsage]
    for number in range(20):
        ref = f"w{number:02}"
        came.append(ref)
        thread = threading.Thread(target=write, args=(ref,))
        thread.start()
        threads.append(thread)
        _wait_for(lambda count=number: shard in queues and len(queues[shard]) >= count)
    release.set()
    for thread in [blocking, *threads]:
        thread.join(60)

    assert sorted(outcomes, key=lambda ref: outcomes[ref].graph_version) == came
    assert seen.count("journal/append_events") == 2
    assert seen.count("journal/lock_shard") == 2
    assert verify(graph, f"{tenant}/w").ok


def _wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    done = threading.Event()
    for _ in range(int(seconds / 0.005)):
        if condition():
            return
        done.wait(0.005)
    raise AssertionError("it did not happen in time")


def test_a_group_that_cannot_be_written_is_run_command_by_command(
    context_of: ContextOf, graph: Graph, tenant: str
) -> None:
    """One command whose decision writes what Neo4j refuses fails alone; its neighbours are stored."""
    context, shard = context_of(), f"{tenant}/w"
    commit(context, {"events": [source_event()], "atoms": [belief(id="a")]})
    good = [
        _attempt(context, commit, {"atoms": [belief(id=ref, payload={"object": f"ent:t:{ref}"})]})
        for ref in "bcd"
    ]
    body: dict[str, Any] = {
        "edge_id": "edge_x",
        "source_ref": "a",
        "target_ref": "nowhere",
        "relation": "rel:supports",
        "schema_version": "amos.v1",
        "weight": 1.0,
        "confidence": {"level": "high", "score": 0.9},
        "scope": {"tenant_id": tenant, "workspace_id": "w"},
        "lifecycle_state": "active",
        "health_status": "ok",
        "derivation": "submitted",
        "evidence_refs": [],
        "version": 1,
        "created_at": "2026-01-01T00:00:00.000000Z",
        "updated_at": "2026-01-01T00:00:00.000000Z",
        "last_writer": "svc:test",
    }

    def decided(_view: View, _moment: Moment) -> Plan:
        return Plan(drafts=(Draft("edge_committed", "link_atoms", (Write("edge", "edge_x", 1, body),)),))

    bad = replace(
        good[2],
        scope_key="bad",
        decide=decided,
    )
    before, failed, after = _together(graph, shard, [good[0], bad, good[1]])

    assert isinstance(before, Receipt)
    assert isinstance(after, Receipt)
    assert isinstance(failed, AmosError)
    assert failed.code == "projection_failed"
    assert verify(graph, shard).ok


def test_a_leader_that_dies_leaves_nobody_waiting() -> None:
    """When what leads a group is stopped, its followers hear `unavailable` and the next one leads."""
    writers: Admission[int, int] = Admission()
    started, go = threading.Event(), threading.Event()
    heard: list[Any] = []

    def dying(_works: Sequence[int]) -> list[int | Exception]:
        started.set()
        go.wait(20)
        raise KeyboardInterrupt

    def lead() -> None:
        try:
            writers.submit("s", 0, dying, weight=1, group_max=1, weight_max=9)
        except KeyboardInterrupt:
            heard.append("stopped")

    leader = threading.Thread(target=lead)
    leader.start()
    assert started.wait(20)
    follower = threading.Thread(
        target=lambda: heard.append(
            writers.submit("s", 7, lambda works: [w + 1 for w in works], weight=1, group_max=8, weight_max=9)
        )
    )
    follower.start()
    _wait_for(lambda: writers.waiting("s") == 1)
    go.set()
    leader.join(20)
    follower.join(20)

    assert heard == ["stopped", 8]
    assert writers.waiting("s") == 0


def test_a_group_holds_no_more_than_it_may() -> None:
    """Groups end at their number of members and at their weight; a member beyond the weight runs alone."""
    writers: Admission[int, int] = Admission()
    groups: list[list[int]] = []
    gate = threading.Event()

    def run(works: Sequence[int]) -> list[int | Exception]:
        groups.append(list(works))
        if len(groups) == 1:
            gate.wait(20)
        return list(works)

    def submit(number: int, weight: int) -> None:
        writers.submit("s", number, run, weight=weight, group_max=3, weight_max=10)

    threads: list[threading.Thread] = []
    for number, weight in enumerate([1, 1, 1, 1, 50, 6, 5]):
        threads.append(threading.Thread(target=submit, args=(number, weight)))
        threads[-1].start()
        _wait_for(lambda count=number: writers.waiting("s") >= count)
    gate.set()
    for thread in threads:
        thread.join(20)

    assert groups == [[0], [1, 2, 3], [4], [5], [6]]
