// Read a page of records for verification: newest Version, and the node as it stands in the graph.
// Why: pages go by Version, the source of truth, so that a record whose node is gone is met too. A
// composite index serves only where each of its properties is restricted, hence version > 0.
// @mode read
// @param shard STRING
// @param after STRING      the last ref of the page before
// @param limit INTEGER
// @rows many   ref STRING, kind STRING, version INTEGER, versions INTEGER, body STRING?, event_id STRING?, nodes LIST<MAP>
// @sample {"shard": "t/w", "after": "", "limit": 10}
CYPHER 25
MATCH (v:Version {shard: $shard})
USING INDEX v:Version(shard, ref, version)
WHERE v.ref > $after AND v.version > 0
WITH DISTINCT v.ref AS ref
ORDER BY ref
LIMIT $limit
CALL (ref) {
  MATCH (v:Version {shard: $shard, ref: ref})
  USING INDEX v:Version(shard, ref, version)
  WHERE v.version > 0
  WITH v
  ORDER BY v.version DESC
  RETURN collect(v)[0] AS newest, count(v) AS versions
}
RETURN ref,
       newest.kind AS kind,
       newest.version AS version,
       versions,
       newest.body AS body,
       head(COLLECT { MATCH (e:Event)-[:WROTE]->(newest) RETURN e.event_id }) AS event_id,
       COLLECT {
         MATCH (newest)-[:OF]->(n)
         RETURN {
           labels: labels(n),
           properties: properties(n),
           evidence: COLLECT { MATCH (n)-[r:EVIDENCED_BY]->(x) RETURN [x.shard, x.evidence_id, properties(r)] },
           entities: COLLECT { MATCH (n)-[r:REFERS_TO]->(x) RETURN [x.shard, x.id, properties(r)] },
           names: COLLECT { MATCH (n)-[r:MENTIONS|NAMED]->(x) RETURN [type(r), x.shard, x.name, properties(r)] },
           merged: COLLECT { MATCH (n)-[r:MERGED_INTO]->(x) RETURN [x.shard, x.id, properties(r)] },
           parts: COLLECT { MATCH (n)-[r:SPLIT_INTO]->(x) RETURN [x.shard, x.id, properties(r)] },
           sources: COLLECT { MATCH (n)-[r:TOLD_FROM]->(x) RETURN [x.shard, coalesce(x.id, x.evidence_id), properties(r)] },
           outgoing: COLLECT {
             MATCH (n)-[r:!EVIDENCED_BY&!REFERS_TO&!MENTIONS&!NAMED&!TOLD_FROM]->(x)
             RETURN {type: type(r), properties: properties(r), target: x.id}
           },
           edges: COLLECT {
             MATCH (x:Edge {shard: $shard, source_ref: ref})
             WHERE x.lifecycle_state = 'active'
             RETURN {edge_id: x.edge_id, relation: x.relation, target: x.target_ref,
                     weight: x.weight, confidence: x.confidence_score, access_class: x.access_class}
           },
           superseded: EXISTS { (n)<-[:SUPERSEDES]-(:Atom) },
           score: head(COLLECT {
             MATCH (s:Score {shard: $shard, id: 'scr_' + ref})
             RETURN s {.of_version, .utility, .salience, .weight}
           })
         }
       } AS nodes
ORDER BY ref
