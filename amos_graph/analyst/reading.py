"""The connection of the read models: one in which Neo4j itself refuses to write."""

from __future__ import annotations

from typing import Any, cast

import neo4j
from neomodel import db

from amos_graph.api.store import open_graph
from amos_graph.settings import Settings


class _Reader:
    """What neomodel needs of a driver; each session of it is one that only reads."""

    def __init__(self, driver: neo4j.Driver, database: str) -> None:
        self._driver = driver
        self._database = database

    def session(self, **options: Any) -> neo4j.Session:
        """A session in which Neo4j itself refuses to write, whatever neomodel asked for."""
        fixed = {"default_access_mode": neo4j.READ_ACCESS, "database": self._database}
        return self._driver.session(**{**options, **fixed})  # pyright: ignore[reportUnknownMemberType]

    def close(self) -> None:
        """Nothing: the driver belongs to whoever made it."""


def connect(driver: neo4j.Driver | None = None, database: str = "neo4j") -> None:
    """Bind the models to a driver, else to the Neo4j of the settings; for this whole process, to read.

    Whoever holds a database's login sees every shard, whatever the access policies say.

    Raises `unavailable` when no driver is given and the managed Neo4j does not run.
    """
    if driver is None:
        graph = open_graph(Settings())
        driver, database = graph.driver, graph.database
    db.set_connection(driver=cast("neo4j.Driver", _Reader(driver, database)))
