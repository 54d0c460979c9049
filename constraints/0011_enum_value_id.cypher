// An enum value is defined once per shard.
CYPHER 25
CREATE CONSTRAINT enum_value_id IF NOT EXISTS
FOR (n:EnumValue)
REQUIRE (n.shard, n.id) IS UNIQUE
