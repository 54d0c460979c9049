// Hold a shard's write lock while a packet is read; no row for an unknown shard, which stays unknown.
// Why: the last resort under steady writing. Only the lock's own token is written, never a version.
// @mode write
// @param shard STRING
// @param lock_token STRING     fresh for each call
// @rows maybe   graph_version INTEGER
// @sample {"shard": "t/w", "lock_token": "x"}
CYPHER 25
MATCH (j:Journal {shard: $shard})
SET j.lock_token = $lock_token
RETURN j.graph_version AS graph_version
