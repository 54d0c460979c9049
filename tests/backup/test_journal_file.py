"""A journal file that was touched is refused, with the line at which, and nothing is imported (T31)."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos_graph.commands.execution import Context
from amos_graph.domain.canonical import canonical_bytes
from amos_graph.domain.events import body_digest, checksum
from amos_graph.domain.journal_check import check_lines
from amos_graph.domain.journal_file import read_lines
from amos_graph.domain.scope import CAPABILITIES, Identity, Scope
from amos_graph.errors import AmosError
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.journal import journal_head
from amos_graph.settings import Settings
from amos_graph.upkeep.restore import check_file, restore
from tests.administrator import run
from tests.backup.conftest import LINE_BYTES_MAX, Told, history

SEED = 31


@pytest.fixture(scope="module")
def written(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """A shard with a history, of this module, which changes files and never the shard."""
    folder = tmp_path_factory.mktemp("written")
    scope = Scope(tenant_id=f"t{uuid.uuid4().hex[:12]}", workspace_id="w")
    identity = Identity("cli_test", "svc:test", "test", scope, frozenset(CAPABILITIES))
    context = Context(graph, Settings(), Archive(folder / "archive"), identity, scope)

    def context_of(**envelope: Any) -> Context:
        return replace(context, **envelope)

    return history(context_of, folder)


@pytest.fixture(scope="module")
def lines(written: Told) -> list[bytes]:
    """The lines of an exported file, with their ends."""
    return written.export().read_bytes().splitlines(keepends=True)


def refused(raw: bytes, folder: Path) -> AmosError:
    """The refusal of a file with this content."""
    file = folder / "touched.jsonl"
    file.write_bytes(raw)
    with pytest.raises(AmosError) as told:
        check_file(file, line_bytes_max=LINE_BYTES_MAX)
    assert told.value.code == "schema_invalid"
    return told.value


def line_of(error: AmosError) -> int:
    """The line that a refusal names, in its message and as the path of its faults."""
    first = error.message.split(":")[0].split(".")[0]
    assert first.startswith("line "), error.message
    assert error.faults[0].path.split(".")[0].split("[")[0] == first
    return int(first.removeprefix("line "))


@pytest.mark.reliability("T31")
def test_every_flipped_bit_is_found_at_its_line(lines: list[bytes], tmp_path: Path) -> None:
    """The first, the last and a dozen others, several bits of each: its beginning and its end included."""
    print("seed", SEED)
    chance = random.Random(SEED)  # noqa: S311 - reproducible, and nothing secret
    numbers = {1, 2, len(lines), *(chance.randrange(1, len(lines)) for _ in range(12))}
    for number, line in enumerate(lines, start=1):
        if number not in numbers:
            continue
        places = {0, len(line) - 1, len(line) - 2, *(chance.randrange(len(line)) for _ in range(4))}
        for place in sorted(places):
            changed = bytearray(line)
            changed[place] ^= 1 << chance.randrange(8)
            # The lines before are known to be sound, and the first one cannot be told without them.
            raw = b"".join([*lines[: number - 1], bytes(changed), *lines[number : number + 2]])
            assert line_of(refused(raw, tmp_path)) == number, (number, place)


def dropped(lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[:at], *lines[at + 1 :]]


#: What is done to the lines → the number of the line that is named, counted from the place.
EDITS: dict[str, tuple[Callable[[list[bytes], int], list[bytes]], int]] = {
    "cut in the middle": (lambda ls, at: [*ls[:at], ls[at][: len(ls[at]) // 2]], 1),
    "cut before its end": (lambda ls, at: [*ls[:at], ls[at][:-1]], 1),
    "joined with the next": (lambda ls, at: [*ls[:at], ls[at][:-1], *ls[at + 1 :]], 1),
    "CRLF": (lambda ls, at: [*ls[:at], ls[at][:-1] + b"\r\n", *ls[at + 1 :]], 1),
    "a space in it": (lambda ls, at: [*ls[:at], ls[at].replace(b":", b": ", 1), *ls[at + 1 :]], 1),
    "an empty line before it": (lambda ls, at: [*ls[:at], b"\n", *ls[at:]], 1),
    "doubled": (lambda ls, at: [*ls[: at + 1], ls[at], *ls[at + 1 :]], 2),
    "dropped": (dropped, 1),
    "swapped with the next": (lambda ls, at: [*ls[:at], ls[at + 1], ls[at], *ls[at + 2 :]], 1),
    "another line in its place": (lambda ls, at: [*ls[:at], ls[at - 1], *ls[at + 1 :]], 1),
    "not UTF-8": (lambda ls, at: [*ls[:at], b"\xff\xfe\n", *ls[at + 1 :]], 1),
    "other JSON": (lambda ls, at: [*ls[:at], b'{"a":1}\n', *ls[at + 1 :]], 1),
    "a list": (lambda ls, at: [*ls[:at], b"[]\n", *ls[at + 1 :]], 1),
    "a number": (lambda ls, at: [*ls[:at], b"17\n", *ls[at + 1 :]], 1),
    "deep": (lambda ls, at: [*ls[:at], b'{"event":' + b"[" * 100_000 + b"\n", *ls[at + 1 :]], 1),
    "a huge line": (lambda ls, at: [*ls[:at], b"x" * (LINE_BYTES_MAX + 1) + b"\n", *ls[at:]], 1),
    "a key twice": (lambda ls, at: [*ls[:at], b'{"end":1,' + ls[at][1:], *ls[at + 1 :]], 1),
}


@pytest.mark.reliability("T31")
@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_of_lines_is_found_where_it_begins(lines: list[bytes], tmp_path: Path, edit: str) -> None:
    """At the first, a middle and the last lines."""
    change, named = EDITS[edit]
    for at in (1, len(lines) // 2, len(lines) - 2):
        assert line_of(refused(b"".join(change(lines, at)), tmp_path)) == at + named, at


@pytest.mark.reliability("T31")
def test_a_file_that_ends_early_or_late_is_refused(lines: list[bytes], tmp_path: Path) -> None:
    """Cut at any line, empty, of another kind, or with something behind its end."""
    for kept in {*range(1, len(lines), 9), len(lines) - 1}:
        assert line_of(refused(b"".join(lines[:kept]), tmp_path)) == kept + 1
    assert "the file is empty" in refused(b"", tmp_path).message
    assert "this is no file of amos-journal.v1" in refused(b'{"a":1}\n', tmp_path).message
    assert line_of(refused(b"not JSON\n", tmp_path)) == 1
    assert line_of(refused(b"\x1f\x8b\x08\x00 gzip, say\n", tmp_path)) == 1
    assert line_of(refused(b"".join([*lines, *lines]), tmp_path)) == len(lines) + 1
    assert line_of(refused(b"".join([*lines, b"\n"]), tmp_path)) == len(lines) + 1
    with pytest.raises(AmosError, match="cannot be read"):
        check_file(tmp_path / "absent", line_bytes_max=LINE_BYTES_MAX)


@pytest.mark.reliability("T31")
def test_a_huge_line_is_not_read_to_its_end(tmp_path: Path) -> None:
    """A line without an end of a gigabyte is refused at the limit; the file has no blocks at all."""
    file = tmp_path / "huge.jsonl"
    with file.open("wb") as hollow:
        hollow.truncate(1_000_000_000)
    with pytest.raises(AmosError, match=r"line 1: it is longer than 10000 bytes"):
        check_file(file, line_bytes_max=10_000)


@pytest.mark.reliability("T31")
@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
)
@given(data=st.data())
def test_no_edit_of_bytes_is_taken_and_none_crashes(lines: list[bytes], data: st.DataObject) -> None:
    """Bytes replaced, taken out or put in anywhere: the file is refused at a line, whatever they are."""
    raw = b"".join(lines)
    begin = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(begin, min(len(raw), begin + 2_000)))
    new = data.draw(
        st.binary(max_size=200) | st.sampled_from([b"\n", b"\r\n", b"{}", b"\x00", b'"', b"}\n{"])
    )
    changed = raw[:begin] + new + raw[end:]
    if changed == raw:
        return
    with pytest.raises(AmosError) as told:
        list(check_lines(read_lines(changed.splitlines(keepends=True))))
    expected = raw[:begin].count(b"\n") + 1
    assert told.value.code == "schema_invalid"
    assert line_of(told.value) in (expected, expected + 1)


def entries_of(lines: list[bytes]) -> list[dict[str, Any]]:
    """What the lines say, without number and digest."""
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [{k: v for k, v in entry.items() if k not in ("line", "line_digest")} for entry in found]


def rechained(entries: list[dict[str, Any]]) -> list[bytes]:
    """Lines as a forger writes them: numbered and chained as an export does it."""
    import hashlib  # noqa: PLC0415 - a second way to make the digests, apart from the code under test

    digest, made = "", list[bytes]()
    for number, entry in enumerate(entries, start=1):
        numbered = {**entry, "line": number}
        digest = hashlib.sha256(digest.encode() + canonical_bytes(numbered)).hexdigest()
        made.append(canonical_bytes({**numbered, "line_digest": digest}) + b"\n")
    return made


def test_the_lines_of_a_file_are_as_the_documents_say(lines: list[bytes]) -> None:
    """Another reading of the format, with nothing but SHA-256 and canonical JSON, makes the same bytes."""
    assert rechained(entries_of(lines)) == lines
    kinds = {
        next(iter({"format", "event", "receipt", "archived", "end"} & e.keys())) for e in entries_of(lines)
    }
    assert kinds == {"format", "event", "receipt", "archived", "end"}


def event_with(entries: list[dict[str, Any]], kind: str) -> int:
    """The place of the first event that wrote a record of this kind."""
    return next(
        place
        for place, entry in enumerate(entries)
        if "event" in entry and any(version["kind"] == kind for version in entry["versions"])
    )


def kind_at(entries: list[dict[str, Any]], name: str, nth: int = 0) -> int:
    return [place for place, entry in enumerate(entries) if name in entry][nth]


def _body(entries: list[dict[str, Any]]) -> int:
    at = event_with(entries, "atom")
    entries[at]["versions"][0]["body"] = entries[at]["versions"][0]["body"].replace("active", "archived")
    return at


def _body_and_digest(entries: list[dict[str, Any]]) -> int:
    at = event_with(entries, "atom")
    version, event = entries[at]["versions"][0], entries[at]["event"]
    version["body"] = version["body"].replace("active", "archived")
    event["payload"]["writes"][0]["digest"] = body_digest(version["salt"], version["body"])
    event["checksum"] = checksum(event)
    # The event is sound by itself now; the next one does not follow it.
    return kind_at(entries, "event", event["graph_version"])


def _forged_record(entries: list[dict[str, Any]], text: str) -> int:
    """A body that is no record, under a chain that was rewritten from there to its head."""
    at = event_with(entries, "atom")
    version = entries[at]["versions"][0]
    version["body"] = text
    digest = body_digest(version["salt"], text)
    entries[at]["event"]["payload"]["writes"][0]["digest"] = digest
    _rewritten(entries)
    return at


def _rewritten(entries: list[dict[str, Any]]) -> None:
    """New checksums from the first event to the head, and a header and an end that fit them."""
    head = ""
    for entry in entries:
        if "event" in entry:
            event = entry["event"]
            event["previous_event_hash"] = head or event["previous_event_hash"]
            head = event["checksum"] = checksum(event)
    entries[0]["head_hash"] = entries[-1]["end"]["head_hash"] = head


def _without_event(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "event", 5)
    del entries[at]
    return kind_at(entries, "event", 5)


def _swapped_events(entries: list[dict[str, Any]]) -> int:
    one, other = kind_at(entries, "event", 2), kind_at(entries, "event", 3)
    entries[one], entries[other] = entries[other], entries[one]
    return one


def _moved_receipt(entries: list[dict[str, Any]]) -> int:
    entry = entries.pop(kind_at(entries, "receipt"))
    entries.insert(2, entry)
    return 2


def _doubled_receipt(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "receipt")
    entries.insert(at, entries[at])
    return at + 1


def _dropped_receipt(entries: list[dict[str, Any]]) -> int:
    del entries[kind_at(entries, "receipt")]
    return len(entries) - 1


def _empty_receipt(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "receipt")
    entries[at]["receipt"]["result"] = "{}"
    return at


def _other_payload(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "archived")
    entries[at]["content"] = "AAAA"
    return at


def _dropped_payload(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "archived")
    del entries[at]
    return at


def _other_shard(entries: list[dict[str, Any]]) -> int:
    entries[0]["shard"] = entries[-1]["end"]["shard"] = "else/where"
    return 1


def _torn_command(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "event", 1)
    entries[at]["event"]["payload"]["command"] = {"first": 2, "last": 2}
    _rewritten(entries)
    return at


def _smuggled_field(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "event", 4)
    entries[at]["event"]["note"] = None
    return at


def _unknown_member(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "event", 4)
    entries[at]["note"] = "smuggled"
    return at


def _counts(entries: list[dict[str, Any]]) -> int:
    entries[-1]["end"]["versions"] += 1
    return len(entries) - 1


def _of_two(entries: list[dict[str, Any]]) -> int:
    entries[0]["parts"] = 2
    return len(entries)


def _nothing_of_an_event(entries: list[dict[str, Any]]) -> int:
    at = kind_at(entries, "event", 4)
    entries[at]["event"] = {"payload": {"writes": 7}}
    return at


FORGERIES: dict[str, tuple[Callable[[list[dict[str, Any]]], int], str]] = {
    "a body": (_body, "body_digest"),
    "a body and its event": (_body_and_digest, "wrong_predecessor"),
    "a body that is no JSON": (lambda e: _forged_record(e, "{"), "is no atom"),
    "a body that is no record": (lambda e: _forged_record(e, "{}"), "is no atom"),
    "an event taken out": (_without_event, "gap"),
    "events swapped": (_swapped_events, "gap"),
    "a receipt moved": (_moved_receipt, "does not belong here"),
    "a receipt doubled": (_doubled_receipt, "each once"),
    "a receipt dropped": (_dropped_receipt, "counts"),
    "a receipt of nothing": (_empty_receipt, "no receipt of this version"),
    "another payload": (_other_payload, "not what its digest names"),
    "a payload dropped": (_dropped_payload, "no line before holds"),
    "another shard": (_other_shard, "another shard"),
    "a command torn": (_torn_command, "command around it"),
    "a null field": (_smuggled_field, "a field that no event has"),
    "an unknown member": (_unknown_member, "note"),
    "the counts": (_counts, "counts"),
    "a second shard promised": (_of_two, "shard 2 of 2"),
    "something else in place of an event": (_nothing_of_an_event, "is no event"),
}


@pytest.mark.reliability("T31", "T08")
@pytest.mark.parametrize("what", FORGERIES)
def test_a_forger_who_numbers_and_chains_the_lines_anew_is_found_too(
    lines: list[bytes], tmp_path: Path, what: str
) -> None:
    """Lines that fit each other are not yet a journal: chain, bodies, commands, receipts and counts are."""
    forge, message = FORGERIES[what]
    entries = entries_of(lines)
    at = forge(entries)
    error = refused(b"".join(rechained(entries)), tmp_path)

    assert message in error.message
    assert line_of(error) == at + 1


@pytest.mark.reliability("T31", "T29")
def test_a_refused_file_imports_nothing(
    written: Told, lines: list[bytes], second: Graph, second_archive: Archive, tmp_path: Path
) -> None:
    """One byte changed in the last line: the store is as before, the archive is empty."""
    file = tmp_path / "touched.jsonl"
    changed = lines[-1].replace(b'"events":', b'"events" ', 1)
    file.write_bytes(b"".join([*lines[:-1], changed]))
    with pytest.raises(AmosError, match=f"line {len(lines)}"):
        restore(second, second_archive, file, line_bytes_max=LINE_BYTES_MAX)

    assert journal_head(second, written.shard) is None
    assert run(second, "MATCH (n {shard: $shard}) RETURN count(n) AS n", shard=written.shard) == [{"n": 0}]
    assert not (tmp_path / "second" / "archive").exists()
