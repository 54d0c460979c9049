"""`amos verify`: through the service, or with `--all` of every shard, past it; checkpoints and digests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from amos_graph.cli.administration import opened
from amos_graph.cli.memories import connected
from amos_graph.cli.output import FAULTS_FOUND, JsonOption, counted, err, out, print_json, print_table
from amos_graph.client import Amos
from amos_graph.domain.checkpoint import Checkpoint, signer_of
from amos_graph.errors import AmosError, invalid
from amos_graph.queries.digest import graph_digest
from amos_graph.queries.verify import verify_all
from amos_graph.settings import Settings
from amos_graph.upkeep.checkpoints import known_keys, read_checkpoint, take

KeyOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--public-key", help="A public key to trust; may repeat. Default: the one of AMOS_HOME/keys."
    ),
]


def verify(
    *,
    checkpoints: Annotated[
        list[Path] | None,
        typer.Option("--checkpoint", help="Also compare with a checkpoint that was kept; may repeat."),
    ] = None,
    public_keys: KeyOption = None,
    save: Annotated[
        Path | None, typer.Option("--save-checkpoint", help="Keep the present head in this file, signed.")
    ] = None,
    first: Annotated[int | None, typer.Option("--first", min=1, help="Only events from here …")] = None,
    last: Annotated[int | None, typer.Option("--last", min=1, help="… to here.")] = None,
    digest: Annotated[
        bool, typer.Option("--digest", help="Also digest the graph, with the database's own login.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Every shard of the store, with the database's own login.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Verify the journal's chain, every body and every projected record; exit code 4 for faults."""
    if every:
        if checkpoints or public_keys or any(option is not None for option in (save, first, last)):
            raise typer.BadParameter("--all takes neither a range nor a checkpoint")
        _verify_store(digest, as_json)
        return
    settings = Settings()
    with connected(as_json) as amos:
        kept = read_checkpoints(checkpoints or [], public_keys or [], settings)
        report = _verified(amos, kept, first=first, last=last)
        if save is not None and report["ok"]:
            write_text(save, checkpoint_text(take(report["checkpoint"], settings.home)))
    if digest:
        with opened(as_json) as (graph, _), counted("digesting") as tell:
            report["digest"] = graph_digest(graph, report["shard"], tell).record()
    if as_json:
        print_json(report)
    else:
        show_report(report)
    if not report["ok"]:
        raise typer.Exit(FAULTS_FOUND)


def read_checkpoints(files: Sequence[Path], keys: Sequence[Path], settings: Settings) -> list[Checkpoint]:
    """Checkpoints whose signatures a known key made; one without a signature is taken, and told loudly.

    Raises `authorization_denied` for a signature of nobody known, `schema_invalid` for another shard's.
    """
    if not files:
        return []
    pinned = known_keys(keys, settings.home)
    shard = f"{settings.tenant}/{settings.workspace}"
    found: list[Checkpoint] = []
    for file in files:
        checkpoint = read_checkpoint(file)
        if checkpoint.shard != shard:
            raise invalid(str(file), f"it is a checkpoint of {checkpoint.shard}, not of {shard}")
        warn_unsigned(file, signer_of(checkpoint, pinned))
        found.append(checkpoint)
    return found


def warn_unsigned(file: Path, signer: str | None) -> None:
    if signer is None:
        err.print(
            f"WARNING: {file} is not signed. It shows what whoever wrote the file wants it to show.",
            markup=False,
            style="bold red",
        )


def _verified(
    amos: Amos, checkpoints: Sequence[Checkpoint], *, first: int | None, last: int | None
) -> dict[str, Any]:
    """One verification, compared with every checkpoint; `checkpoints` of the report says with which."""
    asked = [
        {f"checkpoint_{name}": getattr(kept, name) for name in ("store_id", "graph_version", "head_hash")}
        for kept in checkpoints
    ]
    report = amos.verify(first=first, last=last, **(asked[0] if asked else {})).payload
    for further in asked[1:]:
        # The chain is walked once; of the others only the event that they name is looked at.
        again = amos.verify(first=1, last=1, **further).payload
        report["faults"] += [fault for fault in again["faults"] if fault not in report["faults"]]
        report["ok"] &= again["ok"]
    report["checkpoints"] = [kept.record() for kept in checkpoints]
    return report


def _verify_store(digest: bool, as_json: bool) -> None:
    """Verify every shard, and look for nodes that belong to none; each report on a row of its own."""
    with opened(as_json) as (graph, _), counted("verifying") as tell:
        reports = [report.record() for report in verify_all(graph, tell)]
        if digest:
            for report in reports:
                if report["graph_version"]:
                    report["digest"] = graph_digest(graph, report["shard"], tell).record()
    sound = all(report["ok"] for report in reports)
    if as_json:
        print_json({"ok": sound, "reports": reports})
    else:
        _show_reports(reports, digest)
    if not sound:
        raise typer.Exit(FAULTS_FOUND)


def _show_reports(reports: Sequence[dict[str, Any]], digest: bool) -> None:
    print_table(
        ["shard", "events", "records", "faults", *(["digest of the graph"] if digest else [])],
        (
            [
                report["shard"] or "(nodes of no shard)",
                report["events"],
                sum(report["records"].values()),
                f"{len(report['faults'])}{' or more' if report['faults_truncated'] else ''}",
                *([report["digest"]["digest"] if "digest" in report else None] if digest else []),
            ]
            for report in reports
        ),
    )
    for report in reports:
        if not report["ok"]:
            show_report({**report, "shard": report["shard"] or "(nodes of no shard)"})


def show_report(report: dict[str, Any]) -> None:
    """A verification as a table of faults, or one line that all is well."""
    records = sum(report["records"].values())
    if report["ok"]:
        kept = len(report.get("checkpoints", ()))
        fits = f"; it fits {kept} checkpoint{'s' if kept > 1 else ''}" if kept else ""
        out.print(
            f"verified: {report['events']} events and {records} records of {report['shard']}, no fault{fits}",
            markup=False,
        )
    else:
        print_table(
            ["fault", "version", "record", "field", "message"],
            (
                [
                    fault["kind"],
                    *(fault.get(name) for name in ("graph_version", "ref", "field")),
                    fault["message"],
                ]
                for fault in report["faults"]
            ),
            title=f"{report['shard']}: {len(report['faults'])} faults",
        )
    if "digest" in report:
        found = report["digest"]
        out.print(f"digest of the graph at {found['graph_version']}: {found['digest']}", markup=False)


def checkpoint_text(checkpoint: Checkpoint) -> str:
    return json.dumps(checkpoint.record(), indent=2) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a small file. Raises `unavailable` when it cannot be."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AmosError("unavailable", f"{path} cannot be written: {error.strerror}") from error
