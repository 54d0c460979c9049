// An atom id is unique in its shard.
CYPHER 25
CREATE CONSTRAINT atom_id IF NOT EXISTS
FOR (n:Atom)
REQUIRE (n.shard, n.id) IS UNIQUE
