// An event id is used once per shard.
CYPHER 25
CREATE CONSTRAINT event_id IF NOT EXISTS
FOR (n:Event)
REQUIRE (n.shard, n.event_id) IS UNIQUE
