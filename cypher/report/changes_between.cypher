// List what was written after one version of the graph and up to another, in the order of the journal.
// @title What changed between two versions
// @purpose Shows who changed what since you last looked: note the graph version, come back, ask from there.
// @mode read
// @param shard STRING        tenant/workspace
// @param since INTEGER?      the version that you know; null for the beginning
// @param until INTEGER?      the last version that you ask for; null for now
// @param limit INTEGER       rows at most
// @rows many   graph_version INTEGER, accepted_at STRING, actor STRING, event_type STRING, kind STRING, ref STRING, version INTEGER, title STRING?
// @sample {"shard": "default/main", "since": 0, "until": 1000, "limit": 200}
CYPHER 25
MATCH (written:Version {shard: $shard})
WHERE written.graph_version > coalesce($since, 0)
  AND written.graph_version <= coalesce($until, 9007199254740991)
WITH written
ORDER BY written.graph_version, written.ref
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
MATCH (event:Event)-[:WROTE]->(written)
OPTIONAL MATCH (written)-[:OF]->(record)
RETURN written.graph_version AS graph_version,
       toString(event.accepted_at) AS accepted_at,
       event.actor AS actor,
       event.event_type AS event_type,
       written.kind AS kind,
       written.ref AS ref,
       written.version AS version,
       record.title AS title
ORDER BY graph_version, ref
