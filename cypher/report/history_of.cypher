// List every version of one record, oldest first: what it said, who wrote it, when, and by which event.
// @title The history of one record
// @purpose Shows how an atom, an edge, an entity or a piece of evidence came to be as it is.
// @mode read
// @param shard STRING       tenant/workspace
// @param ref STRING         the record's id
// @param limit INTEGER      rows at most
// @rows many   version INTEGER, graph_version INTEGER, event_type STRING, actor STRING, accepted_at STRING, event_id STRING, evidence_refs LIST<STRING>, body JSON?
// @sample {"shard": "default/demo", "ref": "story/preference/incidents-1", "limit": 50}
CYPHER 25
MATCH (written:Version {shard: $shard, ref: $ref})
WHERE written.version > 0
MATCH (event:Event)-[:WROTE]->(written)
RETURN written.version AS version,
       written.graph_version AS graph_version,
       event.event_type AS event_type,
       event.actor AS actor,
       toString(event.accepted_at) AS accepted_at,
       event.event_id AS event_id,
       event.evidence_refs AS evidence_refs,
       written.body AS body
ORDER BY version
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
