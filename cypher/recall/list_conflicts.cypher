// List the contradictions in which atoms stand, with the other side of each.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @param classes LIST<STRING>      access classes that the caller may see
// @param targeted LIST<STRING>     those of them whose policy names the processor
// @param limit INTEGER             contradictions of one atom
// @rows many   id STRING, edge_id STRING, other_id STRING, confidence FLOAT
// @sample {"shard": "t/w", "ids": ["a"], "classes": ["c"], "targeted": [], "limit": 10}
CYPHER 25
UNWIND $ids AS id
MATCH (a:Atom {shard: $shard, id: id})
CALL (a) {
  MATCH (a)-[r:CONTRADICTS]-(b:Atom)
  WHERE r.access_class IN $classes
    AND b.access_class IN $classes
    AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
  RETURN r, b
  ORDER BY r.edge_id
  LIMIT $limit
}
RETURN id,
       r.edge_id AS edge_id,
       b.id AS other_id,
       r.confidence AS confidence
ORDER BY edge_id, id
