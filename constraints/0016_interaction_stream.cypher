// One head per conversation.
CYPHER 25
CREATE CONSTRAINT interaction_stream IF NOT EXISTS
FOR (n:InteractionStream)
REQUIRE (n.shard, n.stream_id) IS UNIQUE
