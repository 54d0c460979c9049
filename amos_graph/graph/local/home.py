"""The folder of one managed Neo4j: data, configuration, password, and what is known of its process."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from amos_graph.errors import AmosError
from amos_graph.graph.local.config import write_private
from amos_graph.graph.local.installation import make_folder

_FOLDERS: Final = ("conf", "data", "logs", "run", "import", "plugins")
_LISTENS: Final = re.compile(r"^server\.(bolt|http)\.listen_address=\S+:(\d+)$", re.MULTILINE)
_TAIL_BYTES: Final = 256 * 1024
#: What Neo4j writes once its Bolt port is bound.
_LISTENING: Final = b"Bolt enabled on"


@dataclass(frozen=True, slots=True)
class State:
    """What a start leaves for the next command: ports always, a process while one runs."""

    bolt_port: int = 0
    http_port: int = 0
    pid: int = 0
    started: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class HomeFolder:
    """`AMOS_HOME/neo4j` and the files in it that are ours."""

    root: Path

    @property
    def password_file(self) -> Path:
        return self.root / "run" / "password"

    @property
    def state_file(self) -> Path:
        return self.root / "run" / "state.json"

    @property
    def lock_file(self) -> Path:
        return self.root / "run" / "lock"

    @property
    def console_log(self) -> Path:
        return self.root / "logs" / "console.log"

    @property
    def exists(self) -> bool:
        return self.lock_file.is_file()

    @property
    def has_data(self) -> bool:
        """Whether a server has run here, and so the password is fixed."""
        return (self.root / "data" / "databases" / "system").is_dir()

    def prepare(self) -> None:
        """Create what is missing. Raises `unavailable` when the folder is another user's."""
        make_folder(self.root)
        owner = self.root.stat().st_uid
        if owner != os.getuid():
            raise AmosError(
                "unavailable",
                f"the folder {self.root} belongs to user id {owner} and you are {os.getuid()}: run this "
                "as its owner, or choose another folder with AMOS_HOME",
            )
        self.root.chmod(0o700)
        for name in _FOLDERS:
            make_folder(self.root / name)

    def state(self) -> State:
        """The remembered state; without a readable one, the ports that the last configuration names."""
        try:
            found: Any = json.loads(self.state_file.read_text(encoding="utf-8"))
            return State(
                int(found["bolt_port"]),
                int(found["http_port"]),
                int(found["pid"]),
                str(found["started"]),
                str(found["version"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return State(*self._configured_ports())

    def _configured_ports(self) -> tuple[int, int]:
        try:
            text = (self.root / "conf" / "neo4j.conf").read_text(encoding="utf-8")
        except OSError:
            return 0, 0
        found = dict(_LISTENS.findall(text))
        return int(found.get("bolt", 0)), int(found.get("http", 0))

    def remember(self, state: State) -> None:
        write_private(self.state_file, json.dumps(asdict(state), indent=2) + "\n")

    def forget_process(self) -> None:
        """Keep the ports for the next start, drop the process."""
        self.remember(replace(self.state(), pid=0, started=""))

    def password(self) -> str:
        """The password; made on the first call.

        Raises `unavailable` when it is lost while the data that it opens is still there.
        """
        try:
            text = self.password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            text = ""
        except OSError as error:
            raise AmosError(
                "unavailable", f"the password file {self.password_file} cannot be read: {error.strerror}"
            ) from error
        if text:
            return text
        if self.has_data:
            raise AmosError(
                "unavailable",
                f"the password file {self.password_file} is lost, and the data beside it opens with that "
                "password only: put the file back (one line), or delete the data: amos neo4j uninstall",
            )
        text = secrets.token_urlsafe(24)
        # A leading dash would be read as an option by the command that sets it.
        write_private(self.password_file, f"p{text}\n")
        return f"p{text}"

    def log_tail(self, lines: int) -> list[str]:
        """The last lines of the console log, the newest one last."""
        try:
            with self.console_log.open("rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - _TAIL_BYTES))
                return file.read().decode("utf-8", "replace").splitlines()[-lines:]
        except FileNotFoundError:
            return []

    def listens(self) -> bool:
        """Whether the server of this home has its Bolt port, as its own log says.

        Two servers that start at once can mean the same port. The one that gets it must not be asked
        with the other's password: it would lock its user out.
        """
        try:
            with self.console_log.open("rb") as file:
                return _LISTENING in file.read(_TAIL_BYTES)
        except FileNotFoundError:
            # Somebody put the log of a running server away.
            return True

    def turn_log(self) -> None:
        """Begin a new console log; one older one is kept."""
        if self.console_log.is_file():
            self.console_log.replace(self.console_log.with_suffix(".log.1"))

    def sizes(self) -> dict[str, int]:
        """Bytes on disk of data, transaction logs and logs."""
        transactions = self.root / "data" / "transactions"
        data = folder_bytes(self.root / "data")
        logs = folder_bytes(transactions)
        return {"data": data - logs, "transaction_logs": logs, "logs": folder_bytes(self.root / "logs")}

    def remove(self) -> None:
        shutil.rmtree(self.root)


def folder_bytes(folder: Path) -> int:
    """What the files of a folder take on disk; a file that goes away meanwhile counts as nothing."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(base) / name).lstat().st_blocks * 512
            except OSError:
                continue
    return total
