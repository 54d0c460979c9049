// One node per class of records with the same answer to who may see them.
CYPHER 25
CREATE CONSTRAINT access_class IF NOT EXISTS
FOR (n:AccessClass)
REQUIRE (n.shard, n.access_class) IS UNIQUE
