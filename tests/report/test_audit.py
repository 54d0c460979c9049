"""`amos audit`: the same rows as a table, as JSON and as CSV, and what each format does to them."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from amos_graph.cli import reports
from amos_graph.cli.main import app
from amos_graph.commands.commit import commit
from amos_graph.commands.execution import Context
from amos_graph.queries.report import REPORTS
from amos_graph.settings import Settings

Amos = Callable[..., Any]


@pytest.fixture
def audit(settings: Settings) -> Amos:
    """Run `amos audit` on the test's shard and return what it printed."""
    assert settings.neo4j_uri is not None
    assert settings.neo4j_password is not None
    unset: dict[str, str | None] = {name: None for name in os.environ if name.startswith("AMOS_")}
    environment = unset | {
        "AMOS_HOME": str(settings.home),
        "AMOS_NEO4J_URI": settings.neo4j_uri,
        "AMOS_NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
        "AMOS_TENANT": settings.tenant,
        "AMOS_WORKSPACE": settings.workspace,
    }

    def run(*words: str, code: int = 0) -> Any:
        done = CliRunner().invoke(app, ["audit", *words], env=environment)
        assert done.exit_code == code, done.output
        return done

    return run


def _csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_reports_are_listed_with_title_and_typed_parameters(audit: Amos) -> None:
    """In each format; the JSON has a sample for Browser too."""
    table, listed = audit().stdout, json.loads(audit("--json").stdout)["reports"]
    rows = _csv(audit("--format", "csv").stdout)

    assert set(listed) == set(REPORTS) == {row["report"] for row in rows}
    assert "Most inhibited" in table
    assert "since INTEGER?" in table.replace("\n", " ")
    assert listed["history_of"]["params"] == {"shard": "STRING", "ref": "STRING", "limit": "INTEGER"}
    assert listed["history_of"]["columns"]["body"] == "JSON"
    assert listed["growth"]["browser"].startswith(':params {"shard": ')


def test_the_three_formats_have_the_same_rows(story: Context, audit: Amos) -> None:
    """Lists are JSON text in CSV and lines in a table; nothing is `None`."""
    about = ("believed_about", "-p", "about=Amos")
    as_json = json.loads(audit(*about, "--format", "json").stdout)
    as_csv = _csv(audit(*about, "--format", "csv").stdout)
    as_table = audit(*about).stdout

    assert as_json == json.loads(audit(*about, "--json").stdout)
    assert (as_json["report"], as_json["cut"]) == ("believed_about", False)
    assert [row["atom_id"] for row in as_json["rows"]] == ["belief:works", "belief:rests"]
    for row, fields in zip(as_json["rows"], as_csv, strict=True):
        assert list(row) == list(fields)
        assert json.loads(fields["evidence"]) == row["evidence"]
        assert float(fields["confidence"]) == row["confidence"]
        assert fields["valid_until"] == ""
        assert all(evidence in as_table for evidence in row["evidence"])
    assert "None" not in as_table


def test_csv_is_what_rfc_4180_says(story: Context, audit: Amos) -> None:
    """A header row, CR LF after each row, quotes where a field has a comma or a quote."""
    printed: bytes = audit("why_archived", "--format", "csv").stdout_bytes

    first, second, rest = printed.split(b"\r\n")
    assert first.decode().split(",") == list(REPORTS["why_archived"].header.fields)
    assert b'"{""reason"":""It was said in jest.""}"' in second
    assert rest == b""


@pytest.mark.parametrize("told", ["=1+2", "+1", "-1 apple", "@SUM(A1)", "＝1"])
def test_a_spreadsheet_runs_nothing_that_a_memory_says(context: Context, audit: Amos, told: str) -> None:
    """A text that would be a formula is led by an apostrophe in CSV; JSON has it as it is."""
    record = {
        "type": "semantic",
        "payload": {"statement": told},
        "evidence_refs": ["evd_t"],
        "confidence": {"level": "low"},
    }
    event = {"evidence_id": "evd_t", "source_type": "t", "source_ref": "t", "payload": {"text": "t"}}
    commit(context, {"events": [event], "atom": record})
    (row,) = [
        row for row in _csv(audit("orphans", "--format", "csv").stdout) if row["kind"] == "unlinked_atom"
    ]
    (plain,) = json.loads(audit("orphans", "--json").stdout)["rows"]

    assert row["title"] == f"'{told}"
    assert plain["title"] == told


def test_numbers_stay_numbers_in_csv() -> None:
    """A negative number begins with a sign and is no formula."""
    printed = [reports._field(value) for value in (-1, -0.5, None, True, ["-1"], "\tx", "x")]  # pyright: ignore[reportPrivateUsage]

    assert printed == [-1, -0.5, None, "true", '["-1"]', "'\tx", "x"]


def test_what_a_record_says_is_readable_and_shows_what_changed(
    story: Context, audit: Amos, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that would not fit is a block a row; JSON is one value a line, without what is as above."""
    monkeypatch.setattr(reports.out, "width", 100)
    history = ("history_of", "-p", "ref=belief:gone")
    first, second = audit(*history).stdout.split("── 2 ──")

    assert "payload.relation: rel:knows" in first
    assert "{" not in first
    assert "lifecycle_state: archived" in second
    assert "(before) lifecycle_state: active" in second
    assert "payload.relation" not in second
    assert "lines as above)" in second
    assert (
        json.loads(audit(*history, "--json").stdout)["rows"][0]["body"]["payload"]["relation"] == "rel:knows"
    )


def test_a_table_is_drawn_where_it_fits(story: Context, audit: Amos, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same report, on a wide and on a narrow terminal."""
    monkeypatch.setattr(reports.out, "width", 200)
    wide = audit("why_archived").stdout
    monkeypatch.setattr(reports.out, "width", 60)
    narrow = audit("why_archived").stdout

    assert "┃" in wide
    assert "reason: It was said in jest." in wide
    assert "┃" not in narrow
    assert "reason: It was said in jest." in narrow


def test_a_terminal_obeys_nothing_that_a_memory_says() -> None:
    """Control characters of a text are shown and not sent."""
    lines = reports._lines("a\x1b[31mb\x07\nc", "STRING")  # pyright: ignore[reportPrivateUsage]

    assert lines == ["a\\x1b[31mb\\x07", "c"]


def test_a_cut_report_says_so(story: Context, audit: Amos) -> None:
    """On standard error, so that the rows stay rows; JSON has it in its object."""
    cut = audit("changes_between", "-p", "limit=2", "--format", "csv")

    assert len(_csv(cut.stdout)) == 2
    assert "the first 2 rows" in cut.stderr
    assert json.loads(audit("changes_between", "-p", "limit=2", "--json").stdout)["cut"] is True


def test_an_empty_report_is_no_empty_frame(story: Context, audit: Amos) -> None:
    """A sentence, the header row alone, or an empty list."""
    assert audit("strays").stdout == "Strays: nothing found\n"
    assert audit("strays", "--format", "csv").stdout_bytes == b"kind,label,ref,title\r\n"
    assert json.loads(audit("strays", "--json").stdout)["rows"] == []


def test_two_formats_at_once_are_wrong_usage(audit: Amos) -> None:
    """And so is a format that there is not."""
    audit("growth", "--json", "--format", "csv", code=2)
    audit("growth", "--format", "xml", code=2)
    assert json.loads(audit("growth", "--json", "--format", "json").stdout)["rows"] == []
