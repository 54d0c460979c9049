// A refusal id is unique in its shard.
CYPHER 25
CREATE CONSTRAINT refusal_id IF NOT EXISTS
FOR (n:Refusal)
REQUIRE (n.shard, n.id) IS UNIQUE
