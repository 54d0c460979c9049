// The edges that leave an atom, detached ones included.
CYPHER 25
CREATE INDEX edge_source IF NOT EXISTS
FOR (n:Edge)
ON (n.shard, n.source_ref)
