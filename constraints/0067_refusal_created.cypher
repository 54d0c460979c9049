// Refusals in order of creation.
CYPHER 25
CREATE INDEX refusal_created IF NOT EXISTS
FOR (n:Refusal)
ON (n.shard, n.created_at)
