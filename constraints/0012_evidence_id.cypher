// An evidence id is unique in its shard.
CYPHER 25
CREATE CONSTRAINT evidence_id IF NOT EXISTS
FOR (n:Evidence)
REQUIRE (n.shard, n.evidence_id) IS UNIQUE
