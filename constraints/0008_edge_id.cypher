// An edge id is unique in its shard.
CYPHER 25
CREATE CONSTRAINT edge_id IF NOT EXISTS
FOR (n:Edge)
REQUIRE (n.shard, n.edge_id) IS UNIQUE
