// An idempotency key is bound once within its scope.
CYPHER 25
CREATE CONSTRAINT receipt_scope_key IF NOT EXISTS
FOR (n:Receipt)
REQUIRE (n.shard, n.scope_key) IS UNIQUE
