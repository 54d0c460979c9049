// Listing by type in order of creation.
CYPHER 25
CREATE INDEX atom_type IF NOT EXISTS
FOR (n:Atom)
ON (n.shard, n.type, n.created_at)
