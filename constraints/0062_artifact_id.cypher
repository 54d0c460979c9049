// An artifact id is unique in its shard.
CYPHER 25
CREATE CONSTRAINT artifact_id IF NOT EXISTS
FOR (n:Artifact)
REQUIRE (n.shard, n.id) IS UNIQUE
