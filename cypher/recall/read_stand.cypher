// Read where a shard's journal stands, and how far its vectors and counts of words reach.
// Why: a packet that is kept is given again only where all of this is as it was.
// @mode read
// @param shard STRING
// @rows maybe   graph_version INTEGER, head_hash STRING, index_mark STRING?
// @sample {"shard": "t/w"}
CYPHER 25
MATCH (j:Journal {shard: $shard})
OPTIONAL MATCH (m:IndexMark {shard: $shard})
RETURN j.graph_version AS graph_version,
       j.head_hash AS head_hash,
       m.embedding_model + ' ' + toString(m.graph_version) + ' ' + toString(m.counted_version) AS index_mark
