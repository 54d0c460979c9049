// Hold the shard's write lock and change nothing that counts.
// Why: what looks wrong while writers run is read again under the lock before it is called a fault.
// @mode write
// @param shard STRING
// @param lock_token STRING
// @rows none
// @sample {"shard": "t/w", "lock_token": "x"}
CYPHER 25
MATCH (j:Journal {shard: $shard})
SET j.lock_token = $lock_token
