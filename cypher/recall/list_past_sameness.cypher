// List what a shard's entities had become at a version: merged into another one, or split.
// Why: the graph's own links are those of now; in canonical JSON a name stands in quotes and is no text.
// @mode read
// @param shard STRING
// @param as_of INTEGER
// @param limit INTEGER
// @rows many   body STRING
// @sample {"shard": "t/w", "as_of": 10, "limit": 10}
CYPHER 25
MATCH (v:Version {shard: $shard})
USING INDEX v:Version(shard, ref, version)
WHERE v.ref STARTS WITH 'ent:'
  AND v.version > 0
  AND v.graph_version <= $as_of
WITH v.ref AS ref, max(v.version) AS version
MATCH (v:Version {shard: $shard, ref: ref, version: version})
WHERE v.body CONTAINS '"merged_into":"'
   OR v.body CONTAINS '"split_into":["'
RETURN v.body AS body
ORDER BY ref
LIMIT $limit
