// Read a page of what a shard held at a version: each record at its newest version then, and who sees it now.
// Why: the past has no index; a composite index serves only where each property is restricted, hence
// version > 0. Whoever lost the right to a record lost its past with it, hence the present access class.
// @mode read
// @param shard STRING
// @param as_of INTEGER
// @param kinds LIST<STRING>      kinds of records whose bodies are wanted
// @param after STRING            the last ref of the page before
// @param limit INTEGER
// @rows many   ref STRING, kind STRING, body STRING?, event_id STRING?, access_class STRING?
// @sample {"shard": "t/w", "as_of": 10, "kinds": ["atom"], "after": "", "limit": 10}
CYPHER 25
MATCH (v:Version {shard: $shard})
USING INDEX v:Version(shard, ref, version)
WHERE v.ref > $after
  AND v.version > 0
  AND v.graph_version <= $as_of
WITH v.ref AS ref, max(v.version) AS version
ORDER BY ref
LIMIT $limit
MATCH (v:Version {shard: $shard, ref: ref, version: version})
RETURN ref,
       v.kind AS kind,
       CASE WHEN v.kind IN $kinds THEN v.body END AS body,
       head(COLLECT { MATCH (e:Event)-[:WROTE]->(v) RETURN e.event_id }) AS event_id,
       head(COLLECT { MATCH (v)-[:OF]->(n) RETURN n.access_class }) AS access_class
ORDER BY ref
