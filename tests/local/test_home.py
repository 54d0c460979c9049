"""The folder of a managed Neo4j."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from amos_graph.errors import AmosError
from amos_graph.graph.local import LocalNeo4j, LocalOptions, default_cache, default_home
from amos_graph.graph.local.config import java_command, render, settings, write_private
from amos_graph.graph.local.home import HomeFolder, State


@pytest.fixture
def folder(tmp_path: Path) -> HomeFolder:
    made = HomeFolder(tmp_path / "neo4j")
    made.prepare()
    return made


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_password_is_made_once_and_private(folder: HomeFolder) -> None:
    """Long, random, readable by its owner only, the same at each call, unlike another home's."""
    password = folder.password()
    other = HomeFolder(folder.root.parent / "other")
    other.prepare()

    assert folder.password() == password != other.password()
    assert len(password) >= 32
    assert _mode(folder.password_file) == 0o600
    assert _mode(folder.root) == 0o700


def test_a_lost_password_is_told_not_replaced(folder: HomeFolder) -> None:
    """With data beside it a new password would open nothing; the sentence says what to put back."""
    folder.password()
    (folder.root / "data" / "databases" / "system").mkdir(parents=True)
    folder.password_file.unlink()
    with pytest.raises(AmosError, match="put the file back"):
        folder.password()

    assert not folder.password_file.exists()


def test_state_is_remembered_and_a_torn_file_does_no_harm(folder: HomeFolder) -> None:
    """Without a readable record the ports come from the last configuration, and no process is claimed."""
    state = State(7001, 7002, 42, "boot/1", "2026.08.1")
    folder.remember(state)
    assert folder.state() == state

    folder.state_file.write_text('{"bolt_port": 70')
    assert folder.state() == State()
    write_private(folder.root / "conf" / "neo4j.conf", render(settings(LocalOptions(), 7003, 7004)))
    assert folder.state() == State(7003, 7004)


def test_a_recorded_number_of_another_process_is_not_our_server(tmp_path: Path) -> None:
    """The record names this very test process with another start: the server counts as stopped."""
    server = LocalNeo4j(tmp_path)
    server.folder.prepare()
    server.folder.remember(State(7001, 7002, os.getpid(), "another-boot/1", "2026.08.1"))

    assert server.status().state == "absent"
    assert server.stop() == "not running"


def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    """As root on a folder given away, else on one of root's: told, and nothing is written there."""
    if os.getuid() == 0:
        root = tmp_path / "neo4j"
        root.mkdir()
        os.chown(root, 65534, 65534)
    else:
        root = Path("/usr")
    with pytest.raises(AmosError, match="belongs to user id"):
        HomeFolder(root).prepare()


def test_home_and_cache_follow_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """AMOS_HOME and AMOS_CACHE win; XDG_CACHE_HOME comes next; else the user's own folders."""
    for name in ("AMOS_HOME", "AMOS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (default_home(), default_cache()) == (tmp_path / ".amos-graph", tmp_path / ".cache" / "amos-graph")

    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert default_cache() == Path("/x/amos-graph")
    monkeypatch.setenv("AMOS_HOME", "/h")
    monkeypatch.setenv("AMOS_CACHE", "/c")
    assert (default_home(), default_cache()) == (Path("/h"), Path("/c"))


def test_nothing_secret_stands_in_the_command_or_the_configuration(folder: HomeFolder) -> None:
    """Every user of the machine can read a command line."""
    password = folder.password()
    options = LocalOptions()
    command = java_command(Path("/j/java"), [], "/lib/*", folder.root, options)
    text = render(settings(options, 7001, 7002))

    assert not any(password in part for part in [*command, text])


def test_uninstall_needs_a_yes(folder: HomeFolder) -> None:
    """Unconfirmed, nothing is deleted."""
    server = LocalNeo4j(folder.root.parent)
    with pytest.raises(AmosError) as refusal:
        server.uninstall(confirm=False)

    assert refusal.value.code == "review_required"
    assert folder.root.is_dir()


def test_uninstall_deletes_only_what_it_made(folder: HomeFolder) -> None:
    """Other things in the home stay, and a folder that was never a home of ours is not touched."""
    home = folder.root.parent
    (home / "archive").mkdir()
    (home / "elsewhere" / "neo4j").mkdir(parents=True)
    assert LocalNeo4j(home / "elsewhere").uninstall(confirm=True) == []
    assert (home / "elsewhere" / "neo4j").is_dir()

    (folder.root / "run" / "lock").touch()
    assert LocalNeo4j(home).uninstall(confirm=True) == [folder.root]
    assert (home / "archive").is_dir()
    assert not folder.root.exists()


def test_disk_use_is_told_without_a_server(tmp_path: Path) -> None:
    """Even before the first start: sizes of nothing, and what is free."""
    sizes = LocalNeo4j(tmp_path / "none", tmp_path / "cache").disk_use()

    assert sizes.pop("free") > 0
    assert set(sizes.values()) == {0}
