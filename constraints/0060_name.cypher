// One node per name in a shard, however many texts have it.
CYPHER 25
CREATE CONSTRAINT name IF NOT EXISTS
FOR (n:Name)
REQUIRE (n.shard, n.name) IS UNIQUE
