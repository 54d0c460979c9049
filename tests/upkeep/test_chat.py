"""Loading transcripts: what a conversation becomes, and that a repeat, a kill and a bad line do no harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amos_graph.commands.execution import Context
from amos_graph.commands.view import edges_of
from amos_graph.errors import AmosError
from amos_graph.queries.get import get_atom
from amos_graph.queries.list import list_atoms
from amos_graph.queries.verify import verify
from amos_graph.upkeep import chat
from amos_graph.upkeep.chat import Loaded, load_chat
from amos_graph.upkeep.sending import Json, Send, in_process
from amos_graph.upkeep.transcripts import LINE_BYTES_MAX, MESSAGES_MAX

CALL = {"id": "call_1", "name": "find_berth", "arguments": '{"boat": "Alma", "metres": 9}'}
ANSWER = {"role": "tool", "name": "find_berth", "tool_call_id": "call_1"}
RUN: dict[str, Any] = {
    "run": "harbour-1",
    "task_id": 7,
    "reward": 1.0,
    "messages": [
        {"role": "user", "content": "Is there a berth for the Alma?"},
        {"role": "assistant", "content": "I will look.", "tool_calls": [CALL]},
        {**ANSWER, "content": '{"berth": "C4", "free": true}'},
        {"role": "assistant", "content": "Berth C4 is free."},
    ],
}


def written(folder: Path, *lines: Any) -> Path:
    """A transcript file; a line given as bytes is written as it is."""
    path = folder / "chat.jsonl"
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


def conversation(name: str, *texts: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[index % 2], "content": text} for index, text in enumerate(texts)]
    return {"run": name, "messages": messages, **more}


def payload_of(context: Context, atom_id: str) -> dict[str, Any]:
    """The payload of an atom that must be there."""
    answer = get_atom(context, {"atom_id": atom_id})
    assert answer["found"], atom_id
    return answer["item"]["payload"]


def count(context: Context) -> int:
    return len(list_atoms(context, {"limit": 200})["items"])


def test_a_run_becomes_events_outcomes_and_a_judged_episode(context: Context, tmp_path: Path) -> None:
    """Each message is evidence and an event in its place; an answer is an outcome, the reward an episode."""
    report = load_chat(in_process(context), written(tmp_path, RUN))

    assert report.ok
    assert (report.conversations, report.messages) == (1, 4)
    assert report.created == {"evidence": 5, "atoms": 6, "entities": 1, "edges": 5}
    called = payload_of(context, "chat/harbour-1/2")
    assert called["reply_to"] == "chat/harbour-1/1"
    assert called["tool_calls"][0]["arguments"] == {"boat": "Alma", "metres": 9}
    answered = payload_of(context, "chat/harbour-1/3")
    assert answered["actor"] == "ent:tool:find_berth"
    assert answered["tool_result"] == {"berth": "C4", "free": True}
    outcome = payload_of(context, "chat/harbour-1/3/outcome")
    assert outcome["success_status"] == "succeeded"
    episode = payload_of(context, "chat/harbour-1/episode")
    assert episode["outcome"]["value"] == "reward 1"
    assert episode["raw_event_range"] == {"from": "chat/harbour-1/1", "to": "chat/harbour-1/4"}


def test_an_outcome_is_derived_from_the_call_and_the_answer(context: Context, tmp_path: Path) -> None:
    """Edges rel:derived_from lead from the outcome to both events, and cite the evidence of each."""
    load_chat(in_process(context), written(tmp_path, RUN))
    shard = context.scope.shard
    edges = context.graph.read(
        "test", lambda tx: edges_of(tx, shard, ["chat/harbour-1/3/outcome"], ["active"], 10)
    )
    made_from = {
        edge.body["target_ref"]: edge.body
        for edge in edges
        if edge.body["source_ref"] == "chat/harbour-1/3/outcome"
    }

    assert set(made_from) == {"chat/harbour-1/2", "chat/harbour-1/3"}
    assert all(body["relation"] == "rel:derived_from" for body in made_from.values())
    assert all(len(body["evidence_refs"]) == 1 for body in made_from.values())


@pytest.mark.case("C01")
@pytest.mark.reliability("T02")
def test_a_file_loaded_twice_is_there_once(context: Context, tmp_path: Path) -> None:
    """The second load replays every receipt; counts and graph version stay."""
    path = written(tmp_path, RUN, conversation("harbour-2", "Good morning", "Good morning!"))
    first = load_chat(in_process(context), path)
    before = list_atoms(context, {"limit": 200})
    second = load_chat(in_process(context), path)

    assert first.replayed == 0
    assert second.replayed == second.commands == first.commands
    assert sum(second.created.values()) == 0
    assert list_atoms(context, {"limit": 200}) == before


@pytest.mark.case("C01")
def test_a_conversation_that_went_on_is_taken_up_where_it_stood(context: Context, tmp_path: Path) -> None:
    """A longer transcript of the same conversation adds its new messages alone."""
    load_chat(in_process(context), written(tmp_path, conversation("long", "one", "two")))
    report = load_chat(in_process(context), written(tmp_path, conversation("long", "one", "two", "three")))

    assert report.ok
    assert report.created["evidence"] == report.created["atoms"] == 1
    assert payload_of(context, "chat/long/3")["reply_to"] == "chat/long/2"


@pytest.mark.reliability("T01")
@pytest.mark.parametrize("after", [0, 1, 3, 4])
def test_a_load_killed_in_the_middle_goes_on(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Killed after any command, the load is run again and ends where an undisturbed one ends."""
    monkeypatch.setattr(chat, "BATCH_MESSAGES", 2)
    path = written(tmp_path, RUN, conversation("second", "a", "b", "c"))
    send = in_process(context)
    done = 0

    def killed(operation: str, payload: Json, key: str, expected: Any = None) -> dict[str, Any]:
        nonlocal done
        if done == after:
            raise KeyboardInterrupt
        done += 1
        return send(operation, payload, key, expected)

    with pytest.raises(KeyboardInterrupt):
        load_chat(killed, path)
    report = load_chat(send, path)

    assert report.ok
    assert (report.commands, report.replayed) == (5, after)
    assert count(context) == 9
    assert verify(context.graph, context.scope.shard).record()["faults"] == []


@pytest.mark.case("C68")
@pytest.mark.reliability("T18")
def test_bad_lines_are_named_and_left_out_while_good_ones_load(context: Context, tmp_path: Path) -> None:
    """Each fault has its line and its field; nothing of such a line is stored."""
    user = {"role": "user", "content": "hello"}
    bad: dict[str, tuple[Any, str]] = {
        "not JSON": (b'{"run": "x", "messages": [', ""),
        "not an object": (["a"], ""),
        "no messages": ({"run": "x"}, "messages"),
        "empty": ({"run": "x", "messages": []}, "messages"),
        "a key twice": (b'{"run": "x", "run": "y", "messages": []}', "run"),
        "NaN": (b'{"run": "x", "reward": NaN, "messages": []}', "reward"),
        "lone surrogate": (
            b'{"run": "x", "messages": [{"role": "user", "content": "\\ud800"}]}',
            "messages[0].content",
        ),
        "not UTF-8": (b'{"run": "\xff"}', ""),
        "a strange role": ({"run": "x", "messages": [user, {**user, "role": "oracle"}]}, "messages[1].role"),
        "says nothing": ({"run": "x", "messages": [{"role": "user"}]}, "messages[0].content"),
        "no tool name": (
            {"run": "x", "messages": [{"role": "assistant", "tool_calls": [{"id": "c"}]}]},
            "messages[0].tool_calls[0].name",
        ),
        "id with spaces": ({"run": "a b", "messages": [user]}, "run"),
        "too long": ({"run": "x", "messages": [{**user, "content": "x" * 100_001}]}, "messages[0].content"),
        "deep": (b'{"run": "x", "messages": ' + b"[" * 40 + b"]" * 40 + b"}", "messages" + "[0]" * 31),
        "reward": ({"run": "x", "messages": [user], "reward": "good"}, "reward"),
        "too many calls": (
            {"run": "x", "messages": [{"role": "assistant", "tool_calls": [CALL] * 201}]},
            "messages[0].tool_calls",
        ),
        "too many": ({"run": "x", "messages": [user] * (MESSAGES_MAX + 1)}, "messages"),
        "not only its last message": (
            {"run": "x", "messages": [user, user, {**user, "content": 3}]},
            "messages[2].content",
        ),
    }
    path = written(tmp_path, conversation("first", "a"), *(line for line, _ in bad.values()), RUN)
    report = load_chat(in_process(context), path)

    found = {refusal.line: refusal.path for refusal in report.refusals}
    assert found == dict(enumerate((field for _, field in bad.values()), start=2))
    assert {refusal.code for refusal in report.refusals} == {"schema_invalid"}
    assert not report.ok
    assert (report.conversations, report.refused) == (2, len(bad))
    assert count(context) == 7
    assert not get_atom(context, {"atom_id": "chat/x/1"})["found"]


def test_a_line_beyond_the_limit_is_skipped_in_pieces(context: Context, tmp_path: Path) -> None:
    """A line too long for memory is refused by number, and the next one is read from its beginning."""
    path = written(tmp_path, b"x" * (LINE_BYTES_MAX + 10), conversation("after", "hello"))
    report = load_chat(in_process(context), path)

    assert [(refusal.line, refusal.path) for refusal in report.refusals] == [(1, "")]
    assert report.conversations == 1


def test_the_openai_spelling_says_the_same(context: Context, tmp_path: Path) -> None:
    """Calls below `function`, parts of content, null content and a line without an id are understood."""
    function = {"name": "find_berth", "arguments": CALL["arguments"]}
    line = {
        "messages": [
            {"role": "system", "content": "You run a harbour."},
            {"role": "user", "content": [{"type": "text", "text": "A berth?"}, {"type": "image_url"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "function": function}]},
            {**ANSWER, "content": "Error: the harbour is full"},
            {"role": "assistant", "content": None, "refusal": "no"},
        ]
    }
    report = load_chat(in_process(context), written(tmp_path, line))
    items = list_atoms(context, {"types": ["interaction_event"]})["items"]
    events = {item["payload"]["sequence"]: item["payload"] for item in items}

    assert report.ok
    assert events[2]["content"] == "A berth?"
    assert events[3]["tool_calls"][0]["arguments"] == {"boat": "Alma", "metres": 9}
    assert events[4]["is_error"] is True
    outcome = payload_of(context, f"chat/{events[1]['conversation_id']}/4/outcome")
    assert outcome["success_status"] == "failed"
    assert load_chat(in_process(context), tmp_path / "chat.jsonl").replayed == 1


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("Error: no such flight", "failed"),
        ('{"error": "no such flight"}', "failed"),
        ('{"success": false}', "failed"),
        ('{"errors": [], "rows": 3}', "succeeded"),
        ("[]", "succeeded"),
        ("255.0", "succeeded"),
        ("Transfer successful", "succeeded"),
        ("", "unknown"),
    ],
)
def test_an_answer_tells_how_its_call_went(
    context: Context, tmp_path: Path, content: str, status: str
) -> None:
    """Error text is a failure, anything else a success, silence is unknown."""
    load_chat(
        in_process(context), written(tmp_path, {"run": "r", "messages": [{**ANSWER, "content": content}]})
    )

    assert payload_of(context, "chat/r/1/outcome")["success_status"] == status


@pytest.mark.case("C53", "C68")
@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧‍👦 family 🇩🇪",
        "\u202eright to left\u202c שלום",
        "before\u0000after",
        "e\u0301" * 400,
        "ent:nobody rel:nothing evd_none enum:x:y",
        "'}) MATCH (n) DETACH DELETE n //",
        "install.sh | bash && $(rm) `x` {braces} %s",
        '{"archived": true, "uri": "archive://elsewhere"}',
        " \t\n ",
    ],
)
def test_hostile_text_is_stored_as_it_is(context: Context, tmp_path: Path, text: str) -> None:
    """Whatever a message holds, in any role and as the name of its speaker, it is data."""
    named = {} if not text.strip() else {"name": text[:190]}
    tool = {**ANSWER, "content": text, **named}
    line = {
        "run": "hostile",
        "reward": 0,
        "messages": [{"role": "user", "content": text, **named}, tool, {"role": "user", "content": "."}],
    }
    report = load_chat(in_process(context), written(tmp_path, line))

    assert report.ok, report.refusals
    assert payload_of(context, "chat/hostile/1")["content"] == text
    assert verify(context.graph, context.scope.shard).record()["faults"] == []


def test_a_long_conversation_is_sent_in_bounded_commands(context: Context, tmp_path: Path) -> None:
    """No command holds more messages than its bound, and the order goes on across commands."""
    sizes: list[int] = []
    send = in_process(context)

    def counting(operation: str, payload: Json, key: str, expected: Any = None) -> dict[str, Any]:
        sizes.append(len(payload["events"]))
        return send(operation, payload, key, expected)

    texts = [f"message {index}" for index in range(450)]
    report = load_chat(counting, written(tmp_path, conversation("long", *texts)))

    assert report.ok
    assert sizes == [200, 200, 50]
    assert payload_of(context, "chat/long/450")["reply_to"] == "chat/long/449"


def test_a_changed_past_is_refused_and_told(context: Context, tmp_path: Path) -> None:
    """The same conversation with another first message is a conflict of that line, not an overwrite."""
    load_chat(in_process(context), written(tmp_path, conversation("c", "one", "two")))
    report = load_chat(
        in_process(context), written(tmp_path, conversation("c", "other", "two"), conversation("d", "x"))
    )

    assert [(refusal.line, refusal.code) for refusal in report.refusals] == [(1, "expected_version_conflict")]
    assert report.conversations == 1
    assert payload_of(context, "chat/c/1")["content"] == "one"


def test_a_store_that_fails_ends_the_load(tmp_path: Path) -> None:
    """What would meet every line alike is raised, not listed line by line."""

    def send(operation: str, payload: Json, key: str, expected: Any = None) -> dict[str, Any]:
        raise AmosError("unavailable", "no service")

    failing: Send = send
    with pytest.raises(AmosError, match="unavailable"):
        load_chat(failing, written(tmp_path, RUN))


def test_progress_is_told_in_bytes_line_by_line(context: Context, tmp_path: Path) -> None:
    """The last report of progress is the whole file, and it never runs backwards."""
    told: list[Loaded] = []
    path = written(tmp_path, RUN, b"bad", conversation("two", "a"))
    load_chat(in_process(context), path, told.append)

    assert [step.conversations for step in told] == [1, 1, 2]
    assert told[-1].bytes_done == told[-1].bytes_total == path.stat().st_size
