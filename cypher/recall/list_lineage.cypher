// List what atoms supersede, derive from or summarise, and what does so to them, one step away.
// @mode read
// @param shard STRING
// @param ids LIST<STRING>
// @param classes LIST<STRING>      access classes that the caller may see
// @param targeted LIST<STRING>     those of them whose policy names the processor
// @param limit INTEGER             steps of one atom
// @rows many   id STRING, edge_id STRING, relation STRING, along BOOLEAN, other_id STRING, title STRING, version INTEGER, state_key STRING
// @sample {"shard": "t/w", "ids": ["a"], "classes": ["c"], "targeted": [], "limit": 10}
CYPHER 25
UNWIND $ids AS id
MATCH (a:Atom {shard: $shard, id: id})
CALL (a) {
  MATCH (a)-[r:SUPERSEDES|DERIVED_FROM|SUMMARIZES]-(b:Atom)
  WHERE r.access_class IN $classes
    AND b.access_class IN $classes
    AND (b.health_status <> 'privacy_sensitive' OR b.access_class IN $targeted)
  RETURN r, b
  ORDER BY r.edge_id
  LIMIT $limit
}
RETURN id,
       r.edge_id AS edge_id,
       'rel:' + toLower(type(r)) AS relation,
       startNode(r) = a AS along,
       b.id AS other_id,
       b.title AS title,
       b.version AS version,
       b.state_key AS state_key
ORDER BY id, edge_id
