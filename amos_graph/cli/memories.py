"""`amos remember`, `recall`, `get`, `list`, `load`: through the service, with the stored token."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer
from rich.text import Text

from amos_graph.cli.credentials import open_client
from amos_graph.cli.output import (
    FAILED,
    JsonOption,
    NotRunningError,
    counted,
    failures,
    harmless,
    out,
    print_facts,
    print_json,
    print_table,
)
from amos_graph.client import UNREACHABLE, Amos
from amos_graph.domain.canonical import parse_json
from amos_graph.domain.ids import kind_of
from amos_graph.domain.outcomes import OUTCOME_LABELS, USE_STATUSES
from amos_graph.errors import AmosError
from amos_graph.queries.rendering import explain
from amos_graph.settings import Settings
from amos_graph.upkeep.chat import Loaded, load_chat
from amos_graph.upkeep.sending import through

ProjectOption = Annotated[str | None, typer.Option("--project", help="Ask and write within this project.")]
_SHORT: Final = 100


@contextmanager
def connected(as_json: bool, project: str | None = None) -> Generator[Amos]:
    """A client of the running service; what goes wrong becomes a sentence and an exit code."""
    with failures(as_json):
        try:
            with open_client(Settings()) as amos:
                yield amos.within({"project_id": project}) if project else amos
        except AmosError as error:
            if error.code == "unavailable" and error.message.startswith(UNREACHABLE):
                raise NotRunningError("the service does not answer: amos up") from error
            raise


def remember(
    text: Annotated[str, typer.Argument(help="What to remember, as a sentence.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remember a sentence, with the note of it as evidence."""
    with connected(as_json, project) as amos:
        answer = amos.remember(text)
    if as_json:
        print_json(answer.payload)
        return
    ref = answer["atom_refs"][0]
    out.print(f"{'remembered' if ref in answer['created'] else 'known already'}: {ref}", markup=False)


def recall(
    cues: Annotated[list[str] | None, typer.Argument(help="Questions or words; none browses.")] = None,
    *,
    items: Annotated[int, typer.Option("--items", "-n", min=1, help="How many at most.")] = 10,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="Only this atom type; may repeat.")
    ] = None,
    processor: Annotated[str | None, typer.Option("--for", help="For which processor.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="general or skill_discovery.")] = None,
    focus: Annotated[
        list[str] | None, typer.Option("--focus", help="What to foreground; may repeat.")
    ] = None,
    suppress: Annotated[
        list[str] | None, typer.Option("--suppress", help="What to hold back; may repeat.")
    ] = None,
    boost: Annotated[
        list[str] | None, typer.Option("--boost", help="Atom type to boost; may repeat.")
    ] = None,
    risk: Annotated[str | None, typer.Option("--risk", help="normal, cautious or high_risk.")] = None,
    horizon: Annotated[str | None, typer.Option("--horizon", help="immediate, short or long.")] = None,
    novelty: Annotated[float | None, typer.Option("--novelty", help="0 to 1: prefer less known.")] = None,
    counterevidence: Annotated[
        bool, typer.Option("--counterevidence", help="What speaks against must be there.")
    ] = False,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="FIELD=VALUE of payloads; may repeat, all must hold.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Return only this place of payloads; may repeat.")
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option("--include", help="archived, low_health, superseded or provenance; may repeat."),
    ] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", min=1, help="Tokens at most.")] = None,
    bytes_: Annotated[int | None, typer.Option("--bytes", min=1, help="Bytes at most.")] = None,
    more: Annotated[
        str | None, typer.Option("--request", help="Further fields of the request, as a JSON object.")
    ] = None,
    explained: Annotated[
        bool, typer.Option("--explain", help="Show each item's arithmetic and the path that led to it.")
    ] = False,
    target: Annotated[
        str | None,
        typer.Option("--as", help="Print it as english, graph, planner_state or executor_context."),
    ] = None,
    english: Annotated[bool, typer.Option("--english", help="The same as --as english.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Recall what is worth knowing for some cues, ranked, with evidence."""
    attention = {
        "focus_terms": focus,
        "suppress_terms": suppress,
        "boost_memory_types": boost,
        "risk_posture": risk,
        "time_horizon": horizon,
        "novelty_preference": novelty,
        "counterevidence_required": counterevidence or None,
    }
    options = {
        "max_items": items,
        "requested_memory_types": types,
        "target_processor": processor,
        "retrieval_mode": mode,
        "attention_context": _given(attention),
        "payload_filter": dict(_field(each) for each in where or ()),
        "result_payload_filter": only,
        "token_or_byte_budget": _given({"tokens": tokens, "bytes": bytes_}),
        "rendering_target": "english" if english else target,
        **{f"include_{name}": True for name in include or ()},
    }
    with connected(as_json, project) as amos:
        asked = {**_given(options), **_object(more)}
        packet = amos.recall(*(cues or []), **asked).payload
    rendered = packet.get("rendered")
    if as_json:
        print_json(packet)
    elif isinstance(rendered, str):
        out.print(harmless(rendered), markup=False)
    elif rendered is not None:
        print_json(rendered)
    else:
        show_packet(packet, explained=explained)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given; the others are the service's to fill in."""
    return {name: value for name, value in options.items() if value not in (None, [], {})}


def _field(text: str) -> tuple[str, Any]:
    """FIELD=VALUE, where a number or a truth value is one, as JSON writes them, and all else is text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text} is not FIELD=VALUE", param_hint="--where")
    try:
        parsed = json.loads(value)
    except ValueError:
        return name, value
    return name, parsed if isinstance(parsed, (int, float, bool)) else value


def _object(text: str | None) -> dict[str, Any]:
    found: Any = parse_json(text.encode()) if text else {}
    if not isinstance(found, dict):
        raise typer.BadParameter("is not a JSON object", param_hint="--request")
    return cast("dict[str, Any]", found)


def show_packet(packet: dict[str, Any], *, explained: bool = False) -> None:
    """A packet as tables: items with scores and evidence, contradictions, omissions."""
    print_table(
        ["", "score", "type", "memory", "evidence"],
        (
            [
                item["rank"],
                f"{item['score']:.3f}",
                item["type"],
                item["rendered_content"],
                ", ".join(item["evidence_refs"]),
            ]
            for item in packet["items"]
        ),
        title=f"{len(packet['items'])} memories at version {packet['graph_version']}",
    )
    for conflict in packet["conflicts"]:
        one, other = conflict["sides"]
        out.print(Text(harmless(f"contradiction: {one['rendered_content']} <> {other['rendered_content']}")))
    left_out = [
        entry["reason"] + (f" ({entry['count']})" if "count" in entry else "")
        for entry in packet["omissions"]
    ]
    out.print(Text("left out, if anything, as: " + ", ".join(left_out)))
    if packet["items"]:
        out.print(Text(f"tell what became of it: amos outcome {packet['packet_id']}"))
    if explained:
        for entry in explain(packet):
            _show_arithmetic(entry, packet["provenance"]["weights"])


def _show_arithmetic(entry: dict[str, Any], weights: dict[str, float]) -> None:
    """How one score came about, and the way by which activation reached the atom."""
    rows = [
        [
            term["component"],
            f"{term['value']:.4f}",
            f"{weights[term['component']]:+.2f}" if term["component"] in weights else "",
            f"{term['part']:+.4f}",
        ]
        for term in entry["terms"]
    ]
    print_table(
        ["component", "value", "weight", "part"],
        [*rows, ["score", "", "", f"{entry['score']:+.4f}"]],
        title=f"{entry['rank']}. {entry['atom_ref']}",
    )
    matched = ", ".join(entry["matched_terms"]) or "none"
    out.print(Text(harmless(f"   words: {matched}; source: {entry['trust_class']}")))
    for number, step in enumerate(entry["path"], 1):
        out.print(Text(f"   step {number}: {step}"))


def outcome(
    packet_id: Annotated[str, typer.Argument(help="The id of the packet, which `amos recall` prints.")],
    *,
    labels: Annotated[
        list[str] | None, typer.Option("--label", help=f"{', '.join(OUTCOME_LABELS)}; may repeat.")
    ] = None,
    status: Annotated[
        str | None, typer.Option("--status", help=f"Of the packet: {', '.join(USE_STATUSES)}.")
    ] = None,
    used: Annotated[list[str] | None, typer.Option("--used", help="A memory that was used.")] = None,
    helpful: Annotated[list[str] | None, typer.Option("--helpful", help="A memory that helped.")] = None,
    unhelpful: Annotated[list[str] | None, typer.Option("--unhelpful", help="One that did harm.")] = None,
    corrected: Annotated[
        list[str] | None, typer.Option("--corrected", help="One that the user corrected.")
    ] = None,
    missing: Annotated[list[str] | None, typer.Option("--missing", help="What was not there.")] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what became of a packet: what helped is found more easily, what did harm less so."""
    said: dict[str, Any] = {
        "outcome_labels": labels,
        "use_status": status,
        "used_item_refs": used,
        "helpful_atom_refs": helpful,
        "unhelpful_atom_refs": unhelpful,
        "correction_refs": corrected,
        "missing_capability_cues": missing,
    }
    with connected(as_json, project) as amos:
        answer = amos.outcome(packet_id, **{name: value for name, value in said.items() if value})
    if as_json:
        print_json(answer.payload)
        return
    known = "recorded" if answer["created"] else "known already"
    print_facts([(known, answer["outcome_refs"][0]), ("moved", ", ".join(answer["updated"]) or None)])


def get(
    record_id: Annotated[str, typer.Argument(help="The id of the atom, or of an artifact (art_…).")],
    as_of: Annotated[
        int | None, typer.Option("--as-of", min=0, help="As it was known at this graph version.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also when archived, superseded, unhealthy or expired.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Get one atom by its id, with evidence and history; or a generated artifact, while it is current."""
    options: dict[str, Any] = {"as_of_version": as_of} if as_of is not None else {}
    artifact = kind_of(record_id) == "artifact"
    if everything:
        left_out = ("expired",) if artifact else ("archived", "superseded", "low_health")
        options |= {f"include_{what}": True for what in left_out}
    with connected(as_json, project) as amos:
        found = (amos.get_artifact if artifact else amos.get)(record_id, **options).payload
    if as_json:
        print_json(found)
    elif found["found"]:
        out.print_json(data=found["artifact" if artifact else "item"])
    else:
        reasons = ", ".join(entry["reason"] for entry in found["omissions"])
        out.print(f"not found{f': {reasons}' if reasons else ''}", markup=False)
    if not found["found"]:
        raise typer.Exit(FAILED)


def list_memories(
    *,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="Only this atom type; may repeat.")
    ] = None,
    states: Annotated[
        list[str] | None, typer.Option("--state", help="This lifecycle state; may repeat. Default: active.")
    ] = None,
    entity: Annotated[str | None, typer.Option("--entity", help="About this entity (ent:…).")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Atoms of one page.")] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where the last page ended.")] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List atoms in order of creation, page by page."""
    filters: dict[str, Any] = {"limit": limit, "types": types, "lifecycle_states": states}
    filters |= {"entity": entity, "cursor": cursor}
    with connected(as_json, project) as amos:
        page = amos.list(**filters).payload
    if as_json:
        print_json(page)
        return
    print_table(
        ["id", "type", "state", "version", "payload"],
        (
            [item["atom_id"], item["type"], item["lifecycle_state"], item["version"], _short(item["payload"])]
            for item in page["items"]
        ),
    )
    if page["next_cursor"]:
        out.print(f"more: amos list --cursor {page['next_cursor']}", markup=False)


def _short(payload: dict[str, Any]) -> str:
    text = ", ".join(f"{name}: {value}" for name, value in payload.items())
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


load_app: Final = typer.Typer(
    name="load",
    help="Load what happened elsewhere.",
    epilog="Example: amos load chat runs.jsonl",
    no_args_is_help=True,
)


@load_app.command(epilog="Example: amos load chat runs.jsonl")
def chat(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="One conversation a line.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Load chat and tool-call transcripts; harmless when run twice."""
    with connected(as_json, project) as amos, counted(f"loading {file.name}") as tell:

        def progress(done: Loaded) -> None:
            tell("bytes", done.bytes_done, done.bytes_total)

        report = load_chat(through(amos), file, progress)
    if as_json:
        print_json(report.record())
    else:
        print_facts(
            [
                ("conversations", report.conversations),
                ("messages", report.messages),
                *((f"created: {kind}", count) for kind, count in report.created.items()),
                ("commands", f"{report.commands}, of which {report.replayed} were known already"),
                ("refused", report.refused or None),
                ("seconds", f"{report.seconds:.1f}"),
            ]
        )
        for refusal in report.refusals:
            out.print(
                Text(f"line {refusal.line}: {refusal.path or 'the line'}: {refusal.message} ({refusal.code})")
            )
    if not report.ok:
        raise typer.Exit(FAILED)
