// List nodes of a shard that no command made: records without a Version, Versions without an event.
// @mode read
// @param shard STRING
// @param limit INTEGER
// @rows many   kind STRING, label STRING, ref STRING?
// @sample {"shard": "t/w", "limit": 10}
CYPHER 25
CALL () {
  MATCH (n:Atom {shard: $shard}) WHERE n.id IS NOT NULL RETURN n, n.id AS ref
  UNION ALL
  MATCH (n:Edge {shard: $shard}) WHERE n.edge_id IS NOT NULL RETURN n, n.edge_id AS ref
  UNION ALL
  MATCH (n:Entity {shard: $shard}) WHERE n.id IS NOT NULL RETURN n, n.id AS ref
  UNION ALL
  MATCH (n:RelationType {shard: $shard}) WHERE n.id IS NOT NULL RETURN n, n.id AS ref
  UNION ALL
  MATCH (n:EnumValue {shard: $shard}) WHERE n.id IS NOT NULL RETURN n, n.id AS ref
  UNION ALL
  MATCH (n:Evidence {shard: $shard}) WHERE n.evidence_id IS NOT NULL RETURN n, n.evidence_id AS ref
  UNION ALL
  MATCH (n:Client {shard: $shard}) WHERE n.id IS NOT NULL RETURN n, n.id AS ref
  UNION ALL
  MATCH (n:Score {shard: $shard}) WHERE n.id IS NOT NULL RETURN n, n.id AS ref
  UNION ALL
  MATCH (n:Artifact {shard: $shard}) WHERE n.id IS NOT NULL RETURN n, n.id AS ref
  UNION ALL
  MATCH (n:Refusal {shard: $shard}) WHERE n.id IS NOT NULL RETURN n, n.id AS ref
}
WITH n, ref
WHERE NOT EXISTS { (:Version)-[:OF]->(n) }
RETURN 'stray_node' AS kind,
       labels(n)[0] AS label,
       ref
ORDER BY label, ref
LIMIT $limit
UNION ALL
MATCH (v:Version {shard: $shard})
WHERE v.ref IS NOT NULL
  AND v.version IS NOT NULL
  AND NOT EXISTS { (:Event)-[:WROTE]->(v) }
RETURN 'stray_version' AS kind,
       'Version' AS label,
       v.ref AS ref
LIMIT $limit
