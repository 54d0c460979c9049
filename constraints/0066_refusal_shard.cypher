// All of the shard with this label, also without their key: no other index leads to those.
CYPHER 25
CREATE INDEX refusal_shard IF NOT EXISTS
FOR (n:Refusal)
ON (n.shard)
