// Which artifacts have had their time.
CYPHER 25
CREATE INDEX artifact_expires IF NOT EXISTS
FOR (n:Artifact)
ON (n.shard, n.lifecycle_state, n.expires_at)
