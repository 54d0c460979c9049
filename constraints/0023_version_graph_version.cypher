// What was written at or before a version of the graph.
CYPHER 25
CREATE INDEX version_graph_version IF NOT EXISTS
FOR (n:Version)
ON (n.shard, n.graph_version)
