"""The PEP history's loader on a small authored sample of the same shape, quirks included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amos_graph.commands.execution import Context
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.upkeep.sending import in_process
from bench.real import __main__ as program
from bench.real import checks, loading
from bench.real.checks import CheckError
from bench.real.history import belief_ref, document_ref, entity_ref
from bench.real.oracle import Oracle, collapsed, went_back

COMMITS = (
    # commit, time, document, field, old, new
    ("a1", "2001-01-01T10:00:00+00:00", 241, "title", None, "Names of boats"),
    ("a1", "2001-01-01T10:00:00+00:00", 241, "status", None, "Draft"),
    ("a2", "2001-02-01T10:00:00+02:00", 241, "status", "Draft", "Accepted"),
    # The time steps back; the commit order is the truth.
    ("a3", "2001-01-15T10:00:00+00:00", 241, "status", "Accepted", "Final"),
    ("a4", "2001-03-01T10:00:00+00:00", 314, "status", None, "Draft"),
    ("a4", "2001-03-01T10:00:00+00:00", 314, "title", None, "Names of boats, again"),
    # Said again, and with an `old` that was never there.
    ("a5", "2001-04-01T10:00:00+00:00", 314, "status", "Open", "Draft"),
    ("a6", "2001-05-01T10:00:00+00:00", 314, "replaces", None, "PEP 241"),
    ("a7", "2001-05-02T10:00:00-07:00", 241, "superseded-by", None, "314"),
    # There and back again.
    ("a8", "2001-06-01T10:00:00+00:00", 314, "status", "Draft", "Deferred"),
    ("a9", "2001-07-01T10:00:00+00:00", 314, "status", "Deferred", "Draft"),
    # Empty, in a document that the history alone knows.
    ("b1", "2001-08-01T10:00:00+00:00", 9000, "status", None, ""),
    ("b2", "2001-09-01T10:00:00+00:00", 9000, "status", "", "Withdrawn"),
)


def document(pep: int, title: str, **headers: list[int]) -> dict[str, Any]:
    empty: dict[str, list[int]] = {"requires": [], "replaces": [], "superseded_by": [], "references": []}
    return {
        "pep": pep,
        "title": title,
        "abstract": None if pep == 314 else "How boats are named.",
        "sha256": f"{pep:064x}",
        **empty,
        **headers,
    }


DOCUMENTS = (
    document(241, "Names of boats", superseded_by=[314], references=[241, 5]),
    document(314, "Names of boats, again", replaces=[241], requires=[241], references=[241]),
)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A folder of data as `make real` reads it."""
    names = ("commit", "at", "pep", "field", "old", "new")
    changes = [dict(zip(names, row, strict=True)) for row in COMMITS]
    for place, rows in ((loading.CHANGES, changes), (loading.DOCUMENTS, DOCUMENTS)):
        path = tmp_path / "data" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path / "data"


def load(context: Context, folder: Path) -> Oracle:
    for name, batch in loading.commands(folder, None).items():
        loading.send_all(context, name, batch)
    return Oracle(folder / loading.CHANGES, folder / loading.DOCUMENTS)


@pytest.mark.case("C01")
def test_the_sample_is_true_to_its_files(context: Context, sample: Path) -> None:
    """Loaded, loaded again, compared with the files at every instant, and verified."""
    found = {stage.name: stage.what for stage in loading.run(context, sample)}

    assert found["load all again"] == "nothing was added"
    assert found["check courses"] == "1 documents returned to an earlier status: 314"
    assert found["check succession"] == "241 → 314, on 2 evidence records"
    assert found["verify"].startswith("events, no fault")


def test_a_belief_closes_where_its_successor_opens(context: Context, sample: Path) -> None:
    """A change supersedes, closes what it supersedes, and keeps its own time beside the effective one."""
    load(context, sample)
    first = get_atom(context, {"atom_id": belief_ref(241, "status", 2), "include_superseded": True})["item"]
    last = get_atom(context, {"atom_id": belief_ref(241, "status", 3)})["item"]

    assert last["provenance"]["supersedes"] == [belief_ref(241, "status", 2)]
    # Accepted at 08:00 UTC; Final was committed with an earlier clock and holds from the same instant.
    assert first["payload"]["validity_interval"] == {
        "from": "2001-02-01T08:00:00.000000Z",
        "until": "2001-02-01T08:00:00.000000Z",
    }
    assert last["payload"]["validity_interval"] == {"from": "2001-02-01T08:00:00.000000Z"}
    assert last["payload"]["qualifiers"]["committed_at"] == "2001-01-15T10:00:00+00:00"


def test_a_change_that_changes_nothing_is_evidence_only(context: Context, sample: Path) -> None:
    """The same status written again adds its commit to the belief that stands, and no second belief."""
    load(context, sample)
    items = list_atoms(context, {"subject": entity_ref(314), "relation": "rel:status"})["items"]
    drafts = [item for item in items if item["payload"]["object"]["value"] == "Draft"]

    assert len(items) == 3
    assert sorted(len(item["evidence_refs"]) for item in drafts) == [1, 2]


def test_headers_are_typed_edges_between_documents(context: Context, sample: Path) -> None:
    """Each header has its relation; a document outside the data, and the document itself, get no edge."""
    load(context, sample)
    shard = context.scope.shard
    edges = context.graph.read(
        "test", lambda tx: checks.edges_of(tx, shard, [document_ref(241), document_ref(314)], ["active"], 50)
    )

    assert sorted((edge.body["source_ref"], edge.body["relation"]) for edge in edges) == [
        (document_ref(241), "rel:replaced_by"),
        (document_ref(314), "rel:references"),
        (document_ref(314), "rel:replaces"),
        (document_ref(314), "rel:requires"),
    ]


def _belief(pep: int, name: str, value: str, **envelope: Any) -> dict[str, Any]:
    return {
        "id": belief_ref(pep, name, 99),
        "type": "belief",
        "payload": {
            "subject": entity_ref(pep),
            "relation": f"rel:{name}",
            "object": {"value_type": "string_literal", "value": value},
            "validity_interval": {"from": "2001-01-05T00:00:00Z"},
        },
        "evidence_refs": ["evd_false"],
        "confidence": {"level": "low"},
        **envelope,
    }


@pytest.mark.parametrize("check", ["check_statuses", "check_courses", "check_one_document"])
def test_the_checks_see_what_is_not_true(context: Context, sample: Path, check: str) -> None:
    """A status that no commit brought makes every check of statuses fail: they are no formality."""
    oracle = load(context, sample)
    false: dict[str, Any] = {
        "evidence_id": "evd_false",
        "source_type": "note",
        "source_ref": "rumour",
        "payload": {},
    }
    in_process(context)("commit", {"events": [false], "atoms": [_belief(241, "status", "Rejected")]}, "false")

    with pytest.raises(CheckError):
        getattr(checks, check)(context, oracle)


def test_the_oracle_counts_returns_without_repeats() -> None:
    """A repeat in a row is no return; coming back after another value is."""
    assert not went_back(collapsed(["Draft", "Draft", "Final"]))
    assert went_back(collapsed(["Draft", "Final", "Draft"]))


def test_without_data_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without the history is exit code 2 and one sentence that names AMOS_DATA."""
    assert program.main(["--data", str(tmp_path)]) == program.NO_DATA
    assert "AMOS_DATA" in capsys.readouterr().err


def test_a_slice_loads_the_documents_it_speaks_of(sample: Path) -> None:
    """The first N changes bring only their documents, and the edges among those."""
    sent = loading.commands(sample, 4)

    assert sum(command.count for command in sent["changes"]) == 4
    assert sum(command.count for command in sent["documents"]) == 1
    assert sent["edges"] == []
