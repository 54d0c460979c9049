"""The managed server itself: started, killed, disturbed, and each time there again or explained."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, LiteralString

import httpx
import neo4j
import pytest
from neo4j import exceptions as driver_errors

from amos_graph.errors import AmosError
from amos_graph.graph.local import LocalNeo4j, Running, Step
from amos_graph.graph.local.audit import audit_configuration
from amos_graph.graph.local.ports import choose_port
from amos_graph.graph.local.process import identify
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import connect
from tests.server import SMALL

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting of the server."""

    name: str
    value: str


_SHOW_SETTINGS = procedure("upkeep/show_settings", SettingRow)


def _ask(running: Running, text: LiteralString, **params: Any) -> list[list[Any]]:
    with connect(running.uri, running.user, running.password, retry_s=0.0) as driver:
        found = driver.execute_query(text, params, database_="neo4j")
        return [list(record.values()) for record in found.records]


_START = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from amos_graph.graph.local import LocalNeo4j
from tests.server import SMALL
print(json.dumps(asdict(LocalNeo4j(Path(sys.argv[1]), options=SMALL).start())))
"""


def test_two_starts_at_once_give_one_server_that_outlives_both(managed: LocalNeo4j) -> None:
    """Two processes start the same home: both get the same server, and it stays when they are gone."""
    managed.stop()
    command = [sys.executable, "-c", _START, str(managed.home)]
    starters = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    told = [json.loads(starter.communicate(timeout=240)[0]) for starter in starters]

    assert told[0]["pid"] == told[1]["pid"]
    running = managed.running()
    assert running is not None
    assert running.pid == told[0]["pid"]
    assert _ask(running, "CYPHER 25 RETURN 1") == [[1]]


def test_starting_a_running_server_returns_it_at_once(managed: LocalNeo4j) -> None:
    """The same process, in a second or two, with nothing fetched and no port changed."""
    first = managed.start()
    before = time.monotonic()
    second = managed.start()

    assert second == replace(first, notes=())
    assert time.monotonic() - before < 5


def test_all_data_lies_in_the_home_whatever_its_name(managed: LocalNeo4j) -> None:
    """The home's name has a space and letters beyond ASCII; nothing of it lies elsewhere."""
    running = managed.start()
    data = managed.folder.root / "data"
    opened: set[str] = set()
    for entry in Path(f"/proc/{running.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            opened.add(str(entry.readlink()))

    assert not managed.home.name.isascii()
    assert (data / "databases" / "neo4j").is_dir()
    stores = {path for path in opened if "/databases/" in path or "/transactions/" in path}
    assert stores
    assert all(path.startswith(str(data)) for path in stores)


@pytest.mark.reliability("T30")
def test_the_running_server_passes_the_audit(managed: LocalNeo4j) -> None:
    """What the server itself says of its settings is safe, told by the statement that the service runs."""
    running = managed.start()
    with connect(running.uri, running.user, running.password) as driver:
        records = driver.execute_query(_SHOW_SETTINGS.text, database_="neo4j").records
    rows = [SettingRow(**record.data()) for record in records]

    assert len(rows) > 100
    assert audit_configuration({row.name: row.value for row in rows}) == []


@pytest.mark.reliability("T30")
def test_nothing_listens_beyond_loopback(managed: LocalNeo4j) -> None:
    """Every listening socket of the process has a loopback address."""
    running = managed.start()
    inodes: set[str] = set()
    for entry in Path(f"/proc/{running.pid}/fd").iterdir():
        # Files come and go while the list is read.
        with suppress(FileNotFoundError):
            target = str(entry.readlink())
            inodes.add(target.removeprefix("socket:[").removesuffix("]"))
    listening: list[str] = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{running.pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                listening.append(fields[1].split(":")[0])

    assert len(listening) == 2
    # 127.0.0.1, as IPv4 and as IPv6 writes it.
    assert set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F"}


@pytest.mark.reliability("T30")
def test_queries_reach_no_files_and_no_addresses(managed: LocalNeo4j) -> None:
    """LOAD CSV reads neither the password file nor a service of this machine."""
    running = managed.start()
    for url in (managed.folder.password_file.as_uri(), running.http_url, "http://[::1]:80/"):
        with pytest.raises(driver_errors.ClientError, match=r"is false|is blocked"):
            _ask(running, "CYPHER 25 LOAD CSV FROM $url AS line RETURN line", url=url)


@pytest.mark.reliability("T30")
def test_nobody_gets_in_without_the_password(managed: LocalNeo4j) -> None:
    """Neither without a login nor with another's."""
    running = managed.start()
    for auth in (None, ("neo4j", "neo4j")):
        with (
            neo4j.GraphDatabase.driver(running.uri, auth=auth) as driver,  # pyright: ignore[reportUnknownMemberType]
            pytest.raises(driver_errors.ClientError),
        ):
            driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.reliability("T30")
def test_private_text_stays_out_of_the_logs(managed: LocalNeo4j) -> None:
    """Neither a parameter nor a literal of a slow query, or of one that fails, stands in any log file."""
    running = managed.start()
    _ask(
        running,
        "CYPHER 25 UNWIND range(1, 3000000) AS number "
        "WITH number, $secret + 'literal-4711' AS text WHERE text = 'x' + toString(number) RETURN count(*)",
        secret="parameter-4711",
    )
    with pytest.raises(driver_errors.ClientError):
        _ask(running, "CYPHER 25 RETURN date($secret + 'literal-4711')", secret="parameter-4711")
    logs = [path for path in managed.folder.root.joinpath("logs").iterdir() if path.is_file()]
    found = "".join(path.read_text(errors="replace") for path in logs)

    assert "query.log" in {path.name for path in logs}
    assert "parameter-4711" not in found
    assert "literal-4711" not in found


def test_browser_is_served_and_the_http_interface_is_not(managed: LocalNeo4j) -> None:
    """HTTP gives Browser's page with a policy that loads nothing from elsewhere, and runs no query."""
    running = managed.start()
    page = httpx.get(running.browser_url)

    assert page.status_code == 200
    assert "script-src 'self';" in page.headers["Content-Security-Policy"]
    assert httpx.get(f"{running.http_url}db/neo4j/tx").status_code == 404


def test_a_server_whose_record_is_lost_is_found_again(managed: LocalNeo4j) -> None:
    """Its starter may die between starting it and writing it down; a second server never comes up."""
    running = managed.start()
    managed.folder.state_file.unlink()

    assert managed.start() == replace(running, notes=())


@pytest.mark.reliability("T28")
def test_a_wrong_password_is_told_and_does_not_lock_anyone_out(managed: LocalNeo4j) -> None:
    """One sentence at once; with the right file back the next call works without a restart."""
    running = managed.start()
    managed.folder.password_file.write_text("something-else\n")
    with pytest.raises(AmosError, match="refuses the password"):
        managed.start()
    managed.folder.password_file.write_text(f"{running.password}\n")

    assert managed.start().pid == running.pid


@pytest.mark.reliability("T28")
def test_after_a_kill_the_next_start_recovers_and_patience_is_not_lost(managed: LocalNeo4j) -> None:
    """SIGKILL, a start with too little patience, then one with enough: the same process, all data there."""
    running = managed.start()
    _ask(running, "CYPHER 25 CREATE (:Probe {name: $name})", name="survivor")
    os.kill(running.pid, signal.SIGKILL)
    while identify(running.pid):
        time.sleep(0.05)
    assert managed.status().state == "stopped"

    impatient = LocalNeo4j(managed.home, options=replace(SMALL, start_timeout_s=0.5))
    with pytest.raises(AmosError, match="has not answered within"):
        impatient.start()
    assert managed.status().state == "silent"
    again = managed.start()

    assert again.pid != running.pid
    assert again.uri == running.uri
    assert _ask(again, "CYPHER 25 MATCH (probe:Probe) RETURN probe.name") == [["survivor"]]


def test_a_port_that_was_taken_meanwhile_is_replaced_and_said(managed: LocalNeo4j) -> None:
    """Another program holds the remembered Bolt port: another one is used, told, and remembered."""
    before = managed.start()
    assert managed.stop() == "stopped"
    old = int(before.uri.rsplit(":", 1)[1])
    said: list[Step] = []
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", old))
        holder.listen()
        after = managed.start(said.append)

    assert after.uri != before.uri
    assert after.http_url == before.http_url
    assert [note for note in after.notes if str(old) in note]
    assert [step.message for step in said if step.phase == "port"] == list(after.notes)
    assert _ask(after, "CYPHER 25 RETURN 1") == [[1]]


def test_a_port_that_is_taken_between_the_look_and_the_start_costs_one_more_try(managed: LocalNeo4j) -> None:
    """Another program is quicker by a moment: the server dies of it, and the next try takes another port."""
    before = managed.start()
    managed.stop()
    port = int(before.uri.rsplit(":", 1)[1])
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

        def take(step: Step) -> None:
            if step.message == "starting Neo4j" and holder.getsockname()[1] == 0:
                holder.bind(("127.0.0.1", port))
                holder.listen()

        after = managed.start(take)

    assert after.uri != before.uri
    assert len(after.notes) == 1


def test_two_homes_that_start_at_once_and_want_one_port_both_run(tmp_path: Path) -> None:
    """Whoever comes second takes another port, and asks nobody else's server with its password."""
    bolt, http = choose_port(()), choose_port(())
    wanted = replace(SMALL, bolt_port=bolt, http_port=http)
    homes = [LocalNeo4j(tmp_path / name, options=wanted) for name in ("one", "two")]
    try:
        with ThreadPoolExecutor() as pool:
            running = list(pool.map(LocalNeo4j.start, homes))

        assert len({each.uri for each in running}) == 2
        assert [_ask(each, "CYPHER 25 RETURN 1") for each in running] == [[[1]], [[1]]]
        logs = "".join(home.folder.console_log.read_text(encoding="utf-8") for home in homes)
        assert "unauthorized" not in logs
    finally:
        for home in homes:
            home.stop()


def test_a_server_that_dies_while_starting_is_explained_by_its_log(tmp_path: Path) -> None:
    """A heap that Java refuses: at once an error that ends with what the server said, and nothing runs."""
    server = LocalNeo4j(tmp_path, options=replace(SMALL, heap_mb=1))
    with pytest.raises(AmosError, match=r"(?s)ended while it was starting.*heap"):
        server.start()

    assert server.status().pid == 0


def test_too_little_space_is_told_before_the_start(tmp_path: Path) -> None:
    """The stated minimum is compared with the disk, and no server is started."""
    server = LocalNeo4j(tmp_path, options=replace(SMALL, start_free_mb=10**9))
    with pytest.raises(AmosError, match="are needed to start Neo4j") as refusal:
        server.start()

    assert refusal.value.code == "capacity_limited"
    assert server.status().state == "absent"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A file system of 24 MB, or nothing where mounting is not allowed."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    yield folder if mounted.returncode == 0 else None
    if mounted.returncode == 0:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.reliability("T25")
def test_a_disk_that_is_full_at_the_start_is_told_and_space_heals_it(small_disk: Path | None) -> None:
    """On a really full disk the start fails with one reason; once there is room, the same call works.

    Where no small file system can be mounted, only the check of the stated minimum is provable.
    """
    if small_disk is None:
        with pytest.raises(AmosError, match="free some space"):
            LocalNeo4j(ROOT / ".amos-none", options=replace(SMALL, start_free_mb=10**9)).start()
        shutil.rmtree(ROOT / ".amos-none")
        return
    server = LocalNeo4j(small_disk, options=replace(SMALL, start_free_mb=0, start_timeout_s=60.0))
    with pytest.raises(AmosError, match=r"the disk of .* is full") as refusal:
        server.start()
    assert refusal.value.code == "capacity_limited"
    assert server.status().pid == 0
    subprocess.run(["mount", "-o", "remount,size=400m", str(small_disk)], check=True)
    running = server.start()
    try:
        assert _ask(running, "CYPHER 25 RETURN 1") == [[1]]
    finally:
        assert server.stop() == "stopped"
