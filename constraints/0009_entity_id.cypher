// An entity id is unique in its shard.
CYPHER 25
CREATE CONSTRAINT entity_id IF NOT EXISTS
FOR (n:Entity)
REQUIRE (n.shard, n.id) IS UNIQUE
