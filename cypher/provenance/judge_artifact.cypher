// Read what an artifact is told from as it stands now, and what has come up against it since.
// Why: a narrative ends with what it was told from: a changed source, a contradiction that it does not
// cite, and a newer record of what its agent can do, cannot do, or failed to do. Only what the caller may
// see is counted, so that an answer tells nothing of hidden records.
// @mode read
// @param shard STRING
// @param refs LIST<STRING>         atoms and evidence that it cites
// @param agent STRING              the entity that it is about
// @param told INTEGER              the graph version at which it was told
// @param classes LIST<STRING>      access classes that the caller may see
// @param changes LIST<STRING>      types of atoms about the agent of which a newer one counts
// @param failures LIST<STRING>     success statuses of outcomes that count
// @param limit INTEGER             refs of each list
// @rows one   sources LIST<MAP>, contradicted_by LIST<STRING>, since LIST<STRING>
// @sample {"shard": "t/w", "refs": ["a"], "agent": "ent:agent:a", "told": 1, "classes": ["c"], "changes": ["capability"], "failures": ["failed"], "limit": 10}
CYPHER 25
RETURN COLLECT {
         UNWIND $refs AS ref
         CALL (ref) {
           MATCH (n:Atom {shard: $shard, id: ref}) RETURN n
           UNION ALL
           MATCH (n:Evidence {shard: $shard, evidence_id: ref}) RETURN n
         }
         RETURN {ref: ref, version: n.version, access_class: n.access_class, state_key: n.state_key}
       } AS sources,
       COLLECT {
         UNWIND $refs AS ref
         MATCH (:Atom {shard: $shard, id: ref})-[link:CONTRADICTS]-(other:Atom)
         WHERE link.access_class IN $classes
           AND other.access_class IN $classes
           AND other.lifecycle_state = 'active'
           AND NOT other.id IN $refs
         RETURN DISTINCT other.id AS ref
         ORDER BY ref
         LIMIT $limit
       } AS contradicted_by,
       COLLECT {
         MATCH (:Entity {shard: $shard, id: $agent})-[:MERGED_INTO]->{0, 5}(:Entity)<-[:MERGED_INTO]-{0, 5}(same:Entity)
         WITH DISTINCT same
         MATCH (same)<-[:REFERS_TO {role: 'subject_agent'}]-(newer:Atom)
         WHERE (newer.type IN $changes OR newer.success_status IN $failures)
           AND newer.lifecycle_state = 'active'
           AND newer.access_class IN $classes
         MATCH (v:Version {shard: $shard, ref: newer.id, version: newer.version})
         WHERE v.graph_version > $told
         RETURN DISTINCT newer.id AS ref
         ORDER BY ref
         LIMIT $limit
       } AS since
