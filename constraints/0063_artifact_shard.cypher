// All of the shard with this label, also without their key: no other index leads to those.
CYPHER 25
CREATE INDEX artifact_shard IF NOT EXISTS
FOR (n:Artifact)
ON (n.shard)
