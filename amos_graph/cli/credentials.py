"""The token that the command line uses, kept in AMOS_HOME/credentials.json for its owner alone.

Another workspace or tenant, the demo's among them, has a file of its own: no token displaces another.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from amos_graph.api.store import operator
from amos_graph.cli.output import NotRunningError
from amos_graph.client import Amos
from amos_graph.commands.clients import register_client
from amos_graph.domain.scope import CAPABILITIES, TRUST_MAX
from amos_graph.errors import AmosError
from amos_graph.graph.local.config import write_private
from amos_graph.graph.transactions import Graph
from amos_graph.queries.clients import identify
from amos_graph.settings import Settings

#: The demo is told here, so that the user's memory stays free of it and the story free of the user's.
DEMO_WORKSPACE: Final = "demo"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where the service is and who asks."""

    url: str
    client_id: str
    token: str
    tenant: str
    workspace: str


def credentials_file(settings: Settings) -> Path:
    """Where the token of the settings' workspace is kept."""
    return settings.home.expanduser().absolute() / file_name(settings.tenant, settings.workspace)


def file_name(tenant: str, workspace: str) -> str:
    """The name of the file; no tenant and no workspace has a dot in its name."""
    if tenant != Settings.model_fields["tenant"].default:
        return f"credentials-{tenant}.{workspace}.json"
    if workspace != Settings.model_fields["workspace"].default:
        return f"credentials-{workspace}.json"
    return "credentials.json"


def demo_settings(settings: Settings) -> Settings:
    """The same home and Neo4j, in the workspace where the demo's story is told."""
    return settings.model_copy(update={"workspace": DEMO_WORKSPACE})


def read_credentials(settings: Settings) -> Credentials | None:
    """The stored credentials, if there are readable ones of this tenant and workspace."""
    try:
        found = Credentials(**json.loads(credentials_file(settings).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    same = (found.tenant, found.workspace) == (settings.tenant, settings.workspace)
    return found if same else None


def write_credentials(settings: Settings, credentials: Credentials) -> None:
    write_private(credentials_file(settings), json.dumps(asdict(credentials), indent=2) + "\n")


def ensure_credentials(graph: Graph, settings: Settings, url: str) -> tuple[Credentials, bool]:
    """The stored credentials while their token is good here, else a new token; True when it is new."""
    found = read_credentials(settings)
    if found is not None and _is_good(graph, found.token):
        kept = Credentials(url, found.client_id, found.token, found.tenant, found.workspace)
        if kept != found:
            write_credentials(settings, kept)
        return kept, False
    made = register_client(
        operator(graph, settings),
        {
            "id": f"cli_local_{secrets.token_hex(4)}",
            "service_id": "svc:local",
            "process_type": "cli",
            "capabilities": list(CAPABILITIES),
            "trust_level": TRUST_MAX,
        },
    )
    fresh = Credentials(url, made.client_id, made.token, settings.tenant, settings.workspace)
    write_credentials(settings, fresh)
    return fresh, True


def open_client(settings: Settings) -> Amos:
    """A client with the stored credentials. Raises NotRunningError when there are none."""
    found = read_credentials(settings)
    if found is None:
        raise NotRunningError("there is no token for this tenant and workspace yet: amos up")
    return Amos(found.url, found.token)


def _is_good(graph: Graph, token: str) -> bool:
    try:
        identify(graph, token)
    except AmosError as error:
        if error.code != "authorization_denied":
            raise
        return False
    return True
