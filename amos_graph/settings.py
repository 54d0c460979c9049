"""Every setting and limit of amos-graph, from `AMOS_…` variables (docs/operations.md lists them)."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Limits are stated, configurable and tested; a request beyond one is refused, never cut."""

    model_config = SettingsConfigDict(env_prefix="AMOS_", frozen=True, extra="ignore")

    #: Where a managed Neo4j, the evidence archive and local credentials live.
    home: Path = Path.home() / ".amos-graph"
    #: A Neo4j to use instead of the managed one.
    neo4j_uri: str | None = None
    neo4j_user: str = "neo4j"
    neo4j_password: SecretStr | None = None
    neo4j_database: str = "neo4j"
    #: The folder of archived evidence payloads; below `home` unless given.
    archive: Path | None = None

    #: Where the service listens: loopback unless told otherwise.
    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8765, ge=0, le=65535)
    #: The tenant and workspace of the command line and of the first token.
    tenant: str = "default"
    workspace: str = "main"

    #: One request.
    body_bytes_max: int = Field(default=8_000_000, ge=1_000)
    depth_max: int = Field(default=32, ge=4, le=200)
    atoms_max: int = Field(default=1_000, ge=1)
    edges_max: int = Field(default=5_000, ge=1)
    events_max: int = Field(default=1_000, ge=1)
    dictionary_max: int = Field(default=1_000, ge=1)
    #: One atom's payload in canonical form.
    payload_bytes_max: int = Field(default=1_000_000, ge=100)
    #: Evidence payloads up to this size stay inline; larger ones go to the archive.
    evidence_inline_bytes_max: int = Field(default=8_192, ge=0)
    evidence_bytes_max: int = Field(default=4_000_000, ge=100)
    #: Edges that one archived atom may detach in one command.
    detached_edges_max: int = Field(default=20_000, ge=1)

    #: One page of a listing, one packet.
    page_max: int = Field(default=200, ge=1, le=1_000)
    items_max: int = Field(default=100, ge=1, le=500)

    #: Waits, in seconds.
    transaction_timeout_s: float = Field(default=60.0, gt=0)
    retry_s: float = Field(default=15.0, ge=0)

    @property
    def archive_folder(self) -> Path:
        return self.archive or self.home / "archive"
