// Hold the shard's write lock, change nothing that counts, and tell where the journal stands.
// Why: what looks wrong, or half applied, while writers run is read again under the lock.
// @mode write
// @param shard STRING
// @param lock_token STRING
// @rows maybe   graph_version INTEGER
// @sample {"shard": "t/w", "lock_token": "x"}
CYPHER 25
MATCH (j:Journal {shard: $shard})
SET j.lock_token = $lock_token
RETURN j.graph_version AS graph_version
