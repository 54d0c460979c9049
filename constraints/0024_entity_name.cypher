// Browsing entities by name.
CYPHER 25
CREATE INDEX entity_name IF NOT EXISTS
FOR (n:Entity)
ON (n.shard, n.canonical_name)
