// Take the write lock of a shard that is being restored, made with its own identity if it is not there.
// Why: a copy of a store goes on being that store, so that checkpoints kept of it stay good.
// @mode write
// @param shard STRING
// @param store_id STRING
// @param lock_token STRING     fresh for each call
// @param genesis STRING        predecessor of the first event
// @rows one   store_id STRING, graph_version INTEGER, head_hash STRING
// @sample {"shard": "t/w", "store_id": "s", "lock_token": "x", "genesis": "sha256:0"}
CYPHER 25
MERGE (j:Journal {shard: $shard})
  ON CREATE SET j.store_id = $store_id,
                j.graph_version = 0,
                j.head_hash = $genesis,
                j.version_count = 0,
                j.body_bytes = 0,
                j.title = $shard
SET j.lock_token = $lock_token
WITH j
RETURN j.store_id AS store_id,
       j.graph_version AS graph_version,
       j.head_hash AS head_hash
