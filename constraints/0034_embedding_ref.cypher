// An atom has one embedding.
CYPHER 25
CREATE CONSTRAINT embedding_ref IF NOT EXISTS
FOR (n:Embedding)
REQUIRE (n.shard, n.ref) IS UNIQUE
