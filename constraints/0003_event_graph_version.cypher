// The chain of a shard never forks: one event per graph version.
CYPHER 25
CREATE CONSTRAINT event_graph_version IF NOT EXISTS
FOR (n:Event)
REQUIRE (n.shard, n.graph_version) IS UNIQUE
