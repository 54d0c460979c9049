// Tell of a memory who first wrote it, when, how sure they were, on what, and what became of it in use.
// @title Why something is remembered
// @purpose Answers "why do you know that?" in one row: writer, evidence, confidence, use, and what it replaced.
// @mode read
// @param shard STRING       tenant/workspace
// @param ref STRING         the atom's id
// @param limit INTEGER      rows at most; there is one
// @rows many   claim STRING, remembered_at STRING, actor STRING, event_type STRING, graph_version INTEGER, versions INTEGER, confidence FLOAT, basis JSON?, evidence LIST<STRING>, replaced LIST<STRING>, seen INTEGER, used INTEGER, corrected INTEGER, state_now STRING
// @sample {"shard": "default/demo", "ref": "story/preference/incidents-2", "limit": 1}
CYPHER 25
MATCH (atom:Atom {shard: $shard, id: $ref})
MATCH (atom)<-[:OF]-(:Version {version: 1})<-[:WROTE]-(event:Event)
OPTIONAL MATCH (usage:Usage {shard: $shard, ref: $ref})
RETURN atom.title AS claim,
       toString(event.accepted_at) AS remembered_at,
       event.actor AS actor,
       event.event_type AS event_type,
       event.graph_version AS graph_version,
       atom.version AS versions,
       atom.confidence_score AS confidence,
       atom.confidence_basis AS basis,
       COLLECT {
         MATCH (atom)-[:EVIDENCED_BY]->(source:Evidence)
         RETURN source.evidence_id + ' (' + source.title + ')' AS shown
         ORDER BY shown
         LIMIT 10
       } AS evidence,
       COLLECT {
         MATCH (atom)-[:SUPERSEDES]->(before:Atom)
         RETURN before.id + ' (' + before.title + ')' AS shown
         ORDER BY shown
         LIMIT 10
       } AS replaced,
       coalesce(usage.access_count, 0) AS seen,
       coalesce(usage.use_count, 0) AS used,
       coalesce(usage.corrections_after_use, 0) AS corrected,
       atom.state_key AS state_now
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
