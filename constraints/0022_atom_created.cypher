// Listing in order of creation.
CYPHER 25
CREATE INDEX atom_created IF NOT EXISTS
FOR (n:Atom)
ON (n.shard, n.created_at)
