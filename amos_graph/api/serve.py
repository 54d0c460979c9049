"""Run the service: `python -m amos_graph.api.serve`, which is what `amos up` starts in the background."""

from __future__ import annotations

import argparse
import logging
import threading
import time
from typing import Final

import uvicorn

from amos_graph.api.app import create_app
from amos_graph.api.store import STOP_S, open_graph
from amos_graph.api.warming import warm_up
from amos_graph.commands.dictionary import prepare
from amos_graph.encoding import open_encoder
from amos_graph.errors import AmosError
from amos_graph.graph.archive import open_archive
from amos_graph.graph.transactions import Graph
from amos_graph.queries.health import unsafe_settings
from amos_graph.settings import Settings
from amos_graph.upkeep.indexing import demand_model, keep_indexing

_log: Final = logging.getLogger(__name__)
_RETRY_S: Final = 2.0


def serve(graph: Graph, settings: Settings, host: str, port: int) -> None:
    """Serve until told to stop. Neo4j may come later: `/ready` says when it is there."""
    configure_logging()
    stopping = threading.Event()
    preparing = threading.Thread(target=_prepare, args=(graph, settings, stopping), daemon=True)
    preparing.start()
    app = create_app(graph, settings, open_archive(settings))
    try:
        uvicorn.run(
            app,
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_S,
        )
    finally:
        stopping.set()
        preparing.join(STOP_S)
        graph.close()


def configure_logging() -> None:
    """Log to standard error; never a statement's values, and not what Neo4j advises about statements."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    for name in ("neo4j", "httpx"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _prepare(graph: Graph, settings: Settings, stopping: threading.Event) -> None:
    """Prepare the store as soon as Neo4j answers (T30), warm up recall, then keep the vectors."""
    while not stopping.is_set():
        try:
            graph.driver.verify_connectivity()  # pyright: ignore[reportUnknownMemberType]
            for name in prepare(graph, settings):
                _log.info("migrated: %s", name)
            for setting in unsafe_settings(graph):
                _log.warning("Neo4j is configured unsafely: %s", setting)
            encoder = open_encoder(settings.encoder)
            demand_model(graph, encoder)
        except Exception as error:
            reason = error.message if isinstance(error, AmosError) else type(error).__name__
            _log.warning("not ready yet: %s", reason)
            stopping.wait(_RETRY_S)
        else:
            _warm_up(graph, settings)
            keep_indexing(graph, encoder, settings.index_interval_s, stopping)


def _warm_up(graph: Graph, settings: Settings) -> None:
    """Warm up; the service does not need it, so a fault there is told and stops nothing."""
    began = time.monotonic()
    try:
        recalls = warm_up(graph, settings)
    except Exception as error:
        _log.warning("not warmed up: %s", error.message if isinstance(error, AmosError) else error)
    else:
        _log.info("warmed up by %d recalls in %.1f s", recalls, time.monotonic() - began)


def main() -> None:
    """Serve with the settings of the environment."""
    settings = Settings()
    parser = argparse.ArgumentParser(prog="python -m amos_graph.api.serve")
    parser.add_argument("--host", default=settings.api_host)
    parser.add_argument("--port", type=int, default=settings.api_port)
    asked = parser.parse_args()
    serve(open_graph(settings), settings, asked.host, asked.port)


if __name__ == "__main__":
    main()
