"""The `amos` command, as a person runs it: in a process of its own, with a home of its own."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main
from typer.testing import CliRunner

from amos_graph import Amos
from amos_graph.cli.credentials import file_name
from amos_graph.cli.main import app
from amos_graph.graph.archive import Archive
from tests.samples import source_event
from tests.server import Server

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`amos` with one home and one Neo4j."""

    environment: dict[str, str]
    home: Path

    def __call__(self, *words: str, code: int = 0) -> str:
        """Run a command in this process, which spares its imports, and return what it printed."""
        unset: dict[str, str | None] = {name: None for name in os.environ if name.startswith("AMOS_")}
        done = CliRunner().invoke(app, list(words), env=unset | self.environment)
        assert done.exit_code == code, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.output
        return done.stdout

    def apart(self, *words: str) -> str:
        """Run a command in a process of its own, as a shell does."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AMOS_")}
        return subprocess.run(
            [sys.executable, "-m", "amos_graph", *words],
            cwd=ROOT,
            env=kept | self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout

    def json(self, *words: str, code: int = 0) -> dict[str, Any]:
        return json.loads(self(*words, "--json", code=code))


@pytest.fixture
def amos_command(server: Server, graph: object, tenant: str, tmp_path: Path) -> Iterator[CommandLine]:
    """A command line whose service is stopped in the end."""
    environment = {
        "AMOS_HOME": str(tmp_path / "home"),
        "AMOS_NEO4J_URI": server.uri,
        "AMOS_NEO4J_USER": server.user,
        "AMOS_NEO4J_PASSWORD": server.password,
        "AMOS_TENANT": tenant,
        "AMOS_WORKSPACE": "w",
        "AMOS_API_PORT": "0",
        "COLUMNS": "200",
    }
    run = CommandLine(environment, tmp_path / "home")
    yield run
    if (run.home / "service" / "state.json").exists():
        run("down")


def _gets_an_artifact(amos: CommandLine, url: str, token: str) -> None:
    """`amos get art_…` while it is current; afterwards only with `--all`."""
    agent = {"subject_agent": "ent:agent:mira"}
    action = {"type": "action_outcome", "evidence_refs": ["evd_1"], "confidence": {"level": "high"}}
    told = {**agent, "action_type": "plan"}
    with Amos(url, token) as client:
        did = {**action, "id": "did", "payload": {**told, "success_status": "succeeded"}}
        client.commit([did], events=[source_event("evd_1")])
        story = {"id": "art_mira", **agent, "narrative": "I plan.", "narrative_scope": "all"}
        cited = {"source_trace_refs": ["did"], "source_counterevidence_refs": []}
        client.record_artifact({**story, **cited, "balance_report": {"failures": 0}})
        assert json.loads(amos("get", "art_mira"))["narrative"] == "I plan."
        assert "not found" in amos("get", "art_nobody", code=1)
        client.commit([{**action, "id": "didnt", "payload": {**told, "success_status": "failed"}}])
    assert amos.json("get", "art_mira", code=1)["artifact"] is None
    assert amos.json("get", "art_mira", "--all")["omissions"] == [{"reason": "outdated", "refs": ["didnt"]}]


def test_up_serves_remembers_recalls_verifies_and_goes_down(amos_command: CommandLine) -> None:
    """The first minute: each command does what its help says, with the documented exit code."""
    amos = amos_command
    first = json.loads(amos.apart("up", "--json"))
    again = amos.json("up")
    assert first["token"].startswith("amos_")
    assert "token" not in again
    assert again["url"] == first["url"]
    assert httpx.get(first["docs_url"], trust_env=False).status_code == 200
    credentials = amos.home / file_name(amos.environment["AMOS_TENANT"], "w")
    assert stat.S_IMODE(credentials.stat().st_mode) == 0o600

    remembered = amos.json("remember", "Mira is away until Thursday.")
    ref = remembered["atom_refs"][0]
    packet = amos.json("recall", "Where is Mira?")
    assert [item["atom_ref"] for item in packet["items"]] == [ref]
    explained = amos("recall", "Where is Mira?", "--explain")
    assert "direct_cue_match" in explained
    assert "“Mira is away until Thursday.”" in explained
    narrowed = ("--focus", "Thursday", "--risk", "cautious", "--novelty", "0.5", "--only", "statement")
    asked = amos.json("recall", "Mira", *narrowed, "--bytes", "9000", "--request", '{"max_items": 3}')[
        "request"
    ]
    assert asked["attention_context"]["risk_posture"] == "cautious"
    assert (asked["token_or_byte_budget"], asked["max_items"]) == ({"bytes": 9000}, 3)
    planned = json.loads(amos("recall", "Mira", "--as", "planner_state"))
    assert [entry["atom_ref"] for entry in planned["beliefs"]] == [ref]
    amos("recall", "Mira", "--where", "subject", code=2)
    assert amos.json("get", ref)["item"]["payload"] == {"statement": "Mira is away until Thursday."}
    told = ("outcome", packet["packet_id"], "--helpful", ref, "--label", "succeeded", "--status", "used")
    assert ref in amos(*told)
    assert amos.json(*told)["updated"] == [ref]
    assert amos.json("get", ref)["item"]["utility"] == 0.55
    amos("outcome", packet["packet_id"], "--helpful", "semantic:other", code=1)
    amos("outcome", packet["packet_id"], "--helpful", ref, "--status", "unused", code=1)
    assert ref in amos("list")
    checkpoint = str(amos.home / "head.json")
    assert amos.json("verify", "--save-checkpoint", checkpoint)["ok"] is True
    assert amos.json("verify", "--checkpoint", checkpoint)["ok"] is True
    status = amos.json("status")
    assert (status["ready"], status["service"]) == (True, first["url"])
    assert status["graph_version"] == 4
    _gets_an_artifact(amos, first["url"], first["token"])

    assert amos.json("down") == {"service": "stopped", "neo4j": "not ours"}
    amos("recall", "Where is Mira?", code=3)
    amos("status", code=3)
    amos("down", code=3)


@pytest.mark.reliability("T28")
def test_up_takes_another_port_when_the_wanted_one_is_taken_and_survives_a_kill(
    amos_command: CommandLine,
) -> None:
    """A stranger's port is left alone; a service that was killed or stopped comes back where it was."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        amos = CommandLine({**amos_command.environment, "AMOS_API_PORT": str(port)}, amos_command.home)
        first = amos.json("up")
        assert f":{port}" not in first["url"]
        assert any(f"port {port} is taken" in note for note in first["notes"])
        pid = amos.json("status")["pid"]
        os.kill(pid, 9)
        second = amos.json("up")
        assert "token" not in second
        assert amos.json("status")["pid"] != pid
        assert second["url"] == first["url"]
    amos("down")
    # The stranger is gone, and the address that people and programs have noted stays.
    third = amos.json("up")
    assert third["url"] == first["url"]
    assert any(f"port {port} was taken once" in note for note in third["notes"])
    amos("down")
    with socket.create_server(("127.0.0.1", int(first["url"].rpartition(":")[2]))):
        assert amos.json("up")["url"].endswith(f":{port}")


def test_tokens_are_created_listed_and_revoked(amos_command: CommandLine) -> None:
    """A token is shown once, works, and is denied after `revoke`."""
    amos = amos_command
    url = amos.json("up")["url"]
    made = amos.json("token", "create", "cli_bot", "--can", "memory.read", "--days", "1")
    headers = {"Authorization": f"Bearer {made['token']}"}

    assert httpx.get(f"{url}/v1/atoms", headers=headers, trust_env=False).status_code == 200
    listed = {client["client_id"]: client for client in amos.json("token", "list")["clients"]}
    assert listed["cli_bot"]["capabilities"] == ["memory.read"]
    assert made["token"] not in json.dumps(listed)
    amos("token", "revoke", "cli_bot")
    assert httpx.get(f"{url}/v1/atoms", headers=headers, trust_env=False).status_code == 401
    amos("token", "create", "cli_bot", "--can", "everything", code=1)


def test_transcripts_are_loaded_and_reports_run(amos_command: CommandLine, tmp_path: Path) -> None:
    """`load chat` twice adds nothing the second time, and `audit` lists reports and runs them."""
    amos = amos_command
    amos("up")
    file = tmp_path / "runs.jsonl"
    said = [{"role": "user", "content": "Is Mira back?"}, {"role": "assistant", "content": "Not yet."}]
    file.write_text(json.dumps({"run": "run-1", "messages": said}) + "\n", encoding="utf-8")

    first = amos.json("load", "chat", str(file))
    second = amos.json("load", "chat", str(file))

    assert first["messages"] == 2
    assert first["created"]["evidence"] > 0
    assert set(second["created"].values()) == {0}
    file.write_text('{"run": 7}\n', encoding="utf-8")
    amos("load", "chat", str(file), code=1)
    assert "growth" in amos.json("audit")["reports"]
    assert amos.json("audit", "growth")["params"]["shard"].endswith("/w")
    assert amos.json("audit", "believed_about", "--param", "about=Mira")["params"]["about"] == "Mira"
    amos("audit", "believed_about", code=1)
    amos("audit", "growth", "--param", "surprise=1", code=1)


def test_what_cannot_be_done_is_said_in_one_sentence(amos_command: CommandLine) -> None:
    """No token yet, no Neo4j, no such report, wrong usage: each has its exit code and no stack trace."""
    amos = amos_command
    amos("recall", "anything", code=3)
    amos("audit", "no_such_report", code=1)
    amos("list", "--limit", "0", code=2)
    amos("nonsense", code=2)
    lost = CommandLine({**amos.environment, "AMOS_NEO4J_URI": "bolt://127.0.0.1:1"}, amos.home)
    lost("migrate", code=3)
    given = {name: value for name, value in amos.environment.items() if name != "AMOS_NEO4J_PASSWORD"}
    CommandLine(given, amos.home)("up", code=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AMOS_API_PORT", "abc"),
        ("AMOS_NEO4J_URI", "foo://x"),
        ("AMOS_NEO4J_URI", "bolt://x:y"),
        ("AMOS_TENANT", "bad tenant!"),
    ],
)
def test_a_setting_that_cannot_be_is_one_sentence(amos_command: CommandLine, name: str, value: str) -> None:
    """A wrong variable is named, without its value, with exit code 2 and as JSON where asked."""
    amos = CommandLine({**amos_command.environment, name: value}, amos_command.home)
    for command in ("status", "up", "list", "migrate", "demo"):
        amos(command, code=2)
    found = amos.json("status", code=2)
    assert found["error"] == "schema_invalid"
    assert found["message"].startswith(f"{name}: ")
    assert value not in found["message"]


def test_the_log_of_a_neo4j_that_never_was_is_exit_code_3(tmp_path: Path) -> None:
    """`amos neo4j logs` says that there is none."""
    CommandLine({"AMOS_HOME": str(tmp_path / "none")}, tmp_path)("neo4j", "logs", code=3)


def test_the_evidence_archive_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Its folder is made with mode 0700."""
    folder = tmp_path / "home" / "archive"
    Archive(folder).put("t/w", b"payload")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_uninstall_takes_the_service_along(amos_command: CommandLine) -> None:
    """Nothing of the home answers any more, and its data is gone."""
    amos = amos_command
    url = amos.json("up")["url"]
    amos("neo4j", "uninstall", "--yes")

    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/live", trust_env=False)
    assert not (amos.home / "neo4j").exists()


def test_a_home_that_cannot_be_made_is_one_sentence(amos_command: CommandLine, tmp_path: Path) -> None:
    """A file in the way of the home is an exit code, not a traceback."""
    (tmp_path / "file").write_text("")
    CommandLine({**amos_command.environment, "AMOS_HOME": str(tmp_path / "file" / "home")}, tmp_path)(
        "up", code=1
    )


def test_the_demo_repeats_itself_beside_the_users_memory(amos_command: CommandLine) -> None:
    """Twice, with the user's own content in between: both succeed, and the user's memory has no story."""
    amos = amos_command
    amos("demo")
    amos("remember", "Lena wants to hear about an outage by pigeon post.")
    kept = amos.home / file_name(amos.environment["AMOS_TENANT"], "demo")
    kept.unlink()
    assert "pigeon" not in amos("demo")

    assert [item["type"] for item in amos.json("list")["items"]] == ["semantic"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    demo = CommandLine({**amos.environment, "AMOS_WORKSPACE": "demo"}, amos.home)
    assert demo.json("get", "story/goal/beta")["found"] is True


def test_a_token_displaces_no_other() -> None:
    """Each tenant and workspace has a file of its own, whatever their names are made of."""
    pairs = [
        ("default", "main"), ("default", "demo"), ("default", "a-b"), ("default", "default"),
        ("a", "b"), ("a-b", "main"), ("a", "main"), ("a", "b-main"), ("demo", "main"), ("main", "default"),
    ]  # fmt: skip
    names = {file_name(*pair) for pair in pairs}

    assert len(names) == len(pairs)
    assert file_name("default", "main") == "credentials.json"
    assert file_name("default", "demo") == "credentials-demo.json"


def test_every_command_has_an_example_in_its_help() -> None:
    """`amos … --help` ends with an example, on every command."""
    pending: list[tuple[str, Any]] = [("amos", typer.main.get_command(app))]
    seen = 0
    while pending:
        name, command = pending.pop()
        if hasattr(command, "commands"):
            pending += [(f"{name} {word}", sub) for word, sub in command.commands.items()]
            continue
        seen += 1
        assert f"Example: {name}" in (command.epilog or ""), name
        assert command.help, name
    assert seen >= 20
