// Finds the live atom that already says the same.
CYPHER 25
CREATE INDEX atom_content IF NOT EXISTS
FOR (n:Atom)
ON (n.shard, n.content_digest)
