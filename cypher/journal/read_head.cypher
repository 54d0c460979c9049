// Read where a shard's journal stands; a shard that nobody wrote to gives no row.
// @mode read
// @param shard STRING
// @rows maybe   graph_version INTEGER, head_hash STRING
// @sample {"shard": "t/w"}
CYPHER 25
MATCH (j:Journal {shard: $shard})
RETURN j.graph_version AS graph_version,
       j.head_hash AS head_hash
