// List relationships of a shard that start where none of their kind may.
// Why: what leaves atoms is compared record by record; the other nodes have few kinds of links.
// @mode read
// @param shard STRING
// @param limit INTEGER
// @rows many   kind STRING, label STRING, ref STRING?
// @sample {"shard": "t/w", "limit": 10}
CYPHER 25
CALL () {
  MATCH (n:Edge {shard: $shard})-[r:!EVIDENCED_BY]->() WHERE n.edge_id IS NOT NULL
  RETURN n.edge_id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Entity {shard: $shard})-[r:!(MERGED_INTO|SPLIT_INTO|NAMED)]->()
  WHERE n.id IS NOT NULL
  RETURN n.id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:RelationType {shard: $shard})-[r]->() WHERE n.id IS NOT NULL RETURN n.id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:EnumValue {shard: $shard})-[r]->() WHERE n.id IS NOT NULL RETURN n.id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Evidence {shard: $shard})-[r]->() WHERE n.evidence_id IS NOT NULL RETURN n.evidence_id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Client {shard: $shard})-[r]->() WHERE n.id IS NOT NULL RETURN n.id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Score {shard: $shard})-[r]->() WHERE n.id IS NOT NULL RETURN n.id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Artifact {shard: $shard})-[r:!(REFERS_TO|TOLD_FROM)]->() WHERE n.id IS NOT NULL RETURN n.id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Refusal {shard: $shard})-[r]->() WHERE n.id IS NOT NULL RETURN n.id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Event {shard: $shard})-[r:!NEXT&!WROTE]->()
  WHERE n.graph_version IS NOT NULL
  RETURN n.event_id AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Version {shard: $shard})-[r:!OF]->()
  WHERE n.graph_version IS NOT NULL
  RETURN n.ref AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Journal {shard: $shard})-[r:!HEAD]->() RETURN n.title AS ref, type(r) AS label
  UNION ALL
  MATCH (n:AccessClass {shard: $shard})-[r]->() USING INDEX n:AccessClass(shard) RETURN n.title AS ref, type(r) AS label
  UNION ALL
  MATCH (n:InteractionStream {shard: $shard})-[r]->() USING INDEX n:InteractionStream(shard) RETURN n.title AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Name {shard: $shard})-[r]->() USING INDEX n:Name(shard) RETURN n.name AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Receipt {shard: $shard})-[r]->() USING INDEX n:Receipt(shard) RETURN n.title AS ref, type(r) AS label
  UNION ALL
  MATCH (n:Usage {shard: $shard})-[r]->() USING INDEX n:Usage(shard) RETURN n.title AS ref, type(r) AS label
  UNION ALL
  MATCH (n:PacketManifest {shard: $shard})-[r]->() USING INDEX n:PacketManifest(shard) RETURN n.title AS ref, type(r) AS label
  UNION ALL
  MATCH (n:RetrievalOutcome {shard: $shard})-[r]->() USING INDEX n:RetrievalOutcome(shard) RETURN n.title AS ref, type(r) AS label
}
RETURN 'stray_relationship' AS kind,
       label,
       CASE WHEN ref IS :: STRING THEN ref END AS ref
ORDER BY label, ref
LIMIT $limit
