// A relation is defined once per shard.
CYPHER 25
CREATE CONSTRAINT relation_type_id IF NOT EXISTS
FOR (n:RelationType)
REQUIRE (n.shard, n.id) IS UNIQUE
