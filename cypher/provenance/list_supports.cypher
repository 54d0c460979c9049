// List what atoms rest on, one step away: what they derive from or summarise, and their evidence.
// @mode read
// @param shard STRING
// @param refs LIST<STRING>        atoms
// @param classes LIST<STRING>     access classes that the caller may see
// @param cited LIST<STRING>       those of which the caller may know what their records rest on
// @param states LIST<STRING>      lifecycle states of atoms that the caller may see
// @param limit INTEGER            steps in all
// @rows many   child STRING, way STRING, ref STRING, source_type STRING?, source_ref STRING?, checksum STRING?, payload STRING?
// @sample {"shard": "t/w", "refs": ["a"], "classes": ["c"], "cited": ["c"], "states": ["active"], "limit": 100}
CYPHER 25
UNWIND $refs AS child
MATCH (a:Atom {shard: $shard, id: child})
MATCH (a)-[r:DERIVED_FROM|SUMMARIZES|EVIDENCED_BY]->(n)
WHERE n.access_class IN $classes
  AND (n:Atom OR a.access_class IN $cited)
  AND coalesce(r.access_class IN $classes, true)
  AND coalesce(n.lifecycle_state IN $states, true)
WITH DISTINCT child, type(r) AS way, n
LIMIT $limit
RETURN child,
       toLower(way) AS way,
       coalesce(n.id, n.evidence_id) AS ref,
       n.source_type AS source_type,
       n.source_ref AS source_ref,
       n.checksum AS checksum,
       CASE WHEN n.payload CONTAINS '"source_refs"' AND n.type IS NOT NULL THEN n.payload END AS payload
