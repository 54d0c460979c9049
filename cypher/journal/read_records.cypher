// Read the newest body of each named record; ids that name nothing give no row.
// Why: an archived atom keeps its successor, which its own state key does not tell. And outcomes move
// numbers of the node without a new body.
// @mode read
// @param shard STRING
// @param refs MAP     kind of record → ids
// @rows many   ref STRING, kind STRING, version INTEGER, superseded BOOLEAN, event_id STRING, body STRING?, numbers MAP
// @sample {"shard": "t/w", "refs": {"atom": ["a"], "edge": [], "entity": [], "relation": [], "enum": [], "evidence": [], "client": [], "score": [], "artifact": [], "refusal": []}}
CYPHER 25
CALL () {
  UNWIND $refs.atom AS ref MATCH (n:Atom {shard: $shard, id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.edge AS ref MATCH (n:Edge {shard: $shard, edge_id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.entity AS ref MATCH (n:Entity {shard: $shard, id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.relation AS ref MATCH (n:RelationType {shard: $shard, id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.enum AS ref MATCH (n:EnumValue {shard: $shard, id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.evidence AS ref MATCH (n:Evidence {shard: $shard, evidence_id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.client AS ref MATCH (n:Client {shard: $shard, id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.score AS ref MATCH (n:Score {shard: $shard, id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.artifact AS ref MATCH (n:Artifact {shard: $shard, id: ref}) RETURN ref, n
  UNION ALL
  UNWIND $refs.refusal AS ref MATCH (n:Refusal {shard: $shard, id: ref}) RETURN ref, n
}
MATCH (v:Version {shard: $shard, ref: ref, version: n.version})
RETURN ref,
       v.kind AS kind,
       v.version AS version,
       EXISTS { (n)<-[:SUPERSEDES]-(:Atom) } AS superseded,
       n.last_write_event_id AS event_id,
       v.body AS body,
       n {.utility, .salience, .weight} AS numbers
