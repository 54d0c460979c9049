"""The statements of this folder on the suite's own Neo4j."""

from __future__ import annotations

from amos_graph.graph.local.readiness import DATABASE, DatabaseRow, NodesRow
from amos_graph.graph.procedures import procedure
from amos_graph.graph.transactions import Graph
from tests.local.test_server import SettingRow


def test_the_database_answers_and_is_online(graph: Graph) -> None:
    """Nodes are counted from the count store; the database is online and has nothing to say."""
    nodes = graph.read("test", lambda tx: tx.one(procedure("upkeep/count_nodes", NodesRow)))
    databases = graph.read("test", lambda tx: tx.many(procedure("upkeep/show_databases", DatabaseRow)))

    assert nodes.nodes >= 0
    assert DatabaseRow(DATABASE, "online", "") in databases


def test_settings_are_shown_with_their_values(graph: Graph) -> None:
    """Names and values are text, whatever the setting's own type is."""
    rows = graph.read("test", lambda tx: tx.many(procedure("upkeep/show_settings", SettingRow)))

    assert {"dbms.security.auth_enabled", "server.directories.import"} <= {row.name for row in rows}
