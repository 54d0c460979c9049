// Read a shard's journal: which store it is of, and where its head stands.
// Why: a reader beside writers can see one property from before a commit and the next from after it;
// whoever needs them to fit holds the shard's lock.
// @mode read
// @param shard STRING
// @rows maybe   store_id STRING, graph_version INTEGER, head_hash STRING, accepted_at STRING?
// @sample {"shard": "t/w"}
CYPHER 25
MATCH (j:Journal {shard: $shard})
RETURN j.store_id AS store_id,
       j.graph_version AS graph_version,
       j.head_hash AS head_hash,
       j.accepted_at AS accepted_at
