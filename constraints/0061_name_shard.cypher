// All of the shard with this label, also without their key: no other index leads to those.
CYPHER 25
CREATE INDEX name_shard IF NOT EXISTS
FOR (n:Name)
ON (n.shard)
