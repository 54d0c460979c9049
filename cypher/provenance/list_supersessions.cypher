// List the supersession edges at an atom with their newest bodies at or before a version of the graph.
// @mode read
// @param shard STRING
// @param ref STRING
// @param as_of INTEGER
// @param limit INTEGER
// @rows many   edge_id STRING, source_ref STRING, target_ref STRING, body STRING?
// @sample {"shard": "t/w", "ref": "a", "as_of": 10, "limit": 50}
CYPHER 25
CALL () {
  MATCH (e:Edge {shard: $shard, source_ref: $ref})
  RETURN e
  UNION
  MATCH (e:Edge {shard: $shard, target_ref: $ref})
  RETURN e
}
WITH e
WHERE e.relation = 'rel:supersedes'
CALL (e) {
  MATCH (v:Version {shard: $shard, ref: e.edge_id})
  WHERE v.version > 0 AND v.graph_version <= $as_of
  RETURN v.body AS body
  ORDER BY v.version DESC
  LIMIT 1
}
RETURN e.edge_id AS edge_id,
       e.source_ref AS source_ref,
       e.target_ref AS target_ref,
       body
ORDER BY edge_id
LIMIT $limit
