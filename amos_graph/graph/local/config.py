"""The hardened configuration of the managed Neo4j."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from amos_graph.graph.local.options import LOOPBACK, LocalOptions

#: Neo4j's own families. They are built in and always run; the list keeps the procedures of a plug-in out.
PROCEDURES: Final = ("db.*", "dbms.*", "tx.*")


def settings(options: LocalOptions, bolt_port: int, http_port: int) -> dict[str, str]:
    """Every setting that differs from Neo4j's default or that safety rests on."""
    heap = f"{options.heap_mb}m"
    return {
        # Reachable from this machine only, by name and password.
        "dbms.security.auth_enabled": "true",
        "server.default_listen_address": LOOPBACK,
        "server.default_advertised_address": LOOPBACK,
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"{LOOPBACK}:{bolt_port}",
        "server.bolt.advertised_address": f"{LOOPBACK}:{bolt_port}",
        "server.http.enabled": "true",
        "server.http.listen_address": f"{LOOPBACK}:{http_port}",
        "server.http.advertised_address": f"{LOOPBACK}:{http_port}",
        "server.https.enabled": "false",
        # HTTP serves Browser and nothing else, to pages of its own origin; Browser itself speaks Bolt.
        "server.http_enabled_modules": "BROWSER",
        "server.http.x_forward.enabled": "false",
        "dbms.security.http_access_control_allow_origin": f"http://{LOOPBACK}:{http_port}",
        "dbms.security.http_static_content_security_policy_header": _content_policy(bolt_port),
        # A query reads no file, and calls only what is listed.
        # Below the home, which the command names: Neo4j reads no letter beyond ASCII in this file.
        "server.directories.import": "import",
        "server.directories.plugins": "plugins",
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "dbms.security.procedures.allowlist": ",".join(PROCEDURES),
        "dbms.security.procedures.unrestricted": "",
        # Otherwise LOAD CSV calls any address, this machine's own services among them; nothing else stops it.
        "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
        # Nothing waits or runs for ever, and no transaction takes the whole heap.
        "db.lock.acquisition.timeout": f"{options.lock_timeout_s}s",
        "db.transaction.timeout": f"{options.transaction_timeout_s}s",
        "db.memory.transaction.max": f"{options.transaction_memory_mb}m",
        "dbms.memory.transaction.total.max": f"{options.heap_mb * 6 // 10}m",
        "server.memory.heap.initial_size": heap,
        "server.memory.heap.max_size": heap,
        "server.memory.pagecache.size": f"{options.page_cache_mb}m",
        # Private text stays out of the logs, and nothing is reported to anyone.
        "db.logs.query.parameter_logging_enabled": "false",
        "db.logs.query.obfuscate_literals": "true",
        "db.logs.query.obfuscate_errors": "true",
        "db.logs.query.threshold": "1s",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        "browser.remote_content_hostname_whitelist": LOOPBACK,
        "dbms.fleet_manager.enabled": "false",
        "server.fleet_discovery.enabled": "false",
        # How long erased text survives in the transaction log (docs/operations.md).
        "db.tx_log.rotation.size": f"{options.log_file_mb}m",
        "db.tx_log.rotation.retention_policy": options.log_retention,
        "db.checkpoint.interval.time": f"{options.checkpoint_interval_s}s",
        "db.recovery.fail_on_missing_files": "true",
        # By default the Bolt server idles for ten seconds after the databases were closed.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
        "internal.server.bolt.thread_pool_shutdown_wait_time": "1s",
        "server.directories.data": "data",
        "server.directories.logs": "logs",
        "server.directories.run": "run",
        "server.config.strict_validation.enabled": "true",
    }


def _content_policy(bolt_port: int) -> str:
    """What Browser's page may load and call: itself and this server's Bolt, nothing from elsewhere."""
    own = " ".join(
        f"{scheme}://{host}:{bolt_port}" for scheme in ("ws", "http") for host in (LOOPBACK, "localhost")
    )
    return (
        "default-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; "
        f"connect-src 'self' {own}"
    )


def render(values: Mapping[str, str]) -> str:
    """The text of neo4j.conf."""
    lines = ["# Written by amos at each start; changes here are lost."]
    lines += [f"{name}={value}" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def write_private(path: Path, text: str) -> None:
    """Replace a file as a whole, readable by its owner only."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def java_command(
    java: Path, flags: list[str], class_path: str, home: Path, options: LocalOptions
) -> list[str]:
    """The command of the server. Nothing secret stands in it, because every user can see it."""
    return [
        str(java),
        f"-Xms{options.heap_mb}m",
        f"-Xmx{options.heap_mb}m",
        # A server without memory answers nobody; ended, it is started again.
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-OmitStackTraceInFastThrow",
        "-Dfile.encoding=UTF-8",
        "-Djava.awt.headless=true",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dlog4j2.disable.jmx=true",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/java.io=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        *flags,
        *options.java_flags,
        "-cp",
        class_path,
        MAIN_CLASS,
        *home_arguments(home),
        "--console-mode",
    ]


MAIN_CLASS: Final = "org.neo4j.server.Neo4jCommunity"
ADMIN_CLASS: Final = "org.neo4j.cli.AdminTool"


def home_arguments(home: Path) -> tuple[str, str]:
    """The arguments that tell the server of one home from those of all others."""
    return f"--home-dir={home}", f"--config-dir={home / 'conf'}"
