// All of the shard with this label, also without their key: no other index leads to those.
CYPHER 25
CREATE INDEX atom_shard IF NOT EXISTS
FOR (n:Atom)
ON (n.shard)
