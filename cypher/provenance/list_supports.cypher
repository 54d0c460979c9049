// List the steps by which atoms rest on what they rest on, each one once.
// @mode read
// @param shard STRING
// @param refs LIST<STRING>        atoms
// @param classes LIST<STRING>     access classes that the caller may see
// @param states LIST<STRING>      lifecycle states of atoms that the caller may see
// @param limit INTEGER            steps in all
// @rows many   child STRING, parent STRING, way STRING
// @sample {"shard": "t/w", "refs": ["a"], "classes": ["c"], "states": ["active"], "limit": 100}
CYPHER 25
UNWIND $refs AS ref
MATCH (a:Atom {shard: $shard, id: ref})
MATCH (a)-[r:DERIVED_FROM|SUMMARIZES|EVIDENCED_BY]->(n)
WHERE n.access_class IN $classes
  AND coalesce(r.access_class IN $classes, true)
  AND coalesce(n.lifecycle_state IN $states, true)
RETURN DISTINCT ref AS child,
       coalesce(n.id, n.evidence_id) AS parent,
       toLower(type(r)) AS way
LIMIT $limit
