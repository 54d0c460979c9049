// One record per schema statement; first, so that the runner's own MERGE is safe.
CYPHER 25
CREATE CONSTRAINT migration_name IF NOT EXISTS
FOR (n:Migration)
REQUIRE n.name IS UNIQUE
