// Read a record's newest version at or before a version of the graph, with the event that wrote it.
// @mode read
// @param shard STRING
// @param ref STRING
// @param as_of INTEGER
// @rows maybe   version INTEGER, body STRING?, event_id STRING, actor STRING, graph_version INTEGER
// @sample {"shard": "t/w", "ref": "a", "as_of": 10}
CYPHER 25
MATCH (v:Version {shard: $shard, ref: $ref})
WHERE v.version > 0 AND v.graph_version <= $as_of
WITH v
ORDER BY v.version DESC
LIMIT 1
MATCH (e:Event)-[:WROTE]->(v)
RETURN v.version AS version,
       v.body AS body,
       e.event_id AS event_id,
       e.actor AS actor,
       v.graph_version AS graph_version
