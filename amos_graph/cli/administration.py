"""`amos migrate`, `token …`, `demo`: with the database's own login, not through the service."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import typer

from amos_graph.api.store import await_store, open_graph, operator
from amos_graph.cli.credentials import demo_settings, ensure_credentials, open_client
from amos_graph.cli.lifecycle import bring_up, down, show_up
from amos_graph.cli.output import (
    JsonOption,
    NotRunningError,
    counted,
    err,
    failures,
    out,
    print_facts,
    print_json,
    print_table,
)
from amos_graph.commands.clients import register_client, revoke_client
from amos_graph.commands.dictionary import prepare
from amos_graph.domain.roles import ROLES
from amos_graph.domain.scope import CAPABILITIES, TRUST_MAX
from amos_graph.domain.times import format_time
from amos_graph.errors import AmosError
from amos_graph.graph.transactions import Graph
from amos_graph.queries.clients import list_clients
from amos_graph.settings import Settings


@contextmanager
def opened(as_json: bool) -> Generator[tuple[Graph, Settings]]:
    """The graph itself, for whoever holds its password."""
    settings = Settings()
    with failures(as_json):
        try:
            graph = open_graph(settings)
        except AmosError as error:
            raise NotRunningError(error.message) from error
        try:
            try:
                await_store(graph, 0.0)
            except AmosError as error:
                raise NotRunningError(f"Neo4j: {error.message}") from error
            yield graph, settings
        finally:
            graph.close()


def migrate(as_json: JsonOption = False) -> None:
    """Bring the schema of the store up to date."""
    with opened(as_json) as (graph, settings), counted("migrating") as tell:
        applied = prepare(graph, settings, tell)
    if as_json:
        print_json({"applied": applied})
        return
    for name in applied:
        out.print(f"applied: {name}", markup=False)
    out.print("the schema is current")


token_app: Final = typer.Typer(
    name="token",
    help="Tokens: who may call, and what they may do.",
    epilog="Example: amos token list",
    no_args_is_help=True,
)


@token_app.command(
    epilog="Example: amos token create cli_bot --can memory.read --can event.capture --days 30"
)
def create(
    client_id: Annotated[str, typer.Argument(help="A name for the client: cli_…")],
    *,
    can: Annotated[
        list[str] | None,
        typer.Option(
            "--can", help="A capability; may repeat. Default: the role's, else memory.read. `all` gives all."
        ),
    ] = None,
    role: Annotated[
        str | None, typer.Option("--role", help=f"Its capabilities and trust: {', '.join(ROLES)}.")
    ] = None,
    trust: Annotated[
        int | None,
        typer.Option(
            "--trust", min=0, max=TRUST_MAX, help="How far it is trusted. Default: the role's, or 1."
        ),
    ] = None,
    service: Annotated[str | None, typer.Option("--service", help="Default: svc:<name>.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="Bind the token to a project.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Bind the token to an agent.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Bind the token to a user.")] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, help="Days until it expires.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a client and print its token, this once."""
    if role is not None and role not in ROLES:
        raise typer.BadParameter(f"not one of {', '.join(ROLES)}", param_hint="--role")
    capabilities = _granted(can, role)
    with opened(as_json) as (graph, settings):
        scope = {"tenant_id": settings.tenant, "workspace_id": settings.workspace}
        bound = {"project_id": project, "agent_id": agent, "user_id": user}
        record: dict[str, Any] = {
            "id": client_id,
            "service_id": service or f"svc:{client_id.removeprefix('cli_')}",
            "capabilities": capabilities,
            **({"process_type": role} if role else {}),
            **({"trust_level": trust} if trust is not None else {}),
            "scope": {**scope, **{name: value for name, value in bound.items() if value}},
        }
        if days is not None:
            record["expires_at"] = format_time(datetime.now(UTC) + timedelta(days=days))
        made = register_client(operator(graph, settings), record)
    if as_json:
        print_json({"client_id": made.client_id, "token": made.token, "capabilities": capabilities})
    else:
        print_facts([("client", made.client_id), ("may", ", ".join(capabilities)), ("token", made.token)])


def _granted(can: list[str] | None, role: str | None) -> list[str]:
    """What a token may do: what is listed, else what its role may, else read."""
    if can:
        return sorted(CAPABILITIES) if "all" in can else can
    return sorted(ROLES[role].capabilities) if role else ["memory.read"]


@token_app.command("list", epilog="Example: amos token list --json")
def list_tokens(as_json: JsonOption = False) -> None:
    """List the clients of this tenant and workspace; tokens themselves are not kept."""
    with opened(as_json) as (graph, settings):
        found = list_clients(graph, f"{settings.tenant}/{settings.workspace}")
    if as_json:
        print_json(
            {
                "clients": [
                    {
                        "client_id": client.client_id,
                        "service_id": client.service_id,
                        "scope": json.loads(client.scope),
                        "capabilities": client.capabilities,
                        "created_at": client.created_at,
                        "expires_at": client.expires_at,
                        "revoked_at": client.revoked_at,
                    }
                    for client in found
                ]
            }
        )
        return
    print_table(
        ["client", "service", "may", "expires", "revoked"],
        (
            [
                client.client_id,
                client.service_id,
                ", ".join(client.capabilities),
                client.expires_at,
                client.revoked_at,
            ]
            for client in found
        ),
    )


@token_app.command(epilog="Example: amos token revoke cli_bot")
def revoke(
    client_id: Annotated[str, typer.Argument(help="The client whose token is to end.")],
    as_json: JsonOption = False,
) -> None:
    """Revoke a client's token for good; the next call with it is denied."""
    with opened(as_json) as (graph, settings):
        receipt = revoke_client(operator(graph, settings), client_id)
    if as_json:
        print_json(receipt.record)
    else:
        out.print(f"revoked: {client_id}", markup=False)


def demo(
    *,
    stay: Annotated[bool, typer.Option("--stay", help="Stay up until Ctrl-C, then stop everything.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Load a small story of a team of agents, ask questions about it, and verify."""
    from amos_graph.upkeep import demo as story  # noqa: PLC0415 - a story that only this command needs

    settings = Settings()
    with failures(as_json):
        found = bring_up(settings)
        apart = demo_settings(settings)
        with closing(open_graph(apart)) as graph:
            ensure_credentials(graph, apart, found.url)
        with open_client(apart) as amos:
            code = story.run(amos, err if as_json else out)
    show_up(found, as_json)
    if not as_json:
        out.print(
            f"The story is in a workspace of its own, {apart.tenant}/{apart.workspace}; ask it more: "
            f'AMOS_WORKSPACE={apart.workspace} amos recall "Who is on call?"',
            markup=False,
        )
    if stay:
        _stay(as_json)
    elif not as_json:
        out.print("The service runs on in the background: `make down` or `amos down` stops it.")
    raise typer.Exit(code)


def _stay(as_json: bool) -> None:
    """Wait for Ctrl-C or a termination signal, then stop what was started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not as_json:
        out.print("Up until Ctrl-C.")
    try:
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        down(as_json)
