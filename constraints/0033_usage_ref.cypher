// A record has one usage.
CYPHER 25
CREATE CONSTRAINT usage_ref IF NOT EXISTS
FOR (n:Usage)
REQUIRE (n.shard, n.ref) IS UNIQUE
