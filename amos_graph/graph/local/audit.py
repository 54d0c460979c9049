"""Which settings of a running Neo4j are unsafe, told from what the server itself says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

_OFF: Final = re.compile(r"0+(\.0+)?\s*(ns|μs|ms|s|m|h|d|b|kib|mib|gib)?", re.IGNORECASE)
_LOOPBACK: Final = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)(:\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UnsafeSetting:
    """One setting, what it is, and what it should be."""

    name: str
    value: str
    should_be: str
    why: str

    def __str__(self) -> str:
        return f"{self.name} is {self.value!r} and should be {self.should_be}: {self.why}"


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    safe: Callable[[str], bool]
    should_be: str
    why: str
    #: Whether a server that does not show the setting is unsafe; others only have it in some versions.
    required: bool = False


def _is(expected: str) -> Callable[[str], bool]:
    return lambda value: value.strip().lower() == expected


def _limited(value: str) -> bool:
    return _is_set(value) and not _OFF.fullmatch(value.strip())


def _is_set(value: str) -> bool:
    return value.strip().lower() not in ("", "none", "null", "no value")


def _listed(value: str) -> bool:
    names = [name.strip() for name in value.split(",") if name.strip()]
    return bool(names) and not any(name.startswith("*") for name in names)


_RULES: Final = (
    _Rule("dbms.security.auth_enabled", _is("true"), "true", "anyone could read and write", required=True),
    _Rule(
        "server.directories.import",
        _is_set,
        "an empty folder of its own",
        "unset, LOAD CSV reads every file that the server can read",
    ),
    _Rule(
        "dbms.security.allow_csv_import_from_file_urls",
        _is("false"),
        "false",
        "a query could read files of the server",
    ),
    _Rule(
        "dbms.security.procedures.allowlist",
        _listed,
        "a list without a bare *, such as db.*,dbms.*,tx.*",
        "every procedure of every plug-in could be called",
    ),
    _Rule(
        "dbms.security.procedures.unrestricted",
        lambda value: "*" not in value,
        "empty, or full names only",
        "plug-ins could go round Neo4j's own checks",
    ),
    _Rule("db.lock.acquisition.timeout", _limited, "30s or so", "a writer could wait for a lock for ever"),
    _Rule(
        "db.transaction.timeout",
        _limited,
        "10m or so",
        "a forgotten transaction could hold its locks for ever",
    ),
    _Rule("db.memory.transaction.max", _limited, "256m or so", "one transaction could take the whole heap"),
    _Rule(
        "db.logs.query.parameter_logging_enabled",
        _is("false"),
        "false",
        "memories would stand in query.log in clear text",
    ),
    _Rule("db.logs.query.obfuscate_literals", _is("true"), "true", "typed texts would stand in query.log"),
    _Rule(
        "db.logs.query.early_raw_logging_enabled",
        _is("false"),
        "false",
        "raw queries would stand in query.log",
    ),
    _Rule("dbms.usage_report.enabled", _is("false"), "false", "Neo4j would report on its use"),
    _Rule("dbms.fleet_manager.enabled", _is("false"), "false", "Neo4j could report to a console elsewhere"),
    _Rule(
        "server.fleet_discovery.enabled", _is("false"), "false", "Neo4j would announce itself on the network"
    ),
    _Rule(
        "server.config.strict_validation.enabled", _is("true"), "true", "a misspelt setting would be ignored"
    ),
)


def audit_configuration(rows: Mapping[str, str]) -> list[UnsafeSetting]:
    """The unsafe ones among the settings (name → value, as `upkeep/show_settings` returns them).

    A setting that the server does not show is judged only where its absence is itself unsafe, because
    editions and versions differ in what they have. An empty result means: nothing unsafe was seen.
    """
    unsafe = [
        UnsafeSetting(rule.name, rows.get(rule.name, "not shown"), rule.should_be, rule.why)
        for rule in _RULES
        if (rule.name in rows and not rule.safe(rows[rule.name])) or (rule.required and rule.name not in rows)
    ]
    return unsafe + _exposed(rows)


def _exposed(rows: Mapping[str, str]) -> list[UnsafeSetting]:
    """Connectors that other machines can reach without TLS."""
    unsafe: list[UnsafeSetting] = []
    bolt = _address(rows, "server.bolt.listen_address")
    if _is_on(rows, "server.bolt.enabled") and not _LOOPBACK.fullmatch(bolt):
        level = rows.get("server.bolt.tls_level", "")
        if not _is("required")(level):
            unsafe.append(
                UnsafeSetting(
                    "server.bolt.tls_level",
                    level or "not shown",
                    "REQUIRED, or server.bolt.listen_address on loopback",
                    f"Bolt listens on {bolt or 'an unknown address'}; passwords would cross in clear",
                )
            )
    http = _address(rows, "server.http.listen_address")
    if _is_on(rows, "server.http.enabled") and not _LOOPBACK.fullmatch(http):
        unsafe.append(
            UnsafeSetting(
                "server.http.listen_address",
                http or "not shown",
                "a loopback address, or server.http.enabled=false beside HTTPS",
                "Browser and its login would cross the network in clear text",
            )
        )
    return unsafe


def _is_on(rows: Mapping[str, str], name: str) -> bool:
    return _is("true")(rows.get(name, "false"))


def _address(rows: Mapping[str, str], name: str) -> str:
    """The address that a connector listens on; `:7687` alone means the default listen address."""
    address = rows.get(name, "").strip()
    if address.startswith(":"):
        return rows.get("server.default_listen_address", "").strip() + address
    return address
