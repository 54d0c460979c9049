// List the contradictions that nobody resolved, oldest first, with both sides and what each rests on.
// Why: one is resolved when a side was archived, rejected or superseded, or the contradiction withdrawn.
// @title Unresolved conflicts, the oldest first
// @purpose Shows what cannot both be true, and for how long, so that somebody can settle it.
// @mode read
// @param shard STRING       tenant/workspace
// @param limit INTEGER      rows at most
// @rows many   since STRING, days_open INTEGER, edge_id STRING, one_id STRING, one STRING, one_confidence FLOAT, one_state STRING, one_evidence LIST<STRING>, other_id STRING, other STRING, other_confidence FLOAT, other_state STRING, other_evidence LIST<STRING>
// @sample {"shard": "default/main", "limit": 50}
CYPHER 25
// The planner may think a scan of the relationship type, over all shards, to be cheaper.
MATCH (edge:Edge {shard: $shard})
USING INDEX edge:Edge(shard, source_ref)
WHERE edge.source_ref IS NOT NULL
  AND edge.relation = 'rel:contradicts'
  AND edge.lifecycle_state = 'active'
MATCH (one:Atom {shard: $shard, id: edge.source_ref})
USING INDEX one:Atom(shard, id)
MATCH (one)-[:CONTRADICTS {edge_id: edge.edge_id}]->(other:Atom)
WHERE one.lifecycle_state = 'active'
  AND one.state_key <> 'superseded'
  AND other.lifecycle_state = 'active'
  AND other.state_key <> 'superseded'
RETURN toString(edge.created_at) AS since,
       duration.inDays(edge.created_at, datetime()).days AS days_open,
       edge.edge_id AS edge_id,
       one.id AS one_id,
       one.title AS one,
       one.confidence_score AS one_confidence,
       one.state_key AS one_state,
       COLLECT {
         MATCH (one)-[:EVIDENCED_BY]->(source:Evidence)
         RETURN source.evidence_id AS id
         ORDER BY id
         LIMIT 10
       } AS one_evidence,
       other.id AS other_id,
       other.title AS other,
       other.confidence_score AS other_confidence,
       other.state_key AS other_state,
       COLLECT {
         MATCH (other)-[:EVIDENCED_BY]->(source:Evidence)
         RETURN source.evidence_id AS id
         ORDER BY id
         LIMIT 10
       } AS other_evidence
ORDER BY since, edge_id
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
