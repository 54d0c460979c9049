// Take the shard's write lock, then read its head and the receipts that the given keys are bound to.
// Why: reads are read-committed, so whatever was read before the lock may be stale; writing a fresh
// value takes the lock, and everything after WITH is read under it.
// @mode write
// @param shard STRING
// @param scope_keys LIST<STRING>      digests of idempotency scope and key
// @param lock_token STRING            fresh for each call
// @param genesis STRING               predecessor of the first event
// @rows one   graph_version INTEGER, head_hash STRING, accepted_at STRING?, receipts LIST<MAP>
// @sample {"shard": "t/w", "scope_keys": ["k"], "lock_token": "x", "genesis": "sha256:0"}
CYPHER 25
MERGE (j:Journal {shard: $shard})
  ON CREATE SET j.store_id = randomUUID(),
                j.graph_version = 0,
                j.head_hash = $genesis,
                j.version_count = 0,
                j.body_bytes = 0,
                j.title = $shard
SET j.lock_token = $lock_token
WITH j
RETURN j.graph_version AS graph_version,
       j.head_hash AS head_hash,
       j.accepted_at AS accepted_at,
       COLLECT {
         UNWIND $scope_keys AS scope_key
         MATCH (r:Receipt {shard: $shard, scope_key: scope_key})
         RETURN {scope_key: scope_key, payload_digest: r.payload_digest, result: r.result}
       } AS receipts
