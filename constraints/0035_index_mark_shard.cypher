// One mark per shard says how far its vectors reach.
CYPHER 25
CREATE CONSTRAINT index_mark_shard IF NOT EXISTS
FOR (n:IndexMark)
REQUIRE n.shard IS UNIQUE
