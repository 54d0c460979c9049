// List the shards of this store.
// @mode read
// @param limit INTEGER
// @rows many   shard STRING, graph_version INTEGER
// @sample {"limit": 100}
CYPHER 25
MATCH (j:Journal)
RETURN j.shard AS shard,
       j.graph_version AS graph_version
ORDER BY shard
LIMIT $limit
