"""The audit of a server's settings."""

from __future__ import annotations

import pytest

from amos_graph.graph.local import LocalOptions
from amos_graph.graph.local.audit import audit_configuration
from amos_graph.graph.local.config import settings

#: The settings in which Neo4j itself starts when nothing is configured, as `SHOW SETTINGS` spells them.
NEO4J_DEFAULTS = {
    "dbms.security.auth_enabled": "true",
    "server.directories.import": "None",
    "dbms.security.allow_csv_import_from_file_urls": "true",
    "dbms.security.procedures.allowlist": "*",
    "dbms.security.procedures.unrestricted": "",
    "db.lock.acquisition.timeout": "0s",
    "db.transaction.timeout": "0s",
    "db.memory.transaction.max": "0B",
    "db.logs.query.parameter_logging_enabled": "true",
    "db.logs.query.obfuscate_literals": "false",
    "db.logs.query.early_raw_logging_enabled": "false",
    "dbms.usage_report.enabled": "true",
    "dbms.fleet_manager.enabled": "true",
    "server.fleet_discovery.enabled": "true",
    "server.config.strict_validation.enabled": "true",
    "server.bolt.enabled": "true",
    "server.bolt.listen_address": "localhost:7687",
    "server.http.enabled": "true",
    "server.http.listen_address": "localhost:7474",
}


@pytest.fixture
def safe() -> dict[str, str]:
    return settings(LocalOptions(), 7687, 7474)


@pytest.mark.reliability("T30")
def test_our_own_configuration_is_safe(safe: dict[str, str]) -> None:
    """What the managed server is started with passes."""
    assert audit_configuration(safe) == []


@pytest.mark.reliability("T30")
def test_neo4js_defaults_are_named_one_by_one() -> None:
    """Each unsafe default is a finding of its own, with what it should be."""
    found = audit_configuration(NEO4J_DEFAULTS)

    assert {finding.name for finding in found} == {
        "server.directories.import",
        "dbms.security.allow_csv_import_from_file_urls",
        "dbms.security.procedures.allowlist",
        "db.lock.acquisition.timeout",
        "db.transaction.timeout",
        "db.memory.transaction.max",
        "db.logs.query.parameter_logging_enabled",
        "db.logs.query.obfuscate_literals",
        "dbms.usage_report.enabled",
        "dbms.fleet_manager.enabled",
        "server.fleet_discovery.enabled",
    }
    assert all(finding.should_be and finding.why for finding in found)


@pytest.mark.reliability("T30")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dbms.security.auth_enabled", "false"),
        ("server.directories.import", ""),
        ("dbms.security.procedures.allowlist", "db.*,*"),
        ("dbms.security.procedures.allowlist", ""),
        ("dbms.security.procedures.unrestricted", "apoc.*"),
        ("db.lock.acquisition.timeout", "0"),
        ("db.transaction.timeout", "0ms"),
        ("db.memory.transaction.max", "0.00B"),
        ("db.logs.query.early_raw_logging_enabled", "true"),
        ("server.config.strict_validation.enabled", "false"),
        ("server.http.listen_address", "0.0.0.0:7474"),
        ("server.http.listen_address", "127.0.0.1.example:7474"),
    ],
)
def test_one_unsafe_setting_is_named(safe: dict[str, str], name: str, value: str) -> None:
    """One change to a safe configuration gives exactly one finding, under its name and with its value."""
    found = audit_configuration({**safe, name: value})

    assert [(finding.name, finding.value) for finding in found] == [(name, value)]


@pytest.mark.reliability("T30")
@pytest.mark.parametrize("address", ["0.0.0.0:7687", "[::]:7687", "10.0.0.5:7687"])
def test_bolt_beyond_loopback_needs_tls(safe: dict[str, str], address: str) -> None:
    """Clear text may not cross a network; with TLS required it may listen anywhere."""
    open_bolt = {**safe, "server.bolt.listen_address": address}

    assert [finding.name for finding in audit_configuration(open_bolt)] == ["server.bolt.tls_level"]
    assert audit_configuration({**open_bolt, "server.bolt.tls_level": "REQUIRED"}) == []
    assert audit_configuration({**open_bolt, "server.bolt.tls_level": "OPTIONAL"}) != []


@pytest.mark.reliability("T30")
def test_a_port_alone_means_the_default_address(safe: dict[str, str]) -> None:
    """`:7687` listens where `server.default_listen_address` says."""
    bare = {**safe, "server.bolt.listen_address": ":7687"}

    assert audit_configuration(bare) == []
    assert audit_configuration({**bare, "server.default_listen_address": "10.0.0.5"}) != []


@pytest.mark.reliability("T30")
def test_a_server_that_shows_nothing_is_not_called_safe() -> None:
    """Whether it asks for a login must be seen."""
    assert [finding.name for finding in audit_configuration({})] == ["dbms.security.auth_enabled"]
