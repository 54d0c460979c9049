// A record has one score.
CYPHER 25
CREATE CONSTRAINT score_id IF NOT EXISTS
FOR (n:Score)
REQUIRE (n.shard, n.id) IS UNIQUE
