// Read the newest body of each named record; ids that name nothing give no row.
// Why: an archived atom keeps its successor, which its own state key does not tell.
// @mode read
// @param shard STRING
// @param atom_ids LIST<STRING>
// @param edge_ids LIST<STRING>
// @param entity_ids LIST<STRING>
// @param relation_ids LIST<STRING>
// @param enum_ids LIST<STRING>
// @param evidence_ids LIST<STRING>
// @param client_ids LIST<STRING>
// @rows many   ref STRING, kind STRING, version INTEGER, superseded BOOLEAN, event_id STRING, body STRING?
// @sample {"shard": "t/w", "atom_ids": ["a"], "edge_ids": [], "entity_ids": [], "relation_ids": [], "enum_ids": [], "evidence_ids": [], "client_ids": []}
CYPHER 25
CALL () {
  UNWIND $atom_ids AS ref
  MATCH (n:Atom {shard: $shard, id: ref})
  RETURN ref, n
  UNION ALL
  UNWIND $edge_ids AS ref
  MATCH (n:Edge {shard: $shard, edge_id: ref})
  RETURN ref, n
  UNION ALL
  UNWIND $entity_ids AS ref
  MATCH (n:Entity {shard: $shard, id: ref})
  RETURN ref, n
  UNION ALL
  UNWIND $relation_ids AS ref
  MATCH (n:RelationType {shard: $shard, id: ref})
  RETURN ref, n
  UNION ALL
  UNWIND $enum_ids AS ref
  MATCH (n:EnumValue {shard: $shard, id: ref})
  RETURN ref, n
  UNION ALL
  UNWIND $evidence_ids AS ref
  MATCH (n:Evidence {shard: $shard, evidence_id: ref})
  RETURN ref, n
  UNION ALL
  UNWIND $client_ids AS ref
  MATCH (n:Client {shard: $shard, id: ref})
  RETURN ref, n
}
MATCH (v:Version {shard: $shard, ref: ref, version: n.version})
RETURN ref,
       v.kind AS kind,
       v.version AS version,
       EXISTS { (n)<-[:SUPERSEDES]-(:Atom) } AS superseded,
       n.last_write_event_id AS event_id,
       v.body AS body
