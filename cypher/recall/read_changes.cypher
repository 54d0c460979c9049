// Read where a shard's journal stands, and what was written after a version; no row for an unknown shard.
// Why: a packet is of one version; it is read again unless what was written since cannot have touched it.
// @mode read
// @param shard STRING
// @param since INTEGER?      null at first, when only the head is wanted
// @param limit INTEGER       changes that are told
// @rows maybe   graph_version INTEGER, head_hash STRING, index_mark STRING?, accepted_at STRING?, head STRING?, changes LIST<MAP>
// @sample {"shard": "t/w", "since": 1, "limit": 10}
CYPHER 25
MATCH (j:Journal {shard: $shard})
RETURN j.graph_version AS graph_version,
       j.head_hash AS head_hash,
       head(COLLECT {
         MATCH (m:IndexMark {shard: $shard})
         RETURN m.embedding_model + ' ' + toString(m.graph_version) + ' ' + toString(m.counted_version)
       }) AS index_mark,
       j.accepted_at AS accepted_at,
       head(COLLECT { MATCH (j)-[:HEAD]->(e:Event) RETURN e.payload }) AS head,
       COLLECT {
         MATCH (v:Version {shard: $shard})
         WHERE v.graph_version > $since
         OPTIONAL MATCH (v)-[:OF]->(e:Edge|Score)
         RETURN v {
           .ref, .version, .graph_version,
           relation: e.relation, source_ref: coalesce(e.source_ref, e.of_ref), target_ref: e.target_ref,
           scored: coalesce(e:Score, false)
         }
         LIMIT $limit
       } AS changes
