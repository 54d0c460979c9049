// One journal, and so one writer lock, per shard.
CYPHER 25
CREATE CONSTRAINT journal_shard IF NOT EXISTS
FOR (n:Journal)
REQUIRE n.shard IS UNIQUE
