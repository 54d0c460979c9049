"""Outcomes: what is counted, what is moved, what stays, and that it is told by the journal alone."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from amos_graph.commands.archive import archive
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.commands.outcomes import record_outcome
from amos_graph.domain.outcomes import OUTCOME_LABELS, REPAIRS, USE_STATUSES
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.policy.outcomes import RATES, moved
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.queries.verify import verify
from amos_graph.settings import Settings
from tests.administrator import run
from tests.conftest import ContextOf
from tests.outcomes.samples import (
    CAUSES,
    FAR,
    MID,
    NEAR,
    SUPPORTS,
    count,
    harbour,
    numbers,
    recalled,
    tell,
    usage,
)
from tests.recall.samples import edge, fact, refs, store

_COUNTERS = (
    "access_count",
    "use_count",
    "helpful_count",
    "unhelpful_count",
    "corrections_after_use",
    "success_after_use",
    "failure_after_use",
)


@pytest.fixture(scope="module")
def shared(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """One shard for the tables; each row of them looks at what it adds."""
    scope = Scope(tenant_id=f"t{uuid.uuid4().hex[:12]}", workspace_id="w")
    identity = Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES))
    folder = tmp_path_factory.mktemp("outcomes")
    context = Context(graph, Settings.model_validate({"home": folder}), Archive(folder), identity, scope)
    harbour(context)
    yield context
    assert [fault.record() for fault in verify(graph, scope.shard).faults] == []


@pytest.fixture
def shard(context: Context) -> Context:
    """A shard of this test alone."""
    harbour(context)
    return context


def _counted(context: Context, ref: str) -> dict[str, int]:
    found = usage(context, ref)
    return {name: found.get(name, 0) for name in _COUNTERS}


#: What is told → what it adds to the usage of the atom in the middle.
_TOLD: tuple[tuple[dict[str, Any], dict[str, int]], ...] = (
    ({}, {}),
    ({"outcome_labels": ["observed"], "use_status": "context_only"}, {}),
    ({"use_status": "context_only", "used_item_refs": [MID]}, {}),
    ({"use_status": "ignored", "outcome_labels": ["failed"]}, {}),
    ({"use_status": "unused", "outcome_labels": ["succeeded"]}, {}),
    ({"use_status": "used"}, {}),
    ({"use_status": "used", "used_item_refs": [NEAR]}, {}),
    ({"used_item_refs": [MID]}, {"use_count": 1}),
    (
        {"used_item_refs": [MID], "outcome_labels": ["succeeded"]},
        {"use_count": 1, "success_after_use": 1},
    ),
    (
        {"used_item_refs": [MID], "outcome_labels": ["failed", "blocked"]},
        {"use_count": 1, "failure_after_use": 1},
    ),
    ({"used_item_refs": [MID], "outcome_labels": ["partial"]}, {"use_count": 1}),
    (
        {"helpful_atom_refs": [MID], "outcome_labels": ["succeeded"], "use_status": "used"},
        {"use_count": 1, "helpful_count": 1, "success_after_use": 1},
    ),
    ({"helpful_atom_refs": [MID, MID]}, {"use_count": 1, "helpful_count": 1}),
    (
        {"unhelpful_atom_refs": [MID], "outcome_labels": ["failed"]},
        {"use_count": 1, "unhelpful_count": 1, "failure_after_use": 1},
    ),
    (
        {"correction_refs": [MID], "outcome_labels": ["corrected"]},
        {"use_count": 1, "corrections_after_use": 1},
    ),
)


@pytest.mark.parametrize(("told", "added"), _TOLD, ids=[json.dumps(told) for told, _ in _TOLD])
def test_what_is_told_is_counted(shared: Context, told: dict[str, Any], added: dict[str, int]) -> None:
    """Each item of the packet was seen, whatever is told; use, help, harm and success are counted besides."""
    found = recalled(shared)
    before = _counted(shared, MID)
    tell(shared, found, **told)

    after = _counted(shared, MID)
    assert {name: after[name] - before[name] for name in _COUNTERS if after[name] != before[name]} == {
        "access_count": 1,
        **added,
    }
    assert all(usage(shared, ref)["last_accessed"] for ref in (NEAR, MID, FAR))


@pytest.mark.parametrize("status", USE_STATUSES)
@pytest.mark.parametrize("label", OUTCOME_LABELS)
def test_no_label_and_no_status_moves_a_number_by_itself(shared: Context, label: str, status: str) -> None:
    """Exposure is no usefulness: only a memory that is said to have helped or harmed moves."""
    found = recalled(shared)
    before = numbers(shared)
    receipt = tell(shared, found, outcome_labels=[label], use_status=status)

    assert receipt.record["event_ids"] == []
    assert receipt.graph_version == found["graph_version"]
    assert numbers(shared) == before


@pytest.mark.parametrize(
    ("name", "judgment"),
    [
        ("helpful_atom_refs", "helpful"),
        ("unhelpful_atom_refs", "unhelpful"),
        ("correction_refs", "corrected"),
    ],
)
def test_a_judgment_moves_the_memory_and_the_edges_that_led_to_it(
    shared: Context, name: str, judgment: str
) -> None:
    """By the rates of the table; the memories beside it stay, and no version rises."""
    found = recalled(shared)
    before, version = numbers(shared), found["graph_version"]
    receipt = tell(shared, found, **{name: [FAR]})

    rates = RATES[judgment]
    assert numbers(shared) == {
        **before,
        FAR: (moved(before[FAR][0], rates.utility), moved(before[FAR][1], rates.salience)),
        SUPPORTS: (moved(before[SUPPORTS][0], rates.weight),),
        CAUSES: (moved(before[CAUSES][0], rates.weight),),
    }
    assert receipt.record["updated"] == [CAUSES, SUPPORTS, FAR]
    assert receipt.graph_version == version + 1
    after = recalled(shared)
    assert [item["version"] for item in after["items"]] == [1, 1, 1]
    again = {item["atom_ref"]: item for item in after["items"]}[FAR]
    assert (again["utility"], again["salience"]) == numbers(shared)[FAR]
    (event,) = run(
        shared.graph,
        "MATCH (e:Event {shard: $shard, event_id: $id}) RETURN e.event_type AS type, e.payload AS payload",
        shard=shared.scope.shard,
        id=receipt.record["event_ids"][0],
    )
    payload = json.loads(event["payload"])
    assert event["type"] == "retrieval_outcome_recorded"
    assert payload[name] == [FAR]
    edges = ("reinforced_edges", "weakened_edges")
    assert payload[edges[rates.weight < 0]] == [CAUSES, SUPPORTS]
    assert payload[edges[rates.weight > 0]] == []


#: What is told of a memory that did harm → why it is to be repaired.
_FLAGS = (
    ({"unhelpful_atom_refs": [FAR]}, {"low_utility"}),
    ({"unhelpful_atom_refs": [FAR], "outcome_labels": ["failed"]}, {"confounding"}),
    ({"correction_refs": [FAR]}, {"contradicted"}),
    *(({"correction_refs": [FAR], "outcome_labels": ["corrected", why]}, {why}) for why in sorted(REPAIRS)),
    ({"helpful_atom_refs": [FAR], "outcome_labels": ["stale"]}, set[str]()),
    ({"used_item_refs": [FAR], "outcome_labels": ["stale", "failed"]}, set[str]()),
)


@pytest.mark.parametrize(("told", "flags"), _FLAGS, ids=[json.dumps(told) for told, _ in _FLAGS])
def test_a_memory_that_did_harm_is_flagged_for_repair(
    shared: Context, told: dict[str, Any], flags: set[str]
) -> None:
    """By the reason that is told, else by the likeliest; flags are the steward's to act on."""
    run(
        shared.graph,
        "MATCH (u:Usage {shard: $shard, ref: $ref}) SET u.repair_flags = []",
        shard=shared.scope.shard,
        ref=FAR,
    )
    # A number that was never stated, since the one that was is no news.
    version = _version(shared, FAR)
    store(shared, fact(FAR, "pilots are short in June", version=version, utility=0.5 + version / 1000))
    tell(shared, recalled(shared), **told)

    assert set(usage(shared, FAR)["repair_flags"]) == flags


def _version(context: Context, ref: str) -> int:
    return get_atom(context, {"atom_id": ref})["item"]["version"]


def test_a_memory_that_was_harmful_often_is_of_low_utility_and_never_below_nothing(shard: Context) -> None:
    """Numbers stay within 0 and 1, an edge stays in the walk, and what is low is flagged."""
    seen: list[float] = []
    for _ in range(12):
        tell(shard, recalled(shard), correction_refs=[FAR], outcome_labels=["stale"])
        seen.append(numbers(shard)[FAR][0])

    assert seen == sorted(seen, reverse=True)
    assert 0 < seen[-1] < 0.05
    assert set(usage(shard, FAR)["repair_flags"]) == {"stale", "low_utility"}
    # A contradiction is as true as ever, however little is thought of what it led to.
    assert min(weight for (weight, *_) in numbers(shard).values()) > 0
    assert FAR in refs(recalled(shard))
    for _ in range(30):
        tell(shard, recalled(shard), helpful_atom_refs=[FAR])
    assert all(0 <= number <= 1 for values in numbers(shard).values() for number in values)
    assert verify(shard.graph, shard.scope.shard).ok


def test_an_edge_that_nothing_may_prune_is_not_weakened(context: Context) -> None:
    """A protected relation, built in or of the shard, is reinforced and never weakened."""
    own = {
        "id": "rel:vetoes",
        "kind": "edge",
        "description": "vetoes",
        "protected": True,
        "spread_weight": 0.5,
    }
    store(
        context,
        fact("a", "the harbour is open"),
        fact("b", "no ship in"),
        fact("c", "no ship out"),
        edges=(edge("a", "contradicts", "b", weight=0.6), edge("a", "vetoes", "c", weight=0.6)),
        relations=[own],
    )
    before = numbers(context)
    tell(context, recalled(context), unhelpful_atom_refs=["b", "c"])
    assert {ref: value for ref, value in numbers(context).items() if ref.startswith("edge_")} == {
        ref: value for ref, value in before.items() if ref.startswith("edge_")
    }
    tell(context, recalled(context), helpful_atom_refs=["b", "c"])
    assert all(
        value[0] > before[ref][0] for ref, value in numbers(context).items() if ref.startswith("edge_")
    )


def test_an_edge_that_led_to_help_and_to_harm_stays(shard: Context) -> None:
    """The judgments of all that it led to add up."""
    before = numbers(shard)
    tell(shard, recalled(shard), helpful_atom_refs=[MID], unhelpful_atom_refs=[FAR])

    assert numbers(shard)[SUPPORTS] == before[SUPPORTS]
    assert numbers(shard)[CAUSES] < before[CAUSES]


def test_exposure_changes_no_packet(shard: Context) -> None:
    """Whatever is counted, the same request gives the same packet, byte for byte."""
    at = "2027-01-01T00:00:00Z"

    def shown() -> str:
        return json.dumps({**recalled(shard, evaluated_at=at), "generated_at": None})

    before = shown()
    for number in range(5):
        found = recalled(shard, evaluated_at=f"2027-01-01T00:00:0{number}Z")
        tell(shard, found, used_item_refs=[FAR, MID], outcome_labels=["succeeded"])
    assert usage(shard, FAR)["access_count"] == 5
    assert shown() == before


def test_a_packet_is_seen_once_however_much_is_told_of_it(shard: Context) -> None:
    """A later outcome of the same packet judges, and is no second exposure."""
    found = recalled(shard)
    tell(shard, found, use_status="context_only")
    tell(shard, found, correction_refs=[MID])

    assert usage(shard, MID)["access_count"] == 1
    assert usage(shard, MID)["corrections_after_use"] == 1


def test_the_tasks_of_an_atom_are_kept_within_a_bound(context_of: ContextOf) -> None:
    """The last task contexts in which it was used, each once."""
    harbour(context_of())
    for number in [*range(25), 24]:
        narrow = context_of(scope={"project_id": "quay", "task_id": f"t{number}"})
        tell(narrow, recalled(narrow), used_item_refs=[NEAR])
    narrow = context_of(scope={"project_id": "quay"})
    tell(narrow, recalled(narrow), used_item_refs=[NEAR])

    wanted = [*(f"task:t{number}" for number in range(6, 25)), "project:quay"]
    assert usage(context_of(), NEAR)["task_contexts_used_in"] == wanted


def test_what_was_missing_is_kept_and_moves_nothing(shard: Context) -> None:
    """Missing-capability cues stand with the raw outcome, and nowhere in the journal."""
    receipt = tell(shard, recalled(shard), missing_capability_cues=["tide tables", "tide tables"])

    (row,) = run(
        shard.graph,
        "MATCH (o:RetrievalOutcome {shard: $shard}) RETURN properties(o) AS o",
        shard=shard.scope.shard,
    )
    assert row["o"]["missing_capability_cues"] == ["tide tables"]
    assert row["o"]["id"] == receipt.record["outcome_refs"][0]
    assert receipt.record["event_ids"] == []
    assert receipt.record["created_at"]


# --- versions, writers and the past ---------------------------------------------------------------


def test_every_read_shows_what_outcomes_made_of_a_memory_and_the_past_shows_what_it_was(
    shard: Context,
) -> None:
    """get, list and recall agree, at the head and at every version before."""
    marks: list[tuple[int, tuple[float, ...]]] = []
    for _ in range(3):
        found = recalled(shard)
        marks.append((found["graph_version"], numbers(shard)[FAR]))
        tell(shard, found, helpful_atom_refs=[FAR])
    marks.append((recalled(shard)["graph_version"], numbers(shard)[FAR]))

    for version, wanted in marks:
        got = get_atom(shard, {"atom_id": FAR, "as_of_version": version})["item"]
        (listed,) = [
            i for i in list_atoms(shard, {"as_of_version": version})["items"] if i["atom_ref"] == FAR
        ]
        (packed,) = [i for i in recalled(shard, as_of_version=version)["items"] if i["atom_ref"] == FAR]
        for item in (got, listed, packed, got["record"], listed["record"]):
            assert (item["utility"], item["salience"]) == wanted
        assert got["version"] == 1
    now = get_atom(shard, {"atom_id": FAR})["item"]
    assert (now["utility"], now["salience"]) == marks[-1][1] != marks[0][1]


@pytest.mark.case("C01")
@pytest.mark.case("C64")
def test_a_writer_keeps_what_outcomes_made_unless_it_says_otherwise(shard: Context) -> None:
    """Sent again as it was, nothing changes; left out, it stays; stated anew, it counts."""
    tell(shard, recalled(shard), helpful_atom_refs=[FAR])
    learned = numbers(shard)
    harbour(shard)
    assert numbers(shard) == learned
    # The same content without an id, with new evidence, is a new version of the same atom.
    again = {**fact(FAR, "pilots are short in June"), "evidence_refs": ["evd_more"]}
    del again["id"]
    receipt = commit(
        shard,
        {
            "events": [{"evidence_id": "evd_more", "source_type": "note", "source_ref": "n", "payload": {}}],
            "atoms": [again],
        },
    )
    assert receipt.record["updated"] == [FAR]
    assert numbers(shard) == learned
    commit(shard, {"atoms": [fact(FAR, "pilots are short in July", version=2, utility=0.5)]})
    # 0.55 is what version 2 states, so 0.5 is news.
    assert numbers(shard)[FAR] == (0.5, learned[FAR][1])
    tell(shard, recalled(shard), helpful_atom_refs=[FAR])
    commit(shard, {"atoms": [fact(FAR, "pilots are short in May", version=3)]})
    assert numbers(shard)[FAR] == (0.55, moved(learned[FAR][1], RATES["helpful"].salience))
    weight = numbers(shard)[CAUSES]
    archive(shard, {"atom_id": FAR, "reason": "over"})
    assert numbers(shard)[CAUSES] == weight
    assert verify(shard.graph, shard.scope.shard).ok


def test_an_edge_keeps_its_learned_weight_when_it_is_said_again(shard: Context) -> None:
    """Without an id, with its id, and as an edge of the atom's own record."""
    own = {"graph_relations": [{"relation": "rel:supports", "target_ref": NEAR}]}
    nameless = edge(FAR, "triggers", "own", weight=0.7)
    store(shard, fact("own", "tugs work at night", payload=own), edges=(nameless,))
    tell(shard, recalled(shard), helpful_atom_refs=["own", FAR])
    learned = numbers(shard)
    receipt = commit(
        shard,
        {
            "edges": [
                nameless,
                edge(NEAR, "supports", MID, edge_id=SUPPORTS, weight=0.8),
            ]
        },
    )
    assert [word for word in receipt.record["warnings"] if "weight" in word] == []
    store(shard, fact("own", "tugs work at night", payload=own, version=1, confidence={"score": 0.7}))
    assert numbers(shard) == learned
    again = edge(NEAR, "supports", MID, edge_id=SUPPORTS, weight=0.3, version=1)
    commit(shard, {"edges": [again]})
    assert numbers(shard)[SUPPORTS] == (0.3,)
    assert verify(shard.graph, shard.scope.shard).ok


def test_a_memory_that_was_written_again_since_is_counted_and_not_moved(shard: Context) -> None:
    """What was judged is what it said then: who corrects a memory and then tells of it harms no repair."""
    found = recalled(shard)
    commit(shard, {"atoms": [fact(FAR, "pilots are plenty in June", version=1)]})
    before = numbers(shard)
    receipt = tell(shard, found, correction_refs=[FAR], outcome_labels=["corrected"])

    assert numbers(shard) == before
    assert receipt.record["updated"] == []
    assert usage(shard, FAR)["corrections_after_use"] == 1
    assert usage(shard, FAR)["repair_flags"] == []


def test_a_concurrent_writer_is_not_refused_for_an_outcome(shard: Context) -> None:
    """Compare-and-swap is on versions, and an outcome raises none."""
    version = _version(shard, FAR)
    tell(shard, recalled(shard), helpful_atom_refs=[FAR])
    receipt = commit(shard, {"atoms": [fact(FAR, "pilots are short in July", version=version)]})

    assert receipt.record["updated"] == [FAR]
    assert numbers(shard)[FAR][0] == moved(0.5, RATES["helpful"].utility)


# --- once, and by whom ----------------------------------------------------------------------------


@pytest.mark.reliability("T02")
def test_an_outcome_that_is_given_twice_counts_once(context_of: ContextOf) -> None:
    """Without a key, with one, with another one, in another order of its lists."""
    context = context_of()
    harbour(context)
    found = recalled(context)
    told = {"helpful_atom_refs": [FAR, MID], "outcome_labels": ["succeeded", "observed"]}
    first = tell(context, found, **told)
    learned, counted = numbers(context), usage(context, FAR)
    again = tell(context, found, **told)
    assert (again.replayed, again.record) == (True, first.record)
    other = tell(context, found, helpful_atom_refs=[MID, FAR], outcome_labels=["observed", "succeeded"])
    assert (other.replayed, other.record) == (True, first.record)
    for key in ("one", "two"):
        keyed = tell(context_of(idempotency_key=key), found, **told)
        assert not keyed.replayed
        assert (keyed.record["created"], keyed.record["reused"]) == ([], first.record["outcome_refs"])
        assert keyed.record["outcome_refs"] == first.record["outcome_refs"]
        assert keyed.record["created_at"] == first.record["created_at"]
        assert keyed.record["event_ids"] == []
        assert tell(context_of(idempotency_key=key), found, **told).replayed
    assert (numbers(context), usage(context, FAR)) == (learned, counted)
    assert count(context, "RetrievalOutcome") == 1
    with pytest.raises(AmosError) as refused:
        tell(context_of(idempotency_key="one"), found, helpful_atom_refs=[NEAR])
    assert refused.value.code == "idempotency_conflict"


@pytest.mark.reliability("T02")
def test_a_repeat_finds_its_receipt_though_the_packet_is_forgotten(context_of: ContextOf) -> None:
    """Receipts outlast manifests, so a late retry is answered and counts nothing."""
    context = context_of(idempotency_key="k")
    harbour(context_of())
    found = recalled(context_of())
    first = tell(context, found, helpful_atom_refs=[FAR])
    run(context.graph, "MATCH (m:PacketManifest {shard: $shard}) DELETE m", shard=context.scope.shard)

    assert tell(context, found, helpful_atom_refs=[FAR]).record == first.record
    assert tell(context_of(), found, helpful_atom_refs=[FAR]).record == first.record
    with pytest.raises(AmosError) as refused:
        tell(context_of(), found, helpful_atom_refs=[NEAR])
    assert refused.value.code == "not_found"


@pytest.mark.reliability("T05")
def test_outcomes_that_race_count_each_once(shard: Context) -> None:
    """Eight different ones and eight times the same at once: nine are counted, none is lost."""
    packets = [recalled(shard, evaluated_at=f"2027-01-01T00:00:{n:02}Z") for n in range(9)]
    version = packets[0]["graph_version"]
    start = threading.Barrier(16)
    failed: list[BaseException] = []

    def run_one(found: dict[str, Any]) -> None:
        start.wait()
        try:
            tell(shard, found, helpful_atom_refs=[FAR])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run_one, args=(found,)) for found in [*packets[:8], *[packets[8]] * 8]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert failed == []
    assert usage(shard, FAR)["helpful_count"] == usage(shard, FAR)["access_count"] == 9
    expected = 0.5
    for _ in range(9):
        expected = moved(expected, RATES["helpful"].utility)
    assert numbers(shard)[FAR][0] == expected
    assert recalled(shard)["graph_version"] == version + 9
    assert count(shard, "RetrievalOutcome") == 9
    assert verify(shard.graph, shard.scope.shard).ok


@pytest.mark.reliability("T20")
def test_only_what_the_packet_held_can_be_judged(context_of: ContextOf, tenant: str) -> None:
    """Absent, hidden, left out and of another packet: each is refused in the same words, by its path."""
    context = context_of()
    harbour(context)
    hidden = {"allowed_identities": ["svc:other"]}
    reader = Identity(
        "cli_other", "svc:other", "test", Scope(tenant_id=tenant, workspace_id="w"), frozenset(CAPABILITIES)
    )
    store(context_of(reader), fact("secret", "the harbour vault", access_policy=hidden))
    store(context, fact("elsewhere", "the lighthouse is dark"))
    found = recalled(context)
    before, stood = numbers(context), found["graph_version"]
    told: list[tuple[str, str]] = []
    for name in ("used_item_refs", "helpful_atom_refs", "correction_refs", "unhelpful_atom_refs"):
        for ref in ("secret", "nowhere", "elsewhere"):
            with pytest.raises(AmosError) as refused:
                tell(context, found, **{name: [NEAR, ref]})
            assert refused.value.code == "schema_invalid"
            (fault,) = refused.value.faults
            assert fault.path == f"{name}[1]"
            told.append((fault.message, refused.value.message.partition(": ")[2]))
    assert set(told) == {("not an item of this packet", "not an item of this packet")}
    assert numbers(context) == before
    assert recalled(context)["graph_version"] == stood
    assert usage(context, NEAR) == {}


@pytest.mark.reliability("T20")
def test_a_packet_of_somebody_else_is_no_packet(context_of: ContextOf, tenant: str) -> None:
    """Another client, another workspace, an id that was never given: one and the same answer."""
    context = context_of()
    harbour(context)
    found = recalled(context)
    scope = Scope(tenant_id=tenant, workspace_id="w")
    others = (
        context_of(Identity("cli_other", "svc:test", "test", scope, frozenset(CAPABILITIES))),
        replace(
            context,
            scope=(far := Scope(tenant_id=tenant, workspace_id="x")),
            identity=replace(context.identity, scope=far),
        ),
    )
    answers: set[tuple[Any, ...]] = set()
    for asking, told in (
        (others[0], found),
        (others[1], found),
        (context, {"packet_id": f"pkt_{'0' * 40}"}),
    ):
        for more in ({}, {"request": found["request"], "graph_version": found["graph_version"]}):
            if asking is others[1] and more:
                continue
            with pytest.raises(AmosError) as refused:
                tell(asking, told, helpful_atom_refs=[FAR], **more)
            error = refused.value
            answers.add((error.code, error.message, tuple((f.path, f.message) for f in error.faults)))
    assert answers == {("not_found", "no such packet", (("packet_id", "no such packet"),))}
    assert count(others[1], "Journal") == 0


@pytest.mark.reliability("T20")
def test_a_memory_that_was_hidden_since_answers_like_one_that_is_gone(
    context_of: ContextOf, tenant: str
) -> None:
    """It is neither moved nor named, and nothing tells its present version."""
    owner, reader = (
        context_of(),
        Identity(
            "cli_other",
            "svc:other",
            "test",
            Scope(tenant_id=tenant, workspace_id="w"),
            frozenset(CAPABILITIES),
        ),
    )
    asking = context_of(reader)
    harbour(owner)
    found = recalled(asking)
    policy = {"allowed_identities": ["svc:test"]}
    commit(owner, {"atoms": [fact(FAR, "pilots are short in June", version=1, access_policy=policy)]})
    before = numbers(owner)
    receipt = tell(asking, found, helpful_atom_refs=[FAR])
    with pytest.raises(AmosError) as hidden:
        tell(context_of(reader, expected_versions={FAR: 2}), found, helpful_atom_refs=[FAR, MID])
    with pytest.raises(AmosError) as score:
        tell(context_of(reader, expected_versions={f"scr_{FAR}": 1}), found, helpful_atom_refs=[FAR, NEAR])

    assert receipt.record["updated"] == []
    assert numbers(owner) == before
    assert hidden.value.details["actual_version"] == score.value.details["actual_version"] == 0


def test_an_outcome_needs_its_own_capability(context_of: ContextOf, context: Context) -> None:
    """Reading does not allow to teach."""
    harbour(context)
    reader = replace(context.identity, capabilities=frozenset({"memory.read"}))
    asking = context_of(reader)
    with pytest.raises(AmosError) as refused:
        tell(asking, recalled(asking))
    assert refused.value.code == "authorization_denied"


#: What cannot be told → the path of the fault.
_BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"packet_id": "nonsense"}, "packet_id"),
    ({"packet_id": f"pkt_{'0' * 39}'"}, "packet_id"),
    ({"packet_id": 7}, "packet_id"),
    ({"packet_id": None}, "packet_id"),
    ({"surprise": 1}, "surprise"),
    ({"outcome_labels": ["great"]}, "outcome_labels[0]"),
    ({"outcome_labels": "observed"}, "outcome_labels"),
    ({"outcome_labels": ["observed"] * 21}, "outcome_labels"),
    ({"use_status": "abused"}, "use_status"),
    ({"use_status": True}, "use_status"),
    ({"helpful_atom_refs": [NEAR] * 501}, "helpful_atom_refs"),
    ({"helpful_atom_refs": ["evd_turn1"]}, "helpful_atom_refs[0]"),
    ({"helpful_atom_refs": [f"scr_{NEAR}"]}, "helpful_atom_refs[0]"),
    ({"helpful_atom_refs": ["x`}) DETACH DELETE n //"]}, "helpful_atom_refs[0]"),
    ({"helpful_atom_refs": [{"id": NEAR}]}, "helpful_atom_refs[0]"),
    ({"helpful_atom_refs": [NEAR], "unhelpful_atom_refs": [NEAR]}, "unhelpful_atom_refs[0]"),
    ({"correction_refs": [NEAR], "unhelpful_atom_refs": [MID, NEAR]}, "correction_refs[0]"),
    ({"helpful_atom_refs": [NEAR], "use_status": "context_only"}, "helpful_atom_refs"),
    ({"unhelpful_atom_refs": [NEAR], "use_status": "ignored"}, "unhelpful_atom_refs"),
    ({"correction_refs": [NEAR], "use_status": "unused"}, "correction_refs"),
    ({"missing_capability_cues": ["x" * 201]}, "missing_capability_cues[0]"),
    ({"missing_capability_cues": [""]}, "missing_capability_cues[0]"),
    ({"missing_capability_cues": ["x"] * 21}, "missing_capability_cues"),
    ({"missing_capability_cues": ["\ud800"]}, "missing_capability_cues[0]"),
    ({"graph_version": -1}, "graph_version"),
    ({"graph_version": 10_000}, "graph_version"),
    ({"request": {"cues": ["lighthouse"]}}, "request"),
    ({"request": {"cues": ["harbour"], "surprise": 1}}, "request.surprise"),
    ({"request": []}, "request"),
)


@pytest.mark.case("C68")
@pytest.mark.parametrize(("told", "path"), _BAD, ids=[f"{i}" for i in range(len(_BAD))])
def test_what_makes_no_sense_is_refused_by_its_path(shared: Context, told: dict[str, Any], path: str) -> None:
    """Each is `schema_invalid`, and nothing is counted or moved."""
    found = recalled(shared)
    before = (numbers(shared), usage(shared, NEAR), found["graph_version"])
    with pytest.raises(AmosError) as refused:
        record_outcome(shared, {"packet_id": found["packet_id"], **told})

    assert refused.value.code == "schema_invalid"
    assert refused.value.faults[0].path == path
    assert (numbers(shared), usage(shared, NEAR), recalled(shared)["graph_version"]) == before


def test_the_original_request_is_taken_as_it_was_sent_and_as_the_packet_repeats_it(
    context_of: ContextOf,
) -> None:
    """Both are the request that the packet answered, also where the scope came from the envelope."""
    harbour(context_of())
    narrow = context_of(scope={"project_id": "quay"})
    found = recalled(narrow, max_items=7)

    tell(narrow, found, request={"cues": ["harbour"], "max_items": 7}, used_item_refs=[NEAR])
    tell(narrow, found, request=found["request"], graph_version=found["graph_version"])
    with pytest.raises(AmosError):
        tell(narrow, found, request={"cues": ["harbour"], "max_items": 8})
    assert usage(narrow, NEAR)["use_count"] == 1
