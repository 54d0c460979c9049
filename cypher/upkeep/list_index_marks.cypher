// List the shards that have memories, where each stands, and how far its vectors reach.
// @mode read
// @param limit INTEGER
// @rows many   shard STRING, head INTEGER, indexed INTEGER, counted INTEGER, embedding_model STRING?
// @sample {"limit": 10}
CYPHER 25
MATCH (j:Journal)
WHERE j.shard IS NOT NULL
OPTIONAL MATCH (m:IndexMark {shard: j.shard})
RETURN j.shard AS shard,
       j.graph_version AS head,
       coalesce(m.graph_version, 0) AS indexed,
       coalesce(m.counted_version, 0) AS counted,
       m.embedding_model AS embedding_model
ORDER BY shard
LIMIT $limit
