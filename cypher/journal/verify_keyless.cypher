// List what stands in a shard where no index lookup leads: nodes without their key, and their links.
// Why: constraints of Neo4j Community cannot demand a property, so a scan of the labels must look.
// @mode read
// @param shard STRING
// @param kinds LIST<STRING>      labels that only an Atom bears
// @param limit INTEGER
// @rows many   kind STRING, label STRING, ref STRING?
// @sample {"shard": "t/w", "kinds": ["Live", "Belief"], "limit": 10}
CYPHER 25
CALL () {
  MATCH (n:Atom|Entity|RelationType|EnumValue|Client)
  WHERE n.shard = $shard
    AND n.id IS NULL
  RETURN 'stray_node' AS kind, labels(n)[0] AS label, n.title AS ref
  UNION ALL
  MATCH (n:Edge|Evidence|Event|AccessClass|InteractionStream)
  WHERE n.shard = $shard
    AND ((n:Edge AND n.edge_id IS NULL)
      OR (n:Evidence AND n.evidence_id IS NULL)
      OR (n:Event AND n.graph_version IS NULL)
      OR (n:AccessClass AND n.access_class IS NULL)
      OR (n:InteractionStream AND n.stream_id IS NULL))
  RETURN 'stray_node' AS kind, labels(n)[0] AS label, n.title AS ref
  UNION ALL
  MATCH (n:Version)
  WHERE n.shard = $shard
    AND (n.ref IS NULL OR n.version IS NULL)
  RETURN 'stray_version' AS kind, 'Version' AS label, n.ref AS ref
  UNION ALL
  MATCH (n:$any($kinds))
  WHERE n.shard = $shard
    AND NOT n:Atom
  RETURN 'stray_node' AS kind, labels(n)[0] AS label, coalesce(n.id, n.title) AS ref
  UNION ALL
  MATCH (n:Journal|AccessClass|InteractionStream|Receipt)-[r]->()
  WHERE n.shard = $shard
    AND NOT (n:Journal AND type(r) = 'HEAD')
  RETURN 'stray_relationship' AS kind, type(r) AS label, n.title AS ref
}
RETURN kind,
       label,
       CASE WHEN ref IS :: STRING THEN ref END AS ref
ORDER BY label, ref
LIMIT $limit
