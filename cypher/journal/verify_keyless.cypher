// List the nodes of a shard that lack the key by which they would be found.
// Why: constraints of Neo4j Community cannot demand a property, and an index on a key leaves out who has
// none; the index on the shard alone has them, so this reads the shard and no other one.
// @mode read
// @param shard STRING
// @param limit INTEGER
// @rows many   kind STRING, label STRING, ref STRING?
// @sample {"shard": "t/w", "limit": 10}
CYPHER 25
CALL () {
  MATCH (n:Atom {shard: $shard}) USING INDEX n:Atom(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:Edge {shard: $shard}) USING INDEX n:Edge(shard) WHERE n.edge_id IS NULL RETURN n
  UNION ALL
  MATCH (n:Entity {shard: $shard}) USING INDEX n:Entity(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:RelationType {shard: $shard}) USING INDEX n:RelationType(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:EnumValue {shard: $shard}) USING INDEX n:EnumValue(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:Evidence {shard: $shard}) USING INDEX n:Evidence(shard) WHERE n.evidence_id IS NULL RETURN n
  UNION ALL
  MATCH (n:Client {shard: $shard}) USING INDEX n:Client(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:Artifact {shard: $shard}) USING INDEX n:Artifact(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:Refusal {shard: $shard}) USING INDEX n:Refusal(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:Event {shard: $shard}) USING INDEX n:Event(shard) WHERE n.graph_version IS NULL RETURN n
  UNION ALL
  MATCH (n:AccessClass {shard: $shard}) USING INDEX n:AccessClass(shard) WHERE n.access_class IS NULL RETURN n
  UNION ALL
  MATCH (n:InteractionStream {shard: $shard}) USING INDEX n:InteractionStream(shard) WHERE n.stream_id IS NULL RETURN n
  UNION ALL
  MATCH (n:Score {shard: $shard}) USING INDEX n:Score(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:Usage {shard: $shard}) USING INDEX n:Usage(shard) WHERE n.ref IS NULL RETURN n
  UNION ALL
  MATCH (n:PacketManifest {shard: $shard}) USING INDEX n:PacketManifest(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:RetrievalOutcome {shard: $shard}) USING INDEX n:RetrievalOutcome(shard) WHERE n.id IS NULL RETURN n
  UNION ALL
  MATCH (n:Name {shard: $shard}) USING INDEX n:Name(shard) WHERE n.name IS NULL RETURN n
  UNION ALL
  MATCH (n:Version {shard: $shard}) USING INDEX n:Version(shard) WHERE n.ref IS NULL OR n.version IS NULL RETURN n
}
RETURN CASE WHEN n:Version THEN 'stray_version' ELSE 'stray_node' END AS kind,
       labels(n)[0] AS label,
       CASE WHEN coalesce(n.ref, n.title) IS :: STRING THEN coalesce(n.ref, n.title) END AS ref
ORDER BY label, ref
LIMIT $limit
