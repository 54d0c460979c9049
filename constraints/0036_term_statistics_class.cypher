// The words of an access class are counted once.
CYPHER 25
CREATE CONSTRAINT term_statistics_class IF NOT EXISTS
FOR (n:TermStatistics)
REQUIRE (n.shard, n.access_class) IS UNIQUE
