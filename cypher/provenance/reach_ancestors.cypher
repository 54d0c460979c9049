// Reach what atoms rest on, by derivation, summary and evidence: each ancestor once, with its least distance.
// Why: ANY SHORTEST keeps one way to each node, so a thousand ways through shared ancestors cost no more than one,
// and a circle ends where it began. The quantifier's bound is the hard one; depth_max is the caller's.
// @mode read
// @param shard STRING
// @param starts LIST<STRING>      atoms
// @param classes LIST<STRING>     access classes that the caller may see
// @param states LIST<STRING>      lifecycle states of atoms that the caller may see
// @param depth_max INTEGER        at most 64
// @param limit INTEGER            ancestors of one start
// @rows many   ref STRING, depth INTEGER, source_type STRING?, source_ref STRING?, checksum STRING?, payload STRING?
// @sample {"shard": "t/w", "starts": ["a"], "classes": ["c"], "states": ["active"], "depth_max": 16, "limit": 100}
CYPHER 25
UNWIND $starts AS start
MATCH (a:Atom {shard: $shard, id: start})
CALL (a) {
  MATCH way = ANY SHORTEST (a)
    (()-[r:DERIVED_FROM|SUMMARIZES|EVIDENCED_BY]->(step)
      WHERE step.access_class IN $classes
        AND coalesce(r.access_class IN $classes, true)
        AND coalesce(step.lifecycle_state IN $states, true)){1,64}
    (n)
  WHERE length(way) <= $depth_max
  RETURN n, length(way) AS depth
  LIMIT $limit
}
WITH n, min(depth) AS depth
RETURN coalesce(n.id, n.evidence_id) AS ref,
       depth,
       n.source_type AS source_type,
       n.source_ref AS source_ref,
       n.checksum AS checksum,
       CASE WHEN n.payload CONTAINS '"source_refs"' AND n.type IS NOT NULL THEN n.payload END AS payload
