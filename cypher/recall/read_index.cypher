// Read how far a shard's vectors reach, which statistics the caller's classes have, and what came since.
// Why: the atoms that came since, the tail, are compared exactly, so the next read sees every write; they
// are read before the index, newest first, and are as many as one packet looks at.
// @mode read
// @param shard STRING
// @param classes LIST<STRING>         access classes that the caller may see
// @param targeted LIST<STRING>        those of them whose policy names the processor
// @param states LIST<STRING>          state keys that are let in
// @param at ZONED DATETIME            the instant that the packet speaks of
// @param types LIST<STRING>           atom types; empty for all
// @param payload_filter MAP           lifted property → the values of which it must have one
// @param embedding_model STRING
// @param limit INTEGER                records written since that are looked at
// @rows one   indexed INTEGER, statistics LIST<LIST<STRING>>, tail LIST<LIST<ANY>>, scanned INTEGER
// @sample {"shard": "t/w", "classes": ["c"], "targeted": [], "states": ["live"], "at": null, "types": [], "payload_filter": {}, "embedding_model": "m", "limit": 10}
CYPHER 25
OPTIONAL MATCH (m:IndexMark {shard: $shard})
WHERE m.embedding_model = $embedding_model
WITH coalesce(m.graph_version, 0) AS indexed
CALL (indexed) {
  MATCH (v:Version {shard: $shard})
  WHERE v.graph_version > indexed
  WITH v
  ORDER BY v.graph_version DESC
  LIMIT $limit
  OPTIONAL MATCH (v)-[:OF]->(n:Atom|Edge)
  RETURN count(v) AS scanned,
         collect(DISTINCT CASE WHEN n:Atom THEN n.id WHEN n.relation = 'rel:supersedes' THEN n.target_ref END) AS refs
}
RETURN indexed,
       COLLECT {
         MATCH (t:TermStatistics {shard: $shard})
         WHERE t.access_class IN $classes
         RETURN [t.access_class, t.digest] AS told
         ORDER BY told
       } AS statistics,
       COLLECT {
         UNWIND refs AS ref
         MATCH (a:Atom {shard: $shard, id: ref})
         WHERE a.access_class IN $classes
           AND a.state_key IN $states
           AND (a.health_status <> 'privacy_sensitive' OR a.access_class IN $targeted)
           AND (a.state_key = 'superseded' OR coalesce(a.valid_from <= $at, true) AND coalesce($at < a.valid_until, true))
           AND (size($types) = 0 OR a.type IN $types)
           AND all(name IN keys($payload_filter) WHERE coalesce(a[name] IN $payload_filter[name], false))
         RETURN [a.id, a.content_digest]
       } AS tail,
       scanned
