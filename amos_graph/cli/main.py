"""The `amos` command: every command, by name, with an example in its help."""

from __future__ import annotations

from typing import Final

import typer

from amos_graph.cli import administration, backup, indexing, lifecycle, memories, neo4j, reports, verification
from amos_graph.cli.output import Sentences

app: Final = typer.Typer(
    name="amos",
    cls=Sentences,
    help=(
        "Memories for agents, in Neo4j.\n\n"
        "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 not running, 4 verification found faults."
    ),
    epilog='Example: amos up, then amos remember "Mira is away until Thursday."',
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
app.command("up", epilog="Example: amos up")(lifecycle.up)
app.command("down", epilog="Example: amos down")(lifecycle.down)
app.command("status", epilog="Example: amos status --json")(lifecycle.status)
app.command("demo", epilog="Example: amos demo")(administration.demo)
app.command("remember", epilog='Example: amos remember "Mira is away until Thursday."')(memories.remember)
app.command("recall", epilog='Example: amos recall "When is Mira back?" --explain')(memories.recall)
app.command("outcome", epilog="Example: amos outcome pkt_… --helpful belief:release-day --label succeeded")(
    memories.outcome
)
app.command("get", epilog="Example: amos get belief:release-day --as-of 12")(memories.get)
app.command("list", epilog="Example: amos list --type belief --limit 20")(memories.list_memories)
app.command("verify", epilog="Example: amos verify --save-checkpoint head.json")(verification.verify)
app.command("export", epilog="Example: amos export backup.jsonl --all")(backup.export_journal)
app.command("restore", epilog="Example: amos restore backup.jsonl")(backup.restore_journal)
app.command(
    "replay",
    epilog="Example: amos replay --to bolt://127.0.0.1:7688 --password-env SECOND_PASSWORD --all",
)(backup.replay_journal)
app.command("migrate", epilog="Example: amos migrate")(administration.migrate)
app.command("index", epilog="Example: amos index --rebuild")(indexing.index)
app.command("audit", epilog="Example: amos audit growth --format csv")(reports.audit)
app.add_typer(memories.load_app)
app.add_typer(backup.checkpoint_app)
app.add_typer(administration.token_app)
app.add_typer(neo4j.app)
