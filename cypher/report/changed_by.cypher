// List what one identity wrote, newest first: each event with the records that it changed, and by which right.
// @title What did this identity change
// @purpose Shows everything that one service or agent wrote, when it has to be looked into.
// @mode read
// @param shard STRING       tenant/workspace
// @param actor STRING       as events name it, such as svc:planner
// @param limit INTEGER      rows at most
// @rows many   graph_version INTEGER, accepted_at STRING, event_type STRING, records LIST<STRING>, titles LIST<STRING>, authorization JSON
// @sample {"shard": "default/demo", "actor": "svc:operator", "limit": 100}
CYPHER 25
MATCH (event:Event {shard: $shard})
WHERE event.graph_version > 0
  AND event.actor = $actor
WITH event
ORDER BY event.graph_version DESC
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
RETURN event.graph_version AS graph_version,
       toString(event.accepted_at) AS accepted_at,
       event.event_type AS event_type,
       COLLECT {
         MATCH (event)-[:WROTE]->(written:Version)
         RETURN written.ref + ' v' + toString(written.version) AS shown
         ORDER BY shown
         LIMIT 20
       } AS records,
       COLLECT {
         MATCH (event)-[:WROTE]->(:Version)-[:OF]->(record)
         WHERE record.title IS NOT NULL
         RETURN record.title AS shown
         ORDER BY shown
         LIMIT 20
       } AS titles,
       event.authorization_context AS authorization
ORDER BY graph_version DESC
