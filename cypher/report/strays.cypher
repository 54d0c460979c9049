// List what no command made: records without a Version, Versions without an event, arrows without an edge.
// Why: a node without its key is led to by no index; it is `amos verify` that scans for those.
// @title Strays
// @purpose Finds what was written past the service, by somebody with the database's login.
// @mode read
// @param shard STRING       tenant/workspace
// @param limit INTEGER      rows at most
// @rows many   kind STRING, label STRING, ref STRING?, title STRING?
// @sample {"shard": "default/main", "limit": 100}
CYPHER 25
CALL () {
  CALL () {
    MATCH (record:Atom {shard: $shard} WHERE record.id IS NOT NULL)
    RETURN record, record.id AS ref
    UNION ALL
    MATCH (record:Edge {shard: $shard} WHERE record.edge_id IS NOT NULL)
    RETURN record, record.edge_id AS ref
    UNION ALL
    MATCH (record:Entity {shard: $shard} WHERE record.id IS NOT NULL)
    RETURN record, record.id AS ref
    UNION ALL
    MATCH (record:RelationType {shard: $shard} WHERE record.id IS NOT NULL)
    RETURN record, record.id AS ref
    UNION ALL
    MATCH (record:EnumValue {shard: $shard} WHERE record.id IS NOT NULL)
    RETURN record, record.id AS ref
    UNION ALL
    MATCH (record:Evidence {shard: $shard} WHERE record.evidence_id IS NOT NULL)
    RETURN record, record.evidence_id AS ref
    UNION ALL
    MATCH (record:Client {shard: $shard} WHERE record.id IS NOT NULL)
    RETURN record, record.id AS ref
    UNION ALL
    MATCH (record:Score {shard: $shard} WHERE record.id IS NOT NULL)
    RETURN record, record.id AS ref
    UNION ALL
    MATCH (record:Artifact {shard: $shard} WHERE record.id IS NOT NULL)
    RETURN record, record.id AS ref
    UNION ALL
    MATCH (record:Refusal {shard: $shard} WHERE record.id IS NOT NULL)
    RETURN record, record.id AS ref
  }
  WITH record, ref
  WHERE NOT EXISTS { (:Version)-[:OF]->(record) }
  RETURN 'stray_node' AS kind, labels(record)[0] AS label, ref, record.title AS title
  UNION ALL
  MATCH (written:Version {shard: $shard} WHERE written.graph_version > 0)
  WHERE NOT EXISTS { (:Event)-[:WROTE]->(written) }
  RETURN 'stray_version' AS kind, 'Version' AS label, written.ref AS ref, written.kind AS title
  UNION ALL
  MATCH (one:Atom {shard: $shard} WHERE one.id IS NOT NULL)-[link]->(other:Atom)
  WHERE NOT EXISTS { (:Edge {shard: $shard, edge_id: link.edge_id, lifecycle_state: 'active'}) }
  RETURN 'stray_arrow' AS kind, type(link) AS label, one.id AS ref, 'to ' + other.id AS title
}
RETURN kind, label, ref, title
ORDER BY kind, label, ref, title
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
