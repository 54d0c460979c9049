// A client id is unique in its shard.
CYPHER 25
CREATE CONSTRAINT client_id IF NOT EXISTS
FOR (n:Client)
REQUIRE (n.shard, n.id) IS UNIQUE
