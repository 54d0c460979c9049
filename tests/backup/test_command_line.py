"""`amos export`, `restore`, `replay`, `checkpoint`, `verify --checkpoint`: what a person runs and reads."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from amos_graph.api.app import create_app
from amos_graph.cli.credentials import Credentials, write_credentials
from amos_graph.cli.main import app
from amos_graph.commands.capture import capture
from amos_graph.commands.clients import register_client
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.digest import graph_digest
from tests.administrator import run, wipe
from tests.api.conftest import serving
from tests.samples import source_event
from tests.server import Server


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`amos` with one home and one Neo4j, in this process."""

    environment: dict[str, str]

    def __call__(self, *words: str | Path, code: int = 0) -> Any:
        unset: dict[str, str | None] = {name: None for name in os.environ if name.startswith("AMOS_")}
        done = CliRunner().invoke(app, [str(word) for word in words], env=unset | self.environment)
        assert done.exit_code == code, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.output
        return done

    def json(self, *words: str | Path, code: int = 0) -> dict[str, Any]:
        return json.loads(self(*words, "--json", code=code).stdout)


def command_line(server: Server, home: Path, tenant: str) -> CommandLine:
    return CommandLine(
        {
            "AMOS_HOME": str(home),
            "AMOS_NEO4J_URI": server.uri,
            "AMOS_NEO4J_USER": server.user,
            "AMOS_NEO4J_PASSWORD": server.password,
            "AMOS_TENANT": tenant,
            "AMOS_WORKSPACE": "w",
            "COLUMNS": "250",
        }
    )


@pytest.fixture
def here(server: Server, context: Context) -> CommandLine:
    """The command line of the first store, whose shard has two events."""
    capture(context, {"events": [source_event("evd_one"), source_event("evd_two", payload={"text": "2"})]})
    return command_line(server, context.settings.home, context.settings.tenant)


@pytest.fixture
def over_there(
    second_server: Server, second: Graph, context: Context, tmp_path: Path
) -> Iterator[CommandLine]:
    """The command line of the second store, with a home of its own."""
    yield command_line(second_server, tmp_path / "second", context.settings.tenant)
    wipe(second, context.scope.shard)


def test_a_store_is_exported_checked_and_restored(
    here: CommandLine, over_there: CommandLine, context: Context, tmp_path: Path
) -> None:
    """Each command says what it did; a file with a changed byte is refused with exit code 1 and its line."""
    file, shard = tmp_path / "backup.jsonl", context.scope.shard
    exported = here.json("export", file)["shards"]
    assert [(entry["shard"], entry["events"], entry["receipts"]) for entry in exported] == [(shard, 2, 1)]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "head_hash" in here("export", file).stdout

    checked = over_there.json("restore", file, "--check")
    assert (checked["lines"], checked["shards"][0]["shard"]) == (5, shard)
    assert "5 lines, each as it was written" in over_there("restore", file, "--check").stdout
    restored = over_there.json("restore", file)["shards"]
    assert [(entry["outcome"], entry["events"]) for entry in restored] == [("written", 2)]
    assert "present" in over_there("restore", file).stdout

    content = file.read_bytes()
    file.write_bytes(content.replace(b"evd_two", b"evd_too", 1))
    for words in (["restore", file, "--check"], ["restore", file]):
        refused = over_there.json(*words, code=1)
        assert refused["error"] == "schema_invalid"
        assert "line " in refused["message"]
    over_there("restore", tmp_path / "absent", code=2)
    nobody = CommandLine({**here.environment, "AMOS_WORKSPACE": "nobody"})
    assert nobody.json("export", file, code=1)["error"] == "not_found"


def test_every_shard_goes_into_one_file(over_there: CommandLine, here: CommandLine, tmp_path: Path) -> None:
    """`--all` takes the system's shard too, and each shard of a store that has several."""
    small = tmp_path / "one.jsonl"
    here("export", small)
    over_there("migrate")
    over_there("restore", small)
    exported = over_there.json("export", tmp_path / "all.jsonl", "--all")["shards"]

    assert {"_system/_system", here.json("export", small)["shards"][0]["shard"]} <= {
        entry["shard"] for entry in exported
    }
    assert [entry["outcome"] for entry in over_there.json("restore", tmp_path / "all.jsonl")["shards"]] == [
        "present"
    ] * len(exported)


def test_a_store_is_replayed_onto_a_second_server(
    here: CommandLine, over_there: CommandLine, second: Graph, second_server: Server, context: Context
) -> None:
    """The digests of both are printed; a target that differs is exit code 4, one that is away 3."""
    asked = ["replay", "--to", second_server.uri, "--user", second_server.user]
    one = CommandLine({**here.environment, "AMOS_REPLAY_PASSWORD": second_server.password})
    done = one.json(*asked)
    digest = graph_digest(context.graph, context.scope.shard).digest
    assert (done["equal"], done["shards"][0]["source_digest"], done["shards"][0]["target_digest"]) == (
        True,
        digest,
        digest,
    )
    assert "equal" in one(*asked).stdout
    wipe(second, context.scope.shard)
    assert "written" in one(*asked).stdout
    run(second, "MATCH (n:Evidence {shard: $shard}) SET n.note = 'x'", shard=context.scope.shard)
    assert "DIFFERENT" in one(*asked, code=4).stdout

    assert here.json(*asked, code=1)["error"] == "schema_invalid"
    away = CommandLine({**one.environment, "AMOS_RETRY_S": "0.1"})
    assert away.json("replay", "--to", "bolt://127.0.0.1:9", code=3)["error"] == "unavailable"
    one("replay", "--to", "nowhere", code=2)


@pytest.fixture
def served(here: CommandLine, context: Context, graph: Graph) -> Iterator[CommandLine]:
    """The command line of the first store, with a service that it can ask."""
    settings = context.settings
    everything = {"id": "cli_reader", "service_id": "svc:reader", "capabilities": list(CAPABILITIES)}
    token = register_client(context, everything).token
    with serving(create_app(graph, settings, Archive(settings.archive_folder))) as url:
        write_credentials(settings, Credentials(url, "cli_reader", token, settings.tenant, "w"))
        yield here


@pytest.mark.reliability("T09")
def test_checkpoints_are_taken_kept_and_compared(
    served: CommandLine, context: Context, tmp_path: Path
) -> None:
    """Signed on the way out, verified on the way in; several at once, and told when one is unsigned."""
    amos = served
    monday, tuesday, public = tmp_path / "monday.json", tmp_path / "tuesday.json", tmp_path / "amos.pub"
    assert "3" in amos("checkpoint", "--out", monday).stdout
    capture(context, {"events": [source_event("evd_three")]})
    taken = amos.json("checkpoint")
    assert (taken["graph_version"], taken["shard"]) == (4, context.scope.shard)
    tuesday.write_text(amos("checkpoint").stdout)
    assert json.loads(tuesday.read_text())["signature"]
    amos("checkpoint", "key", "--out", public)
    assert amos("checkpoint", "key").stdout == public.read_text()
    assert amos.json("checkpoint", "key")["key_id"] == taken["key_id"]

    both = ["--checkpoint", monday, "--checkpoint", tuesday]
    report = amos.json("verify", *both, "--public-key", public, "--digest")
    assert report["ok"] is True
    assert [kept["graph_version"] for kept in report["checkpoints"]] == [3, 4]
    assert report["digest"]["digest"] == graph_digest(context.graph, context.scope.shard).digest
    assert "it fits 2 checkpoints" in amos("verify", *both).stdout
    assert "WARNING" not in amos("verify", *both).output
    saved = tmp_path / "saved.json"
    amos("verify", "--save-checkpoint", saved)
    assert amos.json("verify", "--checkpoint", saved)["ok"] is True
    assert amos.json("checkpoint", "compare", monday, tuesday)["outcome"] == "ordered"
    assert "same" in amos("checkpoint", "compare", saved, tuesday).stdout

    record = json.loads(tuesday.read_text())
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps({**record, "head_hash": "sha256:" + "0" * 64}))
    assert amos.json("verify", "--checkpoint", forged, code=1)["error"] == "authorization_denied"
    unsigned = {name: value for name, value in record.items() if name not in ("signature", "key_id")}
    forged.write_text(json.dumps({**unsigned, "head_hash": "sha256:" + "0" * 64}))
    told = amos("verify", *both, "--checkpoint", forged, code=4)
    assert "is not signed" in told.output
    assert "is not the one that the checkpoint names" in told.output
    assert amos.json("checkpoint", "compare", tuesday, forged, code=4)["outcome"] == "conflict"
    forged.write_text(json.dumps({**unsigned, "shard": "another/w"}))
    assert "it is a checkpoint of another/w" in amos("verify", "--checkpoint", forged, code=1).output
    forged.write_text(json.dumps({**unsigned, "graph_version": 120}))
    assert "checkpoint at 120, store at 4" in amos("verify", "--checkpoint", forged, code=4).output


def test_all_shards_are_verified_with_their_digests(over_there: CommandLine) -> None:
    """`amos verify --all --digest` prints one for each shard; it takes no checkpoint."""
    over_there("migrate")
    report = over_there.json("verify", "--all", "--digest")
    (system,) = [entry for entry in report["reports"] if entry["shard"] == "_system/_system"]
    assert len(system["digest"]["digest"]) == 64
    assert system["digest"]["digest"] in over_there("verify", "--all", "--digest").stdout
    over_there("verify", "--all", "--checkpoint", "x", code=2)
