"""Every example that is marked as runnable runs, in order, against a served app and a fresh tenant."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from amos_graph.api.app import create_app
from amos_graph.cli.credentials import Credentials, write_credentials
from amos_graph.commands.clients import register_client
from amos_graph.commands.execution import Context
from amos_graph.domain.scope import CAPABILITIES
from amos_graph.graph.archive import Archive
from amos_graph.graph.transactions import Graph
from amos_graph.settings import Settings
from tests import administrator
from tests.api.conftest import serving
from tests.docs.documents import DOCUMENTS, Fence, fences, name_of
from tests.server import Server

#: An example of four commands takes about eight seconds; a busy machine is given its time.
EXAMPLE_S = 240
RUNNABLE = {
    name_of(document): [fence for fence in fences(document) if fence.runnable] for document in DOCUMENTS
}


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who follows a document: a shell with `amos`, the two variables, and a folder."""

    environment: dict[str, str]
    folder: Path

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=EXAMPLE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def reader(
    graph: Graph, settings: Settings, context: Context, server: Server, tmp_path: Path
) -> Iterator[Reader]:
    """A reader of a document, with a running service and a token of their own."""
    everything = {"id": "cli_reader_of_docs", "service_id": "svc:docs", "capabilities": list(CAPABILITIES)}
    token = register_client(context, everything).token
    app = create_app(graph, settings, Archive(settings.archive_folder))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AMOS_")}
    with serving(app) as url:
        write_credentials(settings, Credentials(url, "cli_reader_of_docs", token, settings.tenant, "w"))
        yield Reader(
            inherited
            | {
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "AMOS_URL": url,
                "AMOS_TOKEN": token,
                "AMOS_HOME": str(settings.home),
                "AMOS_NEO4J_URI": server.uri,
                "AMOS_NEO4J_USER": server.user,
                "AMOS_NEO4J_PASSWORD": server.password,
                "AMOS_TENANT": settings.tenant,
                "AMOS_WORKSPACE": "w",
                "NO_PROXY": "127.0.0.1",
            },
            tmp_path,
        )


@pytest.mark.parametrize("document", [name for name, found in RUNNABLE.items() if found])
def test_the_examples_of_a_document_run(reader: Reader, graph: Graph, document: str) -> None:
    """One after the other, as a reader would try them; each ends well and no answer is a refusal."""
    for example in RUNNABLE[document]:
        _run(reader, graph, example)


def _run(reader: Reader, graph: Graph, example: Fence) -> None:
    if example.language == "cypher":
        assert administrator.run(graph, example.text)
        return
    commands = {"python": (sys.executable, "-c"), "bash": ("bash", "-euo", "pipefail", "-c")}
    told = reader.run(*commands[example.language], example.text)

    # The service answers a refusal with a body; curl takes it for a success.
    assert '"errors":[{' not in told, told
    assert '"found":false' not in told, told


def test_there_are_examples_in_python_bash_and_cypher() -> None:
    """The marks are found: README has both of its examples, and other documents have theirs."""
    languages = {fence.language for found in RUNNABLE.values() for fence in found}

    assert languages == {"python", "bash", "cypher"}
    assert [fence.language for fence in RUNNABLE["README.md"]] == ["python", "bash"]
