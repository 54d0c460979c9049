"""Every setting and limit of amos-graph, from `AMOS_…` variables (docs/operations.md lists them)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

#: What a tenant or a workspace may be called.
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


class Settings(BaseSettings):
    """Limits are stated, configurable and tested; a request beyond one is refused, never cut."""

    model_config = SettingsConfigDict(env_prefix="AMOS_", frozen=True, extra="ignore", env_ignore_empty=True)

    #: The folder of a managed Neo4j, of the evidence archive and of local credentials.
    home: Path = Path.home() / ".amos-graph"
    #: The address of a Neo4j to use in place of the managed one.
    neo4j_uri: str | None = None
    #: Its user.
    neo4j_user: str = "neo4j"
    #: Its password.
    neo4j_password: SecretStr | None = None
    #: Its database.
    neo4j_database: str = "neo4j"
    #: The folder of archived evidence payloads; `archive` below the home unless given.
    archive: Path | None = None
    #: In its place an object store, such as `s3://bucket/prefix`; needs the extra `object-store`.
    archive_url: str | None = None

    #: Where the service listens: loopback unless told otherwise.
    api_host: str = "127.0.0.1"
    #: The port of the service; 0, and on loopback a port that is taken, become a free one, which is kept.
    api_port: int = Field(default=8765, ge=0, le=65535)
    #: The tenant of the command line and of the first token.
    tenant: str = "default"
    #: The workspace of the command line and of the first token.
    workspace: str = "main"

    #: Bytes of one request's body.
    body_bytes_max: int = Field(default=8_000_000, ge=1_000)
    #: How deep JSON may be nested in a request.
    depth_max: int = Field(default=32, ge=4, le=200)
    #: Atoms, or candidates, of one request.
    atoms_max: int = Field(default=1_000, ge=1)
    #: Edges of one request.
    edges_max: int = Field(default=5_000, ge=1)
    #: Source events of one request.
    events_max: int = Field(default=1_000, ge=1)
    #: Entities, relations and controlled values of one request, each.
    dictionary_max: int = Field(default=1_000, ge=1)
    #: Bytes of one atom's payload in canonical form.
    payload_bytes_max: int = Field(default=1_000_000, ge=100)
    #: Bytes up to which an evidence payload stays inline; larger ones go to the archive.
    evidence_inline_bytes_max: int = Field(default=8_192, ge=0)
    #: Bytes of one evidence payload.
    evidence_bytes_max: int = Field(default=4_000_000, ge=100)
    #: Seconds that a generated artifact, such as a self-narrative, may live.
    artifact_lifetime_s_max: int = Field(default=7 * 24 * 3600, ge=1)
    #: Live edges at the atoms of one command that it may have to detach, follow or archive.
    detached_edges_max: int = Field(default=20_000, ge=1)
    #: Commands that are committed together when a shard is busy; 1 commits each alone.
    group_max: int = Field(default=64, ge=1, le=1_000)
    #: Records that the commands of one group may mention together.
    group_refs_max: int = Field(default=5_000, ge=1)

    #: The trust level, of 0 to 10, that a token needs for a change of high risk.
    high_risk_trust_min: int = Field(default=1, ge=0, le=10)

    #: Atoms on one page of a listing.
    page_max: int = Field(default=200, ge=1, le=1_000)
    #: Records that a shard may hold at a past version of which a packet is asked.
    past_records_max: int = Field(default=50_000, ge=1)
    #: Ancestors of one atom that an analysis of its provenance looks at.
    ancestors_max: int = Field(default=10_000, ge=1, le=100_000)
    #: Items of one packet.
    items_max: int = Field(default=100, ge=1, le=500)
    #: Bytes of the packets that a process keeps to give them out again; 0 keeps none.
    packet_cache_bytes_max: int = Field(default=64_000_000, ge=0)
    #: Seconds for which a packet answers the same request again where that names no `evaluated_at`.
    packet_cache_age_s: float = Field(default=1.0, ge=0, le=3_600)
    #: What counts tokens for a packet's budget: `estimate`, or an object of yours as `package.module:name`.
    token_counter: str = Field(default="estimate", pattern=r"^(estimate|[A-Za-z_][\w.]*:[A-Za-z_]\w*)$")

    #: Packets of a shard of which is kept what they held, so that outcomes can be told of them.
    manifests_max: int = Field(default=10_000, ge=1)
    #: Days for which it is kept.
    manifest_days: float = Field(default=30.0, gt=0, le=36_500)
    #: Raw outcomes of a shard that are kept; what they counted and moved stays.
    outcomes_max: int = Field(default=10_000, ge=1)
    #: Days for which they are kept.
    outcome_days: float = Field(default=30.0, gt=0, le=36_500)
    #: What makes vectors of text: `hashed`, which needs nothing, or `wordllama` (extra `embeddings`). After
    #: a change the vectors are made anew by `amos index --rebuild`.
    encoder: Literal["hashed", "wordllama"] = "hashed"
    #: Records without vectors yet that one packet compares, newest first; more are disclosed.
    tail_max: int = Field(default=500, ge=1, le=10_000)
    #: Seconds between two looks of the service for memories without vectors.
    index_interval_s: float = Field(default=1.0, gt=0)

    #: Bytes of one line of a journal file, which holds an event with all that it wrote.
    journal_line_bytes_max: int = Field(default=64_000_000, ge=10_000)

    #: Seconds that one transaction may take.
    transaction_timeout_s: float = Field(default=60.0, gt=0)
    #: Seconds for which the driver tries a transaction again while Neo4j cannot answer. A request that reads
    #: who calls and then writes can take this twice.
    retry_s: float = Field(default=15.0, ge=0)

    @field_validator("neo4j_uri")
    @classmethod
    def _is_address(cls, uri: str | None) -> str | None:
        """An address that the driver takes; it would refuse another one only when it connects."""
        if not uri:
            return None
        try:
            parts = urlsplit(uri)
            # Reading the port raises for one that is no number.
            good = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
        except ValueError:
            good = False
        if not good:
            raise ValueError("an address looks like bolt://localhost:7687")
        return uri

    @field_validator("tenant", "workspace")
    @classmethod
    def _is_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(
                "a name is 1 to 64 small letters, digits, _ and -, and begins with none of the two"
            )
        return name

    @field_validator("archive_url")
    @classmethod
    def _is_url(cls, url: str | None, given: ValidationInfo) -> str | None:
        if url and not re.match(r"[a-z][a-z0-9+.-]*://", url):
            raise ValueError("an object store is named like s3://bucket/prefix")
        if url and given.data.get("archive"):
            raise ValueError("AMOS_ARCHIVE names another place; unset one of the two")
        return url

    @property
    def payload_depth_max(self) -> int:
        """How deep a command's payload may be nested: the envelope around it is the first level."""
        return self.depth_max - 1

    @property
    def archive_folder(self) -> Path:
        return self.archive or self.home / "archive"
