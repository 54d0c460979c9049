// The edges that arrive at an atom, detached ones included.
CYPHER 25
CREATE INDEX edge_target IF NOT EXISTS
FOR (n:Edge)
ON (n.shard, n.target_ref)
