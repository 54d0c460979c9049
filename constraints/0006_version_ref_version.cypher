// A record has one body per version.
CYPHER 25
CREATE CONSTRAINT version_ref_version IF NOT EXISTS
FOR (n:Version)
REQUIRE (n.shard, n.ref, n.version) IS UNIQUE
